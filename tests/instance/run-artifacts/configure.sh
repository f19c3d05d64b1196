echo "from $mirror at $port"
