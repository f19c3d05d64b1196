echo $CUVEE_NODE: $all $fixed $own
