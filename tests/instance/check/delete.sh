#!/bin/sh
rm -f "$PLACE/$file"
