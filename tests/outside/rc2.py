#!/usr/bin/env python3
"""Checks with another solver that the variant found best is optimal: rc2.py CUVEE TEMPLATE

For templates that minimise the weight of their topology. Exports the template as WCNF, with its inputs open, has RC2 of python-sat solve it as it
is and with the nodes fixed to those of `cuvee variants --minimize weight`, and compares the optima.
"""

import json
import subprocess
import sys

from pysat.examples.rc2 import RC2Stratified
from pysat.formula import WCNF


def optimum(text, fixed):
    wcnf = WCNF(from_string=text)
    wcnf.extend([[literal] for literal in fixed])
    with RC2Stratified(wcnf, adapt=True, exhaust=True, minz=True) as solver:
        assert solver.compute() is not None, "nothing satisfies the clauses"
        return solver.cost


def main(cuvee, template):
    run = lambda *words: subprocess.run([cuvee, "-q", *words], check=True, capture_output=True, text=True).stdout
    text = run("export", template, "--format", "wcnf")
    best = json.loads(run("variants", template, "--minimize", "weight", "--projection", "nodes", "--format", "json"))
    present = {name[len("node."):] for name in best["variants"][0]["present"]}
    names = (line.split(" ", 2) for line in text.splitlines() if line.startswith("c "))
    nodes = [(int(var), name[len("node."):]) for _, var, name in names if name.startswith("node.")]
    free, ours = optimum(text, []), optimum(text, [var if name in present else -var for var, name in nodes])
    print(f"{template}: {len(nodes)} nodes, {len(present)} present, costs {ours}, optimum {free}")
    return free != ours


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
