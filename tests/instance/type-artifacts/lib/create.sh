#!/bin/sh
cat "$data"; ls
