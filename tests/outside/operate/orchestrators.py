"""Deploys and undeploys one archive by xOpera and by `cuvee instance run`, and hands variants to xOpera and Unfurl.

Both call the same operations with the same inputs, in an order that the other one allows, and come to the same attributes and outputs.
"""

import json
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
GUESTBOOK = HERE.parent.parent.parent / "examples" / "guestbook"
PROGRAMS = Path(sys.executable).parent
GIVEN = ("url", "status")


def fail(why):
    sys.exit(f"tests/outside/operate: {why}")


class Twins:
    """A directory for one store of instances, and what runs there."""

    def __init__(self, cuvee, scratch):
        self.cuvee, self.scratch = cuvee, scratch

    def run(self, *command, code=0, **variables):
        """What a program says."""
        path = f"{PROGRAMS}{os.pathsep}{os.environ['PATH']}"
        environment = {**os.environ, "PATH": path, "CUVEE_STORE": str(self.scratch / "store"), **variables}
        done = subprocess.run(
            [str(word) for word in command], cwd=self.scratch, env=environment, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False
        )
        if done.returncode != code:
            fail(f"{command} ended with {done.returncode}:\n{done.stdout}{done.stderr}")
        return done.stdout

    def happened(self, name, *command):
        """The operations that a command calls, in their order, each with what it was given."""
        written = self.scratch / name
        self.run(*command, HAPPENED=str(written))
        return written.read_text().splitlines()

    def given(self, instance):
        """What the operations of an instance gave, and its outputs."""
        ask = (self.cuvee, "instance", "query", instance, "--function")
        names = [(node, name) for node in ("store", "app") for name in GIVEN]
        attributes = {f"{node}.{name}": self.run(*ask, f"{{get_attribute: [{node}, {name}]}}").strip() for node, name in names}
        outputs = self.run(self.cuvee, "instance", "run", instance, "--yes").splitlines()[1:]
        return attributes, dict(line.split(": ", 1) for line in outputs)


def waits(plan):
    """For each operation of a plan those that come before it."""
    steps = {step["id"]: step for step in plan["steps"]}
    before = {}
    for name in steps:
        open_, seen = list(steps[name]["after"]), set()
        while open_:
            step = open_.pop()
            if step not in seen:
                seen.add(step)
                open_ += steps[step]["after"]
        before[name] = seen
    called = {name: step for name, step in steps.items() if "implementation" in step}

    def label(step):
        at = {"node.store": "store", "node.app": "app"}.get(step["target"], "app-store")
        return f"{at} {step['operation']}"

    return {label(step): {label(called[other]) for other in before[name] if other in called} for name, step in called.items()}


def names(happened):
    """The operations, without what they were given."""
    return [" ".join(line.split(" ")[:2]) for line in happened]


def allows(before, happened):
    """Whether a plan allows this order."""
    order = names(happened)
    return all(other in order[: order.index(label)] for label in order for other in before[label])


def opera_allows(happened):
    """Whether xOpera allows this order: a node is deployed when those that it needs are, operation by operation, and undeployed the other way round."""
    store = ["store create", "app-store pre_configure_target", "store configure", "app-store post_configure_target", "store start"]
    app = ["app create", "app-store pre_configure_source", "app configure", "app-store post_configure_source", "app start"]
    return names(happened) in (store + app, ["app stop", "app delete", "store stop", "store delete"])


def same_archive(twins):
    """xOpera and cuvee, each by itself."""
    archive = twins.scratch / "twins.csar"
    twins.run(twins.cuvee, "resolve", HERE / "twins", "--output", archive)
    (twins.scratch / "opera").mkdir()
    state = ("--instance-path", "opera")
    run = (twins.cuvee, "instance", "run", "twins")
    up = {
        "opera": twins.happened("opera-up", "opera", "deploy", *state, archive),
        "cuvee": twins.happened("cuvee-up", *run, archive, "--provider", "box=local", "--yes"),
    }
    values = {name: json.loads((twins.scratch / "opera" / "instances" / f"{name}_0").read_text()) for name in ("store", "app")}
    attributes = {f"{node}.{name}": values[node][name]["data"] for node in values for name in GIVEN}
    outputs = json.loads(twins.run("opera", "outputs", *state, "--format", "json"))
    outputs = {name: output["value"] for name, output in outputs.items()}
    if (attributes, outputs) != twins.given("twins"):
        fail(f"opera gives {attributes} and {outputs}, cuvee {twins.given('twins')}")
    plan = json.loads(twins.run(twins.cuvee, "plan", archive, "--format", "json"))
    undeploy = json.loads(twins.run(twins.cuvee, "plan", archive, "undeploy", "--format", "json"))
    down = {
        "opera": twins.happened("opera-down", "opera", "undeploy", *state),
        "cuvee": twins.happened("cuvee-down", *run, "--undeploy", "--provider", "box=local", "--yes"),
    }
    for called, before in ((up, waits(plan)), (down, waits(undeploy))):
        if sorted(called["opera"]) != sorted(called["cuvee"]) or len(called["opera"]) < 4:
            fail(f"they call different operations: {called}")
        if not allows(before, called["opera"]) or not opera_allows(called["cuvee"]):
            fail(f"one of them does not allow the order of the other one: {called}")
    print(f"tests/outside/operate: opera and cuvee call the same {len(up['opera']) + len(down['opera'])} operations, and come to the same values")
    return attributes, outputs, up["opera"], down["opera"]


