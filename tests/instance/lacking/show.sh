echo "$dsn"
