# Completion of sluice for fish. To have it in every shell:
#
#   sluice completion fish > ~/.config/fish/completions/sluice.fish
function __sluice_complete
    set -l words (commandline -opc)
    set -l program $words[1]
    set -e words[1]
    set -l word (commandline -ct | string collect --allow-empty)
    for line in ($program completion words -- $words "$word" 2>/dev/null)
        if test "$line" = :files
            set -l typed (string replace -r -- '^--[^=]*=' '' "$word")
            set -l flag (string sub -l (math (string length -- "$word") - (string length -- "$typed")) -- "$word")
            for path in (__fish_complete_path "$typed")
                echo $flag$path
            end
        else
            echo $line
        end
    end
end
complete -c sluice -f -a '(__sluice_complete)'
