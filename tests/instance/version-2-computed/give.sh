echo "db_password=abcdefg" >> "$CUVEE_OUTPUTS"
