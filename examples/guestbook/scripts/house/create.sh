#!/bin/sh
# Makes the directory in which everything lies, and begins to write down what happened.
set -eu
mkdir -p "$GUESTBOOK_DIR"
echo "house create" >>"$GUESTBOOK_DIR/happened"
