# Does what the test wants of it.
. "$(dirname "$0")/lib.sh"
say begins
case $(cat "$PLACE/wanted" 2>/dev/null) in
    hang) sleep 600 & sleep 600 ;;
    child) sleep 600 & ;;
    flood) (trap '' PIPE; exec yes) & ;;
    255) exit 255 ;;
esac
say ends
