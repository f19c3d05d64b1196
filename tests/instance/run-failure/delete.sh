echo "$CUVEE_NODE is gone"
