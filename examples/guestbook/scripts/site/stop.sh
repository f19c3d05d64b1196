#!/bin/sh
set -eu
rm -f "$GUESTBOOK_DIR/site/index.html"
echo "site stop" >>"$GUESTBOOK_DIR/happened"
