echo "v=$v u=$u lit=$lit"
cat "$CUVEE_INPUTS"
echo a=6.60 > "$CUVEE_OUTPUTS"
