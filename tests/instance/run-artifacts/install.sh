echo "$CUVEE_NODE: $name, $mode, from $mirror, $retries times, token $token"
[ "${token:-}" = "" ] || [ "$token" = hush ] && echo port=80 >>"$CUVEE_OUTPUTS"
grep -o '"retries":[0-9]*' "$CUVEE_INPUTS"
