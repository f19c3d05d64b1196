echo "the password is $admin_password, and the login is $login"
echo "the realm opens by $realm_password, and the door by $door_password"
echo "access_token=token-$(echo "$admin_password" | rev)" >>"$CUVEE_OUTPUTS"
