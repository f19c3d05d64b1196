#compdef cuvee
# Completes the command lines of cuvee in zsh.
_cuvee() {
    local line word meaning paths=
    local -a before after finished finished_shown open open_shown
    before=("${(@Q)words[1,CURRENT-1]}")
    ((CURRENT < $#words)) && after=("${(@Q)words[CURRENT+1,-1]}")
    for line in "${(@f)$("${before[1]}" complete --index $((CURRENT - 1)) -- "${before[@]}" "${(Q)PREFIX}" "${after[@]}" 2>/dev/null)}"; do
        word="${line%%$'\t'*}" meaning="${line#*$'\t'}"
        if [[ -z $word ]]; then
            paths="$meaning"
        elif [[ $word == *= ]]; then
            open+=("$word") open_shown+=("$word  $meaning")
        else
            finished+=("$word") finished_shown+=("$word  $meaning")
        fi
    done
    (($#finished)) && compadd -l -d finished_shown -a finished
    (($#open)) && compadd -S '' -l -d open_shown -a open
    [[ -n $paths ]] && compset -P '--*='
    case $paths in
        files) _files ;;
        directories) _files -/ ;;
    esac
}
# As a file among other completions it is the function; where it is sourced it says whom it completes.
if [[ ${funcstack[1]-} == _cuvee ]]; then _cuvee "$@"; else compdef _cuvee cuvee; fi
