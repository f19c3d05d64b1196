#!/bin/sh
# Needs the book, with its entries.
set -eu
{ echo "<pre>"; cat "$GUESTBOOK_DIR/book/entries"; echo "</pre>"; } >"$GUESTBOOK_DIR/site/page.html"
echo "site configure" >>"$GUESTBOOK_DIR/happened"
