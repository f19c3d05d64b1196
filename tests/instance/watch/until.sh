#!/bin/sh
# Waits until what the watcher said has a line, and shows what is new.
for try in $(seq 300); do
    if tail -n "+$(($(cat seen) + 1))" said | grep -q "$1"; then
        tail -n "+$(($(cat seen) + 1))" said | sed -n "1,/$1/p" | tee new
        echo "$(($(cat seen) + $(wc -l <new)))" >seen
        exit
    fi
    sleep 0.1
done
echo "nothing came"; cat said
