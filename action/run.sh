#!/usr/bin/env bash
# Validates templates, once for people and once as SARIF, and runs tests. All of it is done before
# the step fails.
set -euo pipefail
shopt -s globstar 2>/dev/null || true # the bash of macOS has none

# The files that match patterns, into `files`; a pattern that matches none stays, and is reported.
match() {
    local patterns pattern
    read -r -d '' -a patterns <<<"$1" || true
    # Patterns are expanded, but names with blanks stay whole.
    local IFS=''
    files=()
    for pattern in ${patterns[@]+"${patterns[@]}"}; do
        # shellcheck disable=SC2206
        files+=($pattern)
    done
}

status=0
worse() {
    [ "$1" -le "$status" ] || status=$1
}

read -r -d '' -a arguments <<<"${ACTION_ARGUMENTS:-}" || true
validate() {
    cuvee validate ${arguments[@]+"${arguments[@]}"} "$@" -- "${files[@]}"
}

match "${ACTION_VALIDATE:-}"
if [ "${#files[@]}" -gt 0 ]; then
    validated=0
    validate || validated=$?
    # What was wrong use is no finding.
    if [ "$validated" -le 1 ]; then
        validate --format sarif >"$ACTION_SARIF" || true
        echo "sarif=$ACTION_SARIF" >>"$GITHUB_OUTPUT"
    fi
    worse "$validated"
fi

match "${ACTION_TEST:-}"
if [ "${#files[@]}" -gt 0 ]; then
    tested=0
    cuvee test "${files[@]}" || tested=$?
    worse "$tested"
fi
exit "$status"
