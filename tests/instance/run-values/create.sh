echo "make $name with $(cat "$schema")"
echo "STAMP=made-$name" >>"$CUVEE_OUTPUTS"
echo "shoe_size=42" >>"$CUVEE_OUTPUTS"
