"""Hands the results of the examples to orchestrators, and compares what those say with `expected.yaml`.

Each result is validated by opera, planned by unfurl and parsed by tosca-parser. What has operations is deployed and undeployed, too.
Templates in `refused/` are refused by those programs that `presets/portability.yaml` names, and by no others.
"""

import os
import re
import shutil
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import yaml

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent
EXAMPLES = ROOT / "examples"
PROGRAMS = Path(sys.executable).parent


def read(path):
    """A YAML file."""
    return yaml.safe_load(path.read_text())


def environment(**more):
    """Where the programs find each other, and nothing of who runs this."""
    path = f"{PROGRAMS}{os.pathsep}{os.environ['PATH']}"
    return {**os.environ, "PATH": path, "UNFURL_HOME": "", "NO_COLOR": "1", **more}


def run(directory, program, *arguments, **variables):
    """What a program says, and whether it is content."""
    command = [str(PROGRAMS / program), *arguments]
    done = subprocess.run(
        command, cwd=directory, env=environment(**variables), stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False
    )
    return done.stdout + done.stderr, done.returncode == 0


def prepare(directory, inputs):
    """What the programs need beside a template."""
    spec = {"service_template": {"+include": "resolved.yaml"}, "inputs": inputs}
    ensemble = {"apiVersion": "unfurl/v1alpha1", "kind": "Ensemble", "spec": spec}
    (directory / "ensemble.yaml").write_text(yaml.safe_dump(ensemble))
    (directory / ".opera").mkdir()
    return directory


class Case:
    """A result of an example: what one of its tests resolves to."""

    def __init__(self, test):
        self.test = test
        self.example = test.parent.parent
        self.name = f"{self.example.name}/{test.name}"

    def resolve(self, cuvee, directory):
        """Puts the result beside the files that it names."""
        shutil.copytree(self.example, directory, ignore=shutil.ignore_patterns("tests", "target"))
        presets = read(self.test / "test.yaml").get("presets", [])
        chosen = [f"--preset={preset}" for preset in ([presets] if isinstance(presets, str) else presets)]
        inputs = self.test / "inputs.yaml"
        chosen += [f"--inputs={inputs}"] if inputs.exists() else []
        for result in ("resolved.csar", "resolved.yaml"):
            subprocess.run([cuvee, "resolve", directory, *chosen, "--output", directory / result], check=True)
        return prepare(directory, read(HERE / "inputs.yaml").get(self.example.name, {}))


def complaint(said):
    """The line that says what is wrong, without paths."""
    lines = [line.strip() for line in said.splitlines() if re.search(r"error|exception|Error", line, re.IGNORECASE)]
    return re.sub(r"(/[\w.-]+)+/", "", lines[-1] if lines else said.strip())


def validate(directory, template="resolved.csar"):
    """What each program complains about."""
    calls = {
        "opera": ("validate", "--instance-path", ".opera", template),
        "unfurl": ("plan",),
        "tosca-parser": ("--template-file", "resolved.yaml"),
    }
    said = {program: run(directory, program, *arguments) for program, arguments in calls.items()}
    return {program: complaint(text) for program, (text, content) in said.items() if not content}


def deploy(directory, program):
    """What happens when a program deploys and undeploys, as the operations write it down."""
    calls = {
        "opera": [("deploy", "--instance-path", ".opera", "resolved.yaml"), ("undeploy", "--instance-path", ".opera")],
        "unfurl": [("deploy", "--approve", "--dirty", "ok"), ("undeploy", "--approve", "--dirty", "ok")],
    }
    written = directory / "happened"
    for arguments in calls[program]:
        said, content = run(directory, program, *arguments, GUESTBOOK_DIR=str(written))
        if not content:
            return complaint(said)
    return (written / "happened").read_text().splitlines()


def cases():
    """The results of all examples."""
    tests = sorted(EXAMPLES.glob("*/tests/*/test.yaml"))
    return [Case(test.parent) for test in tests if "error" not in read(test)]


def refused(template, directory):
    """Which programs refuse a template."""
    directory.mkdir(parents=True)
    shutil.copy(template, directory / "resolved.yaml")
    return sorted(validate(prepare(directory, {}), "resolved.yaml"))


# What runs the operations of which result.
DEPLOYED = {"guestbook/playbooks": "opera", "guestbook/scripts": "unfurl"}


def check(cuvee, scratch):
    """What all programs say about all results."""
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        jobs = {"happened": {}, "complaints": {}, "refused": {}}
        # What takes longest begins first.
        for case in (case for case in cases() if case.name in DEPLOYED):
            program = DEPLOYED[case.name]
            directory = case.resolve(cuvee, scratch / "deployed" / case.name)
            jobs["happened"][f"{case.name} by {program}"] = pool.submit(deploy, directory, program)
        for case in cases():
            directory = case.resolve(cuvee, scratch / "validated" / case.name)
            jobs["complaints"][case.name] = pool.submit(validate, directory)
        for template in sorted((HERE / "refused").glob("*.yaml")):
            jobs["refused"][template.stem] = pool.submit(refused, template, scratch / "refused" / template.stem)
        said = {what: {name: job.result() for name, job in named.items()} for what, named in jobs.items()}
    print(f"tests/orchestrators: opera, unfurl and tosca-parser read {len(said['complaints'])} results")
    return {what: {name: one for name, one in named.items() if one} for what, named in said.items()}


def main():
    with tempfile.TemporaryDirectory() as scratch:
        found = check(sys.argv[1], Path(scratch))
    ways = read(ROOT / "presets" / "portability.yaml")["ways"]
    expected = {**read(HERE / "expected.yaml"), "refused": {way: sorted(programs) for way, programs in ways.items()}}
    if found != expected:
        sys.exit("expected.yaml and portability.yaml do not say what was found:\n" + yaml.safe_dump(found, sort_keys=False, width=1000))


main()
