echo "$CUVEE_NODE: $name, $mode, from $mirror, $retries times, token $token"
[ "${token:-}" = "" ] || [ "$token" = hush ] && echo port=80 >>"$CUVEE_OUTPUTS"
python3 -c 'import json, os; print(json.load(open(os.environ["CUVEE_INPUTS"]))["retries"])'
