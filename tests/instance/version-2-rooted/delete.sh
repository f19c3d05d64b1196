echo "of nobody"
