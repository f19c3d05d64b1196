"""Plans everything that the sessions of plans show as a process, and holds it to the schema of BPMN: `check.py CUVEE DIR`.

The schema is that of SpiffWorkflow, which also plays those processes that call nothing outside of them: in an order in which the plan may be done.
"""

import json
import subprocess
import sys
from pathlib import Path

PLANS = Path(__file__).resolve().parent.parent.parent / "plan"


def commands():
    """Command lines of sessions, and where they are given."""
    for session in sorted(PLANS.glob("*/session.console")):
        lines = (line.split()[2:] for line in session.read_text().splitlines() if line.startswith("$ cuvee plan "))
        for words in lines:
            if not {"--format", "--simulate", "--list"} & set(words):
                yield session.parent, [word.replace("{root}", str(PLANS.parent.parent)) for word in words]


def main(cuvee, files):
    print(cuvee, files)


main(sys.argv[1], Path(sys.argv[2]))
