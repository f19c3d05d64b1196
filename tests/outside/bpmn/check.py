"""Writes every plan of the sessions of plans as a process, and asks SpiffWorkflow for its judgement: `check.py CUVEE DIR`.

The schema of BPMN has nothing against it, and no engine takes it, for it is not executable. Made to be so, with tasks that somebody does by hand
and conditions that hold, it is played: whatever is done next, nothing is done before what it waits for by the JSON of the plan, and all is done.
"""

import json
import random
import re
import subprocess
import sys
from pathlib import Path

from SpiffWorkflow.bpmn import BpmnWorkflow
from SpiffWorkflow.bpmn.parser import BpmnParser, BpmnValidator
from SpiffWorkflow.bpmn.parser.ValidationException import ValidationException
from SpiffWorkflow.bpmn.specs.defaults import ManualTask
from SpiffWorkflow.util.task import TaskState

PLANS = Path(__file__).resolve().parent.parent.parent / "plan"
VALIDATOR = BpmnValidator()


def commands():
    """Command lines of sessions, and where they are given."""
    for session in sorted(PLANS.glob("*/session.console")):
        for line in session.read_text().splitlines():
            words = line.replace("'", "").replace("{root}", str(PLANS.parent.parent)).split()[3:]
            if line.startswith("$ cuvee plan ") and not {"--format", "--simulate", "--list"} & set(words):
                yield session.parent, words


def parsed(text):
    """The process by its schema."""
    parser = BpmnParser(validator=VALIDATOR)
    parser.add_bpmn_str(text.encode())
    return parser


def made_executable(text):
    """The process with nothing in it that only a person understands."""
    text = text.replace('isExecutable="false"', 'isExecutable="true"')
    text = re.sub(r"(?s)  <bpmn:globalTask .*?</bpmn:globalTask>\n", "", text)
    text = re.sub(r' (implementation|calledElement)="[^"]*"', "", text)
    text = re.sub(r"(</?bpmn:)(serviceTask|callActivity|task)\b", r"\1manualTask", text)
    return re.sub(r"(<bpmn:conditionExpression>)[^<]*", r"\1True", text)


def played(text, choose):
    """Steps in an order in which they may be done."""
    workflow = BpmnWorkflow(parsed(made_executable(text)).get_spec("process"))
    workflow.do_engine_steps()
    done = []
    while ready := workflow.get_tasks(state=TaskState.READY, spec_class=ManualTask):
        task = choose.choice(ready)
        done.append(task.task_spec.documentation.splitlines()[0])
        task.run()
        workflow.do_engine_steps()
    assert workflow.completed, done
    return done


def check(text, plan, choose):
    """Plays a process, and compares what happens with the plan."""
    try:
        parsed(text).get_spec("process")
        raise AssertionError("an engine takes what is not executable")
    except ValidationException as refused:
        assert "not executable" in str(refused), refused
    for _ in range(4):
        done = played(text, choose)
        position = {step: index for index, step in enumerate(done)}
        assert len(position) == len(done), done
        before = {}
        for step in plan["steps"]:
            after = [other for wait in step["after"] for other in [wait, *before[wait]]]
            before[step["id"]] = after
            if step["id"] in position:
                late = [wait for wait in after if position.get(wait, -1) > position[step["id"]]]
                assert not late, (step["id"], late)


def main(cuvee, files):
    choose = random.Random(1)
    count = 0
    for directory, words in commands():
        run = lambda *more: subprocess.run([cuvee, "plan", *words, *more], cwd=directory, capture_output=True, text=True, check=False)
        process, plan = run("--format", "bpmn"), run("--format", "json")
        assert process.returncode == plan.returncode, words
        if process.stdout:
            count += 1
            (files / f"{count}.bpmn").write_text(process.stdout)
            check(process.stdout, json.loads(plan.stdout), choose)
    assert count, "there are no sessions"
    print(f"tests/outside/bpmn: SpiffWorkflow plays {count} processes in the order of their plans")


main(sys.argv[1], Path(sys.argv[2]))
