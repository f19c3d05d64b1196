import json
import os

told = json.load(open(os.environ["CUVEE_INPUTS"]))
same = json.loads(os.environ["words"]) == told["words"] == ["it's", "$HOME `id`", "two\nlines"]
with open(os.environ["PLACE"] + "/said", "a") as said:
    print(os.environ["WHERE"], os.environ["CUVEE_STEP"], told["port"] + 1, len(told["token"]), same, file=said)
with open(os.environ["CUVEE_OUTPUTS"], "w") as outputs:
    print(f"url=http://shop:{told['port']}", file=outputs)
