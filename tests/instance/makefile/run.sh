#!/bin/sh
# Fails while a file says so.
echo "$1 $2 $3"
[ ! -e "broken-$2" ]
