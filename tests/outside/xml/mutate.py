#!/usr/bin/env python3
"""Changes definitions at random, and compares what cuvee says of their structure with a schema.

usage: mutate.py SCHEMA CUVEE DEFINITIONS [SEED] [COUNT]

SCHEMA is the XML Schema of TOSCA 1.0, as OASIS publishes it, with the corrections that
docs/tosca-1.0.md lists; it is read by lxml. DEFINITIONS are ones that nothing is wrong with, such as
tests/diagnostics/xml/valid.tosca. Printed is each change of which one finds something and the other
does not; where cuvee says more than a schema can (two parameters of one name) that is not printed.
"""

import copy
import json
import random
import subprocess
import sys
import tempfile
from pathlib import Path

from lxml import etree

TOSCA = "{http://docs.oasis-open.org/tosca/ns/2011/12}"
STRUCTURE = {"unknown-keyword", "invalid-template", "duplicate", "element-order", "invalid-value", "syntax"}
VALUES = ["true", "no", "yes", "0", "-1", "1", "2", "unbounded", "a b", "", "1x", "urn:x", "x:y"]


def ours(root):
    return [it for it in root.iter() if isinstance(it.tag, str) and it.tag.startswith(TOSCA)]


def change(root, names, attributes):
    """Changes one thing, and says what; nothing where that cannot be done here."""
    element = random.choice(ours(root))
    parent = element.getparent()
    kind = random.randrange(9)
    name = etree.QName(element).localname
    if kind == 0 and element.attrib:
        gone = random.choice(list(element.attrib))
        del element.attrib[gone]
        return f"{name} without {gone}"
    if kind == 1 and parent is not None:
        parent.remove(element)
        return f"without {name}"
    if kind == 2 and parent is not None:
        element.addnext(copy.deepcopy(element))
        return f"{name} twice"
    if kind == 3 and len(element) > 1:
        child = element[random.randrange(len(element) - 1)]
        element.append(child)
        return f"{child.tag} last in {name}"
    if kind == 4:
        new = random.choice(attributes)
        element.set(new, "x")
        return f"{name} with {new}"
    if kind == 5:
        element.tag = random.choice(names)
        return f"{name} called {element.tag}"
    if kind == 6:
        element.text = (element.text or "") + "word"
        return f"text in {name}"
    if kind == 7 and element.attrib:
        changed, value = random.choice(list(element.attrib)), random.choice(VALUES)
        element.set(changed, value)
        return f"{changed}={value!r} of {name}"
    if kind == 8:
        other = copy.deepcopy(random.choice(ours(root)))
        element.insert(random.randrange(len(element) + 1), other)
        return f"{other.tag} in {name}"
    return None


def main(schema, cuvee, definitions, seed="1", count="500"):
    schema = etree.XMLSchema(etree.parse(schema))
    base = etree.parse(definitions)
    names = sorted({it.tag for it in ours(base.getroot())})
    attributes = sorted({a for it in ours(base.getroot()) for a in it.attrib if not a.startswith("{")})
    random.seed(int(seed))
    cases = {}
    with tempfile.TemporaryDirectory() as directory:
        for number in range(int(count)):
            changed = copy.deepcopy(base)
            what = change(changed.getroot(), names, attributes)
            if what:
                path = str(Path(directory, f"{number}.tosca"))
                changed.write(path, encoding="utf-8", xml_declaration=True)
                cases[path] = (what, schema.validate(etree.parse(path)))
        command = [cuvee, "validate", "--format", "json", *cases]
        told = subprocess.run(command, capture_output=True, text=True, check=False).stdout
    found = {}
    for line in told.splitlines():
        diagnostic = json.loads(line)
        found.setdefault(diagnostic["file"], []).append(diagnostic)
    different = 0
    for path, (what, is_valid) in cases.items():
        own = found.get(path, [])
        structure = [it for it in own if it["code"] in STRUCTURE]
        is_more = all(it["code"] == "duplicate" and "another" in it["message"] for it in structure)
        if is_valid and structure and not is_more:
            print(f"cuvee alone: {what}: {structure[0]['message']}")
            different += 1
        if not is_valid and not own:
            print(f"the schema alone: {what}")
            different += 1
    invalid = sum(not is_valid for _, is_valid in cases.values())
    print(f"{len(cases)} changes, {invalid} of them invalid by the schema, {different} judged differently")


main(*sys.argv[1:])
