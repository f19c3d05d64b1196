#!/bin/sh
# Fails while a file says so.
[ ! -e "$PLACE/broken-$CUVEE_NODE" ]
