echo "$CUVEE_NODE: $says"
cd "$OLDPWD" 2>/dev/null || true
[ ! -e "$PLACE/break-$CUVEE_NODE" ] || { echo "cannot make $CUVEE_NODE" >&2; exit 3; }
