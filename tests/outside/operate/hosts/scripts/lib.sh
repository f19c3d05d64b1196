# What a step does is written down where it was done.
say() { echo "$WHERE $CUVEE_STEP $*" >>"$PLACE/said"; }
