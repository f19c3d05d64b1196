. "$(dirname "$0")/lib.sh"
say "$SOURCE -> $TARGET${port:+ $port}"
