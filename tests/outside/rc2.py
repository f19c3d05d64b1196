#!/usr/bin/env python3
"""Checks with another solver that the variant found best is optimal, and compares the time: rc2.py CUVEE TEMPLATE...

For templates that minimise the weight of their topology. Exports each as WCNF, with its inputs open, has RC2 of python-sat (stratified, adaptive,
with core exhaustion and minimisation, on Glucose 3) solve it as it is and with the nodes fixed to those of `cuvee variants --minimize weight`, and
compares the optima. Of the times the best of some runs counts: RC2's is that of loading and solving alone, ours that of the whole process that
resolves the template.
"""

import json
import subprocess
import sys
import time

from pysat.examples.rc2 import RC2Stratified
from pysat.formula import WCNF

RUNS = 5


def optimum(text, fixed):
    wcnf = WCNF(from_string=text)
    wcnf.extend([[literal] for literal in fixed])
    start = time.perf_counter()
    with RC2Stratified(wcnf, solver="g3", adapt=True, exhaust=True, minz=True) as solver:
        assert solver.compute() is not None, "nothing satisfies the clauses"
        return solver.cost, time.perf_counter() - start


def compare(cuvee, template):
    run = lambda *words: subprocess.run([cuvee, "-q", *words], check=True, capture_output=True, text=True).stdout
    text = run("export", template, "--format", "wcnf")
    best = json.loads(run("variants", template, "--minimize", "weight", "--projection", "nodes", "--format", "json"))
    present = {name[len("node."):] for name in best["variants"][0]["present"]}
    names = (line.split(" ", 2) for line in text.splitlines() if line.startswith("c "))
    nodes = [(int(var), name[len("node."):]) for _, var, name in names if name.startswith("node.")]
    ours, _ = optimum(text, [var if name in present else -var for var, name in nodes])
    theirs, resolving = [], []
    while len(theirs) < RUNS and sum(theirs) < 10:
        free, taken = optimum(text, [])
        theirs.append(taken)
        start = time.perf_counter()
        run("resolve", template)
        resolving.append(time.perf_counter() - start)
    figures = f"resolved in {min(resolving) * 1e3:.1f} ms, RC2 {min(theirs) * 1e3:.1f} ms"
    print(f"{template}: {len(nodes)} nodes, {len(present)} present, costs {ours}, optimum {free}; {figures}", flush=True)
    return free != ours


if __name__ == "__main__":
    sys.exit(sum(compare(sys.argv[1], template) for template in sys.argv[2:]))
