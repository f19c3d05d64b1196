[ ! -e "$PLACE/hang-$CUVEE_NODE" ] || sleep 60
