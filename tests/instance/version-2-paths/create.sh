if [ "$CUVEE_NODE" = one ]; then echo port=5432; else echo port=5433; fi >>"$CUVEE_OUTPUTS"
