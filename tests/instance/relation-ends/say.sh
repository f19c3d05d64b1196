#!/bin/sh
test "$FAIL" = "${CUVEE_STEP##*/}" && exit 1
echo "$SOURCE_NODE -> $TARGET_NODE of $TARGETS: $called at $address"
echo seen=$called > "$CUVEE_OUTPUTS"
