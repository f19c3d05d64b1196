echo blue
