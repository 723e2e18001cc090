# Completion of sluice for bash. To have it in every shell:
#
#   sluice completion bash > ~/.local/share/bash-completion/completions/sluice
_sluice() {
    local word=${COMP_WORDS[COMP_CWORD]} candidate line files=
    [[ $word == "=" ]] && word=
    COMPREPLY=()
    while IFS= read -r line; do
        candidate=${line%%$'\t'*}
        if [[ $candidate == ":files" ]]; then
            files=1
        else
            COMPREPLY+=("$candidate")
        fi
    done < <("${COMP_WORDS[0]/#\~/$HOME}" completion words -- "${COMP_WORDS[@]:1:COMP_CWORD-1}" "$word" 2>/dev/null)
    if [[ -n $files ]]; then
        compopt -o filenames 2>/dev/null
        while IFS= read -r line; do
            COMPREPLY+=("$line")
        done < <(compgen -f -- "$word")
    fi
}
complete -F _sluice sluice
