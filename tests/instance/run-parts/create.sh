printf 'size=7\nitem=8\nat=80\nseen=9\n' >> "$CUVEE_OUTPUTS"
