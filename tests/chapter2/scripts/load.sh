#!/bin/sh
cat "$content"
