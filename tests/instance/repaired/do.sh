test ! -e "$PLACE/fail"
