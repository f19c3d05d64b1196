echo "the token is $access_token"
echo "$access_token" | rev
