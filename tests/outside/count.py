#!/usr/bin/env python3
"""Checks with another solver that `cuvee variants --count` counts right: count.py CUVEE TEMPLATE [FLAG ...]

Exports the template as DIMACS, has a solver of python-sat (`pip install python-sat`) list the models, each excluded by a clause over the
variables that `c p show` names, and compares how many there are. `count.py target/release/cuvee examples/shop` finds 459.
Every model costs a call of the solver, so this is for templates with thousands of variants, not millions.
"""

import json
import subprocess
import sys

from pysat.formula import CNF
from pysat.solvers import Solver


def projected_models(text):
    shown = next(line for line in text.splitlines() if line.startswith("c p show "))
    shown = {int(word) for word in shown.split()[3:] if word != "0"}
    with Solver(name="cadical153", bootstrap_with=CNF(from_string=text)) as solver:
        count = 0
        while solver.solve():
            count += 1
            model = (literal for literal in solver.get_model() if abs(literal) in shown)
            solver.add_clause([-literal for literal in model])
        return count


def main(cuvee, *selection):
    run = lambda *words: subprocess.run([cuvee, "-q", *words], check=True, capture_output=True, text=True).stdout
    models = projected_models(run("export", *selection, "--format", "dimacs"))
    count = json.loads(run("variants", *selection, "--count", "--format", "json"))
    print(f"{' '.join(selection)}: {models} models, {'' if count['exact'] else 'at least '}{count['count']} variants")
    return not count["exact"] or str(models) != count["count"]


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
