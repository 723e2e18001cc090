#compdef sluice
# Completion of sluice for zsh. To have it in every shell, write it into a directory
# of $fpath:
#
#   sluice completion zsh > ~/.zfunc/_sluice
_sluice() {
    local line files=
    local -a described
    for line in "${(@f)$("${(Q)words[1]/#\~/$HOME}" completion words -- "${(@Q)words[2,CURRENT]}" 2>/dev/null)}"; do
        case $line in
            :files) files=1 ;;
            ?*) described+=("${${line%%$'\t'*}//:/\\:}:${line#*$'\t'}") ;;
        esac
    done
    (( $#described )) && _describe 'sluice' described
    if [[ -n $files ]]; then
        compset -P '--[^=]#='
        _files
    fi
}
if [[ "$funcstack[1]" == _sluice ]]; then
    _sluice "$@"
else
    compdef _sluice sluice
fi
