echo "of the archive"
