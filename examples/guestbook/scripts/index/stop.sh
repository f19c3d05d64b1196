#!/bin/sh
set -eu
rm -f "$GUESTBOOK_DIR/index/words"
echo "index stop" >>"$GUESTBOOK_DIR/happened"
