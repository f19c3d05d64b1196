# Completes the command lines of cuvee in fish.
function __cuvee_complete
    set -l before (commandline --current-process --tokenize --cut-at-cursor)
    set -l current (commandline --current-token --cut-at-cursor)
    set -l all (commandline --current-process --tokenize)
    set -l first (math (count $before) + 1)
    test -n (commandline --current-token | string collect --allow-empty); and set first (math $first + 1)
    set -l after
    test $first -le (count $all); and set after $all[$first..-1]
    # Quotes that are open or that fish will write are not part of the word.
    set -l typed (string replace --regex --all '["\']' '' -- "$current")
    # An empty list would take away whatever stands beside it.
    set -l prefix (string match --regex -- '^--[^=]*=' "$typed"; or echo)
    for line in ($before[1] complete --index (count $before) -- $before "$typed" $after 2>/dev/null)
        switch $line
            case \tfiles
                printf '%s\n' $prefix(__fish_complete_path (string replace -- "$prefix" '' "$typed"))
            case \tdirectories
                printf '%s\n' $prefix(__fish_complete_directories (string replace -- "$prefix" '' "$typed"))
            case '*'
                echo $line
        end
    end
end
complete --command cuvee --no-files --arguments '(__cuvee_complete)'
