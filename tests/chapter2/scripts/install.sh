#!/bin/sh
echo "installed"
