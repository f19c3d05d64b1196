. "$(dirname "$0")/lib.sh"
say deleted
