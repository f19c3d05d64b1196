#!/bin/sh
# Needs the book, with its entries.
set -eu
tr -cs '[:alpha:]' '\n' <"$GUESTBOOK_DIR/book/entries" | sort -u >"$GUESTBOOK_DIR/index/words"
echo "index start" >>"$GUESTBOOK_DIR/happened"
