echo "more=$more newer=$newer sum=$sum"
