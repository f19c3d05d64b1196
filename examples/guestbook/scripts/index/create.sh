#!/bin/sh
set -eu
mkdir "$GUESTBOOK_DIR/index"
echo "index create" >>"$GUESTBOOK_DIR/happened"
