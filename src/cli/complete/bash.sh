# Completes the command lines of cuvee in bash.
_cuvee() {
    local before="${COMP_LINE:0:COMP_POINT}" after="${COMP_LINE:COMP_POINT}" typed cut= word meaning
    typed="${before##*[[:space:]]}"
    # Where bash takes `=` and `:` for the ends of words, it replaces what is behind the last of them.
    [[ $COMP_WORDBREAKS == *=* && $typed == *=* ]] && cut="${typed%=*}="
    [[ $COMP_WORDBREAKS == *:* && $typed == *:* ]] && ((${#cut} < ${#typed} - 1)) && [[ ${typed#"$cut"} == *:* ]] && cut="${typed%:*}:"
    COMPREPLY=()
    while IFS= read -r word; do
        meaning="${word#*$'\t'}" word="${word%%$'\t'*}"
        if [[ -z $word ]]; then
            compopt -o filenames 2>/dev/null
            case $meaning in
                files) mapfile -t -O "${#COMPREPLY[@]}" COMPREPLY < <(compgen -f -- "${typed#"$cut"}") ;;
                directories) mapfile -t -O "${#COMPREPLY[@]}" COMPREPLY < <(compgen -d -- "${typed#"$cut"}") ;;
            esac
            continue
        fi
        [[ $word == *[=] ]] && compopt -o nospace 2>/dev/null
        word="${word#"$cut"}"
        # In quotes it stays as it is.
        if [[ $typed != *[\'\"]* && $word == *[^[:alnum:]_.,:=@%+/-]* ]]; then
            printf -v word %q "$word"
        fi
        COMPREPLY+=("$word")
    done < <("$1" complete -- "$before" "$after" 2>/dev/null)
}
complete -F _cuvee cuvee
