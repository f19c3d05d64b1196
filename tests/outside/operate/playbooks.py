"""Deploys by Ansible playbooks, and compares what happens with what xOpera does with the same archive."""

import json
import os
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import yaml

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[2]
PROGRAMS = Path(sys.executable).parent
# Operations of which the first has to come before the second.
BEFORE = [("create 4", "configure 5433 2"), ("create 5", "configure 5433 2")]


def call(directory, *command):
    """What a program prints. Ends the test if it fails."""
    path = f"{PROGRAMS}{os.pathsep}{os.environ['PATH']}"
    environment = {**os.environ, "PATH": path, "PLACE": str(directory), "GUESTBOOK_DIR": str(directory / "book"), "NO_COLOR": "1"}
    pipes = {"stdin": subprocess.DEVNULL, "capture_output": True, "text": True}
    done = subprocess.run(command, cwd=directory, env=environment, check=False, **pipes)
    if done.returncode:
        raise SystemExit(f"tests/outside/operate: {command[:4]} failed\n{done.stdout}{done.stderr}")
    return done.stdout


def said(directory):
    """What the playbooks wrote down, in order."""
    return (directory / "said").read_text().splitlines()


def by_opera(directory, archive):
    """The operations, the attributes of nodes, and the outputs."""
    call(directory, PROGRAMS / "opera", "deploy", "--instance-path", ".opera", archive)
    outputs = call(directory, PROGRAMS / "opera", "outputs", "--instance-path", ".opera", "--format", "json")
    outputs = {name: output["value"] for name, output in json.loads(outputs).items()}
    nodes = {}
    for file in (directory / ".opera" / "instances").glob("*_0"):
        node = json.loads(file.read_text())
        nodes[file.name.removesuffix("_0")] = {name: part["data"] for name, part in node.items() if part["is_set"]}
    return said(directory), nodes, outputs


def by_cuvee(cuvee, directory, archive):
    """The same, by `cuvee instance run`."""
    call(directory, cuvee, "instance", "run", "shop", archive, "--yes")
    shown = json.loads(call(directory, cuvee, "instance", "show", "shop", "--format", "json"))
    nodes = {node["name"]: {part["name"]: part["value"] for part in node.get("attributes", [])} for node in shown["nodes"]}
    return said(directory), nodes, {output["name"]: output["value"] for output in shown["outputs"]}


def alike(cuvee, scratch):
    """Both do the same, in an order that both allow, and what comes out is the same."""
    archive = scratch / "shop.csar"
    call(scratch, cuvee, "resolve", HERE / "playbooks", "--output", archive)
    places = [scratch / name for name in ("opera", "cuvee")]
    for place in places:
        place.mkdir()
    with ThreadPoolExecutor() as pool:
        opera = pool.submit(by_opera, places[0], archive)
        own = pool.submit(by_cuvee, cuvee, places[1], archive)
        (theirs, their_nodes, their_outputs), (ours, our_nodes, our_outputs) = opera.result(), own.result()
    assert sorted(theirs) == sorted(ours), (theirs, ours)
    for order in (theirs, ours):
        assert all(order.index(first) < order.index(second) for first, second in BEFORE), order
    # Ansible gives texts where expressions were evaluated; opera keeps them as they come.
    assert {name: str(value) for name, value in their_outputs.items()} == {name: str(value) for name, value in our_outputs.items()}, (their_outputs, our_outputs)
    for node, name in (("orders", "port"), ("stock", "port"), ("app", "url")):
        assert str(their_nodes[node][name]) == str(our_nodes[node][name]), (node, name, their_nodes, our_nodes)
    assert our_nodes["orders"]["port"] == 5433, "the attribute is declared as an integer"
    assert our_nodes["orders"]["names"] == their_nodes["orders"]["names"] or our_nodes["orders"]["names"] == ["it's", "3"], our_nodes


def guest_book(cuvee, scratch):
    """The guest book comes and goes as it does by opera."""
    directory = scratch / "guestbook"
    directory.mkdir()
    call(directory, cuvee, "instance", "run", "book", ROOT / "examples" / "guestbook", "--preset", "playbooks", "--yes")
    call(directory, cuvee, "instance", "run", "book", "--undeploy", "--yes")
    happened = (directory / "book" / "happened").read_text().splitlines()
    expected = yaml.safe_load((ROOT / "tests" / "orchestrators" / "expected.yaml").read_text())
    assert happened == expected["happened"]["guestbook/playbooks by opera"], happened


def main():
    cuvee = Path(sys.argv[1])
    with tempfile.TemporaryDirectory() as scratch, ThreadPoolExecutor() as pool:
        for job in [pool.submit(check, cuvee, Path(scratch)) for check in (alike, guest_book)]:
            job.result()
    print("tests/outside/operate: playbooks did what they do with opera")


main()
