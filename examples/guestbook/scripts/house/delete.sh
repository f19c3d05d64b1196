#!/bin/sh
# What happened stays.
set -eu
echo "house delete" >>"$GUESTBOOK_DIR/happened"
