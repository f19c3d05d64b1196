#!/bin/sh
test "$FAIL" = "${CUVEE_STEP##*/}" && exit 1
echo "${CUVEE_STEP##*/} $TARGET_NODE"
