#!/bin/sh
echo "connected"
