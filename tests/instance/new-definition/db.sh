#!/bin/sh
echo "address=at-$CUVEE_NODE" > "$CUVEE_OUTPUTS"
