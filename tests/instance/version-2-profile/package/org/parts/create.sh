echo "of the profile"
