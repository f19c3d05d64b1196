#!/bin/sh
echo "$mode: $name at $address, port $port, $current"
