#!/bin/sh
set -eu
rm -r "$GUESTBOOK_DIR/site"
echo "site delete" >>"$GUESTBOOK_DIR/happened"
