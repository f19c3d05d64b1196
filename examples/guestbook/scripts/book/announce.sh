#!/bin/sh
# Who writes should know that others read it.
set -eu
echo "What you write here is shown to everybody." >"$GUESTBOOK_DIR/book/entries"
echo "book announce" >>"$GUESTBOOK_DIR/happened"
