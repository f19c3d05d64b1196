import json, os
given = os.environ["given"]
print(json.dumps({"given": given}))
with open(os.environ["CUVEE_OUTPUTS"], "w") as file:
    json.dump({given: 1}, file)
