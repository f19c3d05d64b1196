echo "$port $names $pool $cpus $sum"
