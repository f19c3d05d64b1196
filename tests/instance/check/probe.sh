#!/bin/sh
# Gets the node as JSON, answers its attributes.
grep -q "\"name\":\"mail\"" || exit 2
[ ! -e "$PLACE/$CUVEE_NODE.stopped" ] || exit 1
echo "{\"users\": 3}"
