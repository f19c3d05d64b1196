#!/bin/sh
set -eu
mkdir "$GUESTBOOK_DIR/book"
echo "book create" >>"$GUESTBOOK_DIR/happened"
