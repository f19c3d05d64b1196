printf "$GIVE" >"$CUVEE_OUTPUTS"
