import json, os

port = {"orders": 5432, "stock": 5433}[os.environ["CUVEE_NODE"]]
with open(os.environ["CUVEE_OUTPUTS"], "w") as outputs:
    json.dump({"PORT": port, "address": "10.0.0.7", "replicas": ["a", "b"]}, outputs)