def handed_to_opera(twins, attributes, outputs, up, down):
    """cuvee hands the same archive to xOpera, then another variant, then takes it away."""
    run = (twins.cuvee, "instance", "run", "handed")
    archive = twins.scratch / "twins.csar"
    if twins.happened("handed-up", *run, archive, "--with", "opera", "--yes") != up:
        fail("what is handed over is not deployed as opera deploys it")
    if twins.given("handed") != (attributes, outputs):
        fail(f"handed over it gives {twins.given('handed')}")
    other = twins.happened("handed-other", *run, archive, "--deployment-input", "port=9090", "--yes")
    if [line for line in other if "9090" in line] or other[:4] != down or len(other) != len(down) + len(up):
        fail(f"another variant is not deployed anew: {other}")
    if twins.given("handed")[1]["url"] != "http://app:9090":
        fail("the other variant has the values of the first one")
    if twins.happened("handed-down", *run, "--undeploy", "--yes") != down:
        fail("what is handed over is not undeployed as opera undeploys it")
    if list((twins.scratch / "store" / "instances" / "handed" / "handed").glob("*/*")):
        fail("the state of opera is left")
    print("tests/outside/operate: opera deploys what is handed to it, another variant of it, and takes it away")


# A task that fails until something is repaired.
TEST = """- name: Fail
      ansible.builtin.command: test -e {{ lookup('env', 'REPAIRED') }}
    - name: Give a value"""


def broken(twins):
    """A playbook that fails is a failed step, and the run goes on."""
    template = twins.scratch / "broken"
    template.mkdir()
    playbook = (HERE / "twins" / "work.yaml").read_text()
    (template / "work.yaml").write_text(playbook.replace("- name: Give a value", TEST, 1))
    shutil.copy(HERE / "twins" / "template.yaml", template)
    run = (twins.cuvee, "instance", "run", "broken")
    repaired, written = twins.scratch / "repaired", twins.scratch / "broken-up"
    variables = {"HAPPENED": str(written), "REPAIRED": str(repaired)}
    said = twins.run(*run, template / "template.yaml", "--with", "opera", "--yes", code=1, **variables)
    if "update/opera failed" not in said or "  log: " not in said:
        fail(f"a failure of opera is not told: {said}")
    repaired.write_text("")
    twins.run(*run, "--yes", **variables)
    twins.run(*run, "--undeploy", "--yes", **variables)
    print("tests/outside/operate: what opera has failed at goes on")


def handed_to_unfurl(twins):
    """cuvee hands the guest book to Unfurl."""
    book = twins.scratch / "book"
    run = (twins.cuvee, "instance", "run", "book")
    variables = {"GUESTBOOK_DIR": str(book)}
    twins.run(*run, GUESTBOOK, "--with", "unfurl", "--yes", **variables)
    up = (book / "happened").read_text().splitlines()
    twins.run(*run, GUESTBOOK, "--input", "searchable=false", "--yes", **variables)
    twins.run(*run, "--undeploy", "--yes", **variables)
    happened = (book / "happened").read_text().splitlines()
    created = [line for line in happened if line.endswith(" create")]
    deleted = [line.replace("delete", "create") for line in happened if line.endswith(" delete")]
    if len(up) != 9 or sorted(created) != sorted(deleted) or created.count("index create") != 1 or created.count("site create") != 2:
        fail(f"unfurl does something else with the guest book: {happened}")
    print("tests/outside/operate: unfurl deploys the guest book, another variant of it, and takes it away")


def main():
    with tempfile.TemporaryDirectory() as scratch:
        twins = Twins(sys.argv[1], Path(scratch))
        attributes, outputs, up, down = same_archive(twins)
        handed_to_opera(twins, attributes, outputs, up, down)
        broken(twins)
        handed_to_unfurl(twins)


main()
