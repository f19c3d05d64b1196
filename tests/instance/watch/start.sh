#!/bin/sh
# Begins to watch, and tells at the end how that ended.
PLACE=$PWD cuvee instance run shop template.yaml --watch load.yaml --watch region.yaml --yes -j 1 >said 2>&1 &
echo $! >process
wait $!
echo "ended with $?" >>said
