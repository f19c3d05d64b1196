#!/bin/sh
# The file holds the port of what runs.
[ -e "$PLACE/$file" ] || exit 1
read -r port <"$PLACE/$file"
[ "$port" != broken ] || { echo "nobody knows"; exit 7; }
echo "port=$port" >>"$CUVEE_OUTPUTS"
