#!/bin/sh
echo 5432 >"$PLACE/$file"
echo "port=5432" >>"$CUVEE_OUTPUTS"
