#!/bin/sh
set -eu
rmdir "$GUESTBOOK_DIR/index"
echo "index delete" >>"$GUESTBOOK_DIR/happened"
