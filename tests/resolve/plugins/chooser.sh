# Knows a technology for shops on machines, and none for anything else.
request=$(cat)
echo "$request" >>asked
case $request in
*'"node":{"name":"shop"'*)
    echo '{"technologies": [{"technology": "helm", "hosting": "tosca.nodes.Compute", "weight": 0.9,
        "conditions": {"not": {"variability_input": "cheap"}}}]}' ;;
*)
    echo '{"technologies": []}' ;;
esac
