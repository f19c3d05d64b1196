echo free=7 > "$CUVEE_OUTPUTS"
