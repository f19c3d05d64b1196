#!/bin/sh
set -eu
mkdir "$GUESTBOOK_DIR/site"
echo "site create" >>"$GUESTBOOK_DIR/happened"
