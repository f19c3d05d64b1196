echo "p=$p limit=$limit"
cat "$CUVEE_INPUTS"
