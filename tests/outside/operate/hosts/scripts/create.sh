. "$(dirname "$0")/lib.sh"
say "$(cat "$schema") ${#password} letters, inputs $(stat -c %a "$CUVEE_INPUTS")"
echo "the password is $password"
printf '{"port": 5432, "token": "%s"}' "$(printf %s "$password" | rev)" >"$CUVEE_OUTPUTS"
