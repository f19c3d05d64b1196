test -n "$READY"
