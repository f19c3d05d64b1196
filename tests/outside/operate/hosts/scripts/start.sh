. "$(dirname "$0")/lib.sh"
say "starts, knows $(env | grep -c -f "$PLACE/secret") secrets, is below $(pwd | sed "s|$TMPDIR/||; s|/.*||" | cut -c 1-4)"
