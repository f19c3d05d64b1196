#!/usr/bin/env python3
"""Checks with other programs that `cuvee variants --count` counts right, and how long each takes: count.py CUVEE TEMPLATE [FLAG ...]

Exports the template as DIMACS. Ganak (`pip install pyganak`) counts the models, projected to the variables that `c p show` names, and where
there are thousands of them at most, a solver of python-sat (`pip install python-sat`) lists them, each excluded by a clause over those
variables. Either package may be missing. `count.py target/release/cuvee examples/shop` finds 459.
The time of cuvee is that of the whole command, that of the others is counting alone. Ends with 1 where counts differ, and with 2 where nothing
was compared.
"""

import json
import subprocess
import sys
import time

# Every model that is listed costs a call of the solver.
LISTED = 10_000


def clauses(text):
    """The clauses of DIMACS, how many variables there are, and those that count."""
    found, shown, count = [], [], 0
    for line in text.splitlines():
        if line.startswith("p cnf "):
            count = int(line.split()[2])
        elif line.startswith("c p show "):
            shown += [int(word) for word in line.split()[3:] if word != "0"]
        elif line and not line.startswith("c"):
            found.append([int(word) for word in line.split()[:-1]])
    return found, count, shown


def by_ganak(found, count, shown):
    import pyganak

    counter = pyganak.Counter()
    counter.new_vars(count)
    counter.add_clauses(found)
    counter.set_sampling_set(shown)
    return counter.count()


def by_listing(found, count, shown):
    from pysat.solvers import Solver

    shown = set(shown)
    with Solver(name="cadical153", bootstrap_with=found) as solver:
        # Variables of no clause have both values.
        solver.add_clause([count, -count])
        models = 0
        while solver.solve():
            models += 1
            values = {abs(literal): literal for literal in solver.get_model()}
            solver.add_clause([-values.get(variable, variable) for variable in shown])
        return models


def timed(ask):
    start = time.perf_counter()
    return ask(), time.perf_counter() - start


def main(cuvee, *selection):
    run = lambda *words: subprocess.run([cuvee, "-q", *words], check=True, capture_output=True, text=True).stdout
    problem = clauses(run("export", *selection, "--format", "dimacs"))
    answer, taken = timed(lambda: run("variants", *selection, "--count", "--format", "json"))
    count = json.loads(answer)
    print(f"{' '.join(selection)}: {'' if count['exact'] else 'at least '}{count['count']} variants in {taken:.2f} s")
    others = [("Ganak", by_ganak)]
    if count["exact"] and int(count["count"]) <= LISTED:
        others.append(("listing", by_listing))
    compared = wrong = False
    for name, ask in others:
        try:
            models, taken = timed(lambda: ask(*problem))
        except ImportError as missing:
            print(f"{name}: {missing}")
            continue
        print(f"{name}: {models} models in {taken:.2f} s")
        compared = True
        wrong |= models != int(count["count"]) if count["exact"] else models < int(count["count"])
    return int(wrong) if compared else 2


if __name__ == "__main__":
    sys.set_int_max_str_digits(0)
    sys.exit(main(*sys.argv[1:]))
