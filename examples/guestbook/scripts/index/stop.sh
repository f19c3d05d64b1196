#!/bin/sh
set -eu
rm "$GUESTBOOK_DIR/index/words"
echo "index stop" >>"$GUESTBOOK_DIR/happened"
