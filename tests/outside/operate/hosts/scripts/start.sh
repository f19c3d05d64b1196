. "$(dirname "$0")/lib.sh"
say "starts, knows $(env | grep -c -e "$(cat "$PLACE/secret")" -e "$(rev "$PLACE/secret")") secrets, is below $(pwd | sed "s|$TMPDIR/||; s|/.*||" | cut -c 1-4)"
