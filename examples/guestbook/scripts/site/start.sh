#!/bin/sh
set -eu
ln -s page.html "$GUESTBOOK_DIR/site/index.html"
echo "site start" >>"$GUESTBOOK_DIR/happened"
