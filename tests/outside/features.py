#!/usr/bin/env python3
"""Checks with another program that `cuvee import` reads feature models right: features.py CUVEE [MODELS [FIRST]]

Makes so many random models (200) as UVL, and as many, of what it can say, as `model.xml` of FeatureIDE. `cuvee import --nodes` makes a template of
each, of which `cuvee variants --count` counts the variants, and `cuvee export` a model again. flamapy (`pip install flamapy-fm flamapy-sat`)
reads the first file and the exported one, and lists their products. Exported is UVL, since flamapy reads no more than two operands of FeatureIDE.
Ends with 1 where the numbers differ, and leaves the file for whoever wants to know why; and with 2 where nothing was compared, as without flamapy.
"""

import json
import random
import re
import subprocess
import sys
import tempfile
from pathlib import Path
from xml.sax.saxutils import quoteattr

try:
    from flamapy.metamodels.fm_metamodel.transformations import FeatureIDEReader, UVLReader
    from flamapy.metamodels.pysat_metamodel.operations import PySATConfigurationsNumber
    from flamapy.metamodels.pysat_metamodel.transformations import FmToPysat
except ImportError as missing:
    print(missing, file=sys.stderr)
    sys.exit(2)

# What a name begins with; some have to be quoted in UVL, and some are nearly words of its own.
WORDS = ["F", "Web_Server", "Type", "Integer", "or", "Größe", "Data Store", "x-", "features "]
GROUPS = ["mandatory", "optional", "optional", "or", "alternative", "cardinality"]
# What FeatureIDE calls them; features of an `and` are optional unless they say otherwise.
ELEMENTS = {"mandatory": "and", "optional": "and", "or": "or", "alternative": "alt"}
OPERATORS = {"not": "!", "conj": "&", "disj": "|", "imp": "=>", "eq": "<=>"}


class Feature:
    def __init__(self, name):
        self.name, self.groups = name, []


def model(chance, size, plain):
    """A tree of features and some constraints; `plain` is what FeatureIDE can say."""
    names = [chance.choice(WORDS) + str(at) for at in range(size)]
    features = [Feature(name) for name in names]
    placed = 1
    while placed < size:
        parent = chance.choice(features[:placed])
        if plain and parent.groups:
            # Of one kind: each feature has one group.
            if parent.groups[0][0] not in ("mandatory", "optional"):
                continue
            kind = chance.choice(["mandatory", "optional"])
        else:
            kind = chance.choice(GROUPS[:-1] if plain else GROUPS)
        count = min(size - placed, 1 if ELEMENTS.get(kind) == "and" else chance.randint(2, 4))
        least = chance.randint(0, count)
        bounds = (least, chance.randint(max(least, 1), count))
        parent.groups.append((kind, bounds, features[placed : placed + count]))
        placed += count
    constraints = [constraint(chance, names, 3) for _ in range(chance.randint(0, 3))]
    return features[0], constraints


def constraint(chance, names, depth):
    if depth == 0 or chance.random() < 0.3:
        return chance.choice(names)
    kind = chance.choice(list(OPERATORS))
    return (kind, *(constraint(chance, names, depth - 1) for _ in range(1 if kind == "not" else 2)))


def uvl(root, constraints):
    def quoted(name):
        return name if re.fullmatch("[A-Za-z_][A-Za-z0-9_]*", name) else f'"{name}"'

    def feature(it, indent):
        yield "\t" * indent + quoted(it.name)
        for kind, (least, most), members in it.groups:
            yield "\t" * (indent + 1) + (f"[{least}..{most}]" if kind == "cardinality" else kind)
            for member in members:
                yield from feature(member, indent + 2)

    def text(it):
        if isinstance(it, str):
            return quoted(it)
        kind, *parts = it
        return f"!({text(parts[0])})" if kind == "not" else f"({text(parts[0])}) {OPERATORS[kind]} ({text(parts[1])})"

    lines = ["features", *feature(root, 1)]
    if constraints:
        lines += ["constraints", *("\t" + text(it) for it in constraints)]
    return "\n".join(lines) + "\n"


def xml(root, constraints):
    def feature(it, indent, mandatory):
        says = f"name={quoteattr(it.name)}" + (' mandatory="true"' if mandatory else "")
        if not it.groups:
            yield f"{indent}<feature {says}/>"
            return
        element = ELEMENTS[it.groups[0][0]]
        yield f"{indent}<{element} {says}>"
        for kind, _, members in it.groups:
            for member in members:
                yield from feature(member, indent + "  ", kind == "mandatory")
        yield f"{indent}</{element}>"

    def text(it):
        return f"<var>{it}</var>" if isinstance(it, str) else f"<{it[0]}>{''.join(map(text, it[1:]))}</{it[0]}>"

    rules = [f"<rule>{text(it)}</rule>" for it in constraints]
    # Empty, too, for flamapy cannot do without.
    lines = ["<struct>", *feature(root, "  ", True), "</struct>", "<constraints>", *rules, "</constraints>"]
    return "\n".join(["<featureModel>", *lines, "</featureModel>"]) + "\n"


def ours(cuvee, file, exported):
    """How many variants there are, or what is wrong; exports the model again."""
    with tempfile.TemporaryDirectory() as directory:
        template = f"{directory}/template.yaml"
        for command in (
            ["import", file, "--nodes", "-o", template],
            ["export", template, "--format", "uvl", "-o", exported],
            ["variants", template, "--count", "--format", "json"],
        ):
            done = subprocess.run([cuvee, *command], capture_output=True, text=True)
            if done.returncode:
                return done.stderr
        return int(json.loads(done.stdout)["count"])


def theirs(file):
    reader = {".uvl": UVLReader, ".xml": FeatureIDEReader}[file.suffix]
    formula = FmToPysat(reader(str(file)).transform()).transform()
    return PySATConfigurationsNumber().execute(formula).get_result()


def main():
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    cuvee = sys.argv[1]
    models = int(sys.argv[2]) if len(sys.argv) > 2 else 200
    first = int(sys.argv[3]) if len(sys.argv) > 3 else 0
    compared = different = 0
    directory = Path(tempfile.mkdtemp())
    for seed in range(first, first + models):
        for write, suffix, plain in [(uvl, ".uvl", False), (xml, ".xml", True)]:
            chance = random.Random(f"{seed}{suffix}")
            file = directory / f"model{seed}{suffix}"
            file.write_text(write(*model(chance, chance.randint(2, 16), plain)))
            exported = file.with_suffix(".exported.uvl")
            own, other = ours(cuvee, file, exported), theirs(file)
            again = theirs(exported) if isinstance(own, int) else own
            compared += 1
            if own == other == again:
                file.unlink()
                exported.unlink()
            else:
                different += 1
                print(f"{file}: we count {own}, flamapy {other}, and exported {again}")
    print(f"{compared} models, {different} different")
    sys.exit(2 if compared == 0 else int(different > 0))


if __name__ == "__main__":
    main()
