#!/bin/sh
echo "tuned"
