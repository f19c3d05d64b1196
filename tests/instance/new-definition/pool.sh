#!/bin/sh
cat "$CUVEE_INPUTS"
