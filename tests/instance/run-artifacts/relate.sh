echo "$SOURCE reads $of, $retries times"
