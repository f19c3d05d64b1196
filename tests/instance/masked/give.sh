echo "the token is tok-1234567"
echo api_token=tok-1234567 > "$CUVEE_OUTPUTS"
