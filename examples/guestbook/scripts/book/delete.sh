#!/bin/sh
set -eu
rm -r "$GUESTBOOK_DIR/book"
echo "book delete" >>"$GUESTBOOK_DIR/happened"
