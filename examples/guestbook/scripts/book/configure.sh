#!/bin/sh
# The first entry is there, so that no guest has to begin.
set -eu
echo "Lovely tea. Rain. We shall come again." >>"$GUESTBOOK_DIR/book/entries"
echo "book configure" >>"$GUESTBOOK_DIR/happened"
