#!/bin/sh
set -eu
ln -sf page.html "$GUESTBOOK_DIR/site/index.html"
echo "site start" >>"$GUESTBOOK_DIR/happened"
