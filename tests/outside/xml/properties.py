#!/usr/bin/env python3
"""Holds random properties against random schemas, and compares with what lxml says of them.

usage: properties.py CUVEE COUNT [SEED]    (needs lxml)

All elements are optional in the schemas, and documents keep their order, since cuvee judges neither."""
import json
import random
import subprocess
import sys
import tempfile
from pathlib import Path

from lxml import etree

XS = "http://www.w3.org/2001/XMLSchema"
VALUES = ["", "1", "-1", "0", "42", "300", "70000", "1.5", "-0.25", "1e3", "true", "false", "yes", "abc", "ab", "AB",
          "2024-02-28", "2024-13-01", "12:30:00", "2024-01-01T10:00:00Z", "P1D", "PT5M", "a b", "x:y", "0aFF", "YWI=", " 7 ", "north"]
# Not base64Binary, of which lxml reads what is none, nor anyURI, of which it refuses what XML Schema allows.
BASES = ["string", "token", "boolean", "integer", "positiveInteger", "nonNegativeInteger", "byte", "int", "unsignedShort",
         "decimal", "double", "date", "time", "dateTime", "duration", "NCName", "hexBinary"]
LIKELY = {"boolean": ["true", "0"], "date": ["2024-02-28"], "time": ["12:30:00"], "dateTime": ["2024-01-01T10:00:00Z"],
          "duration": ["P1D"], "NCName": ["abc", "ab"], "hexBinary": ["0aFF"], "string": ["ab", "AB", "north"], "token": ["ab", "a b"]}
NUMBERS = {"integer", "positiveInteger", "nonNegativeInteger", "byte", "int", "unsignedShort", "decimal"}


class Schema:
    def __init__(self, rng):
        self.rng, self.types, self.count, self.bases = rng, [], 0, {}

    def simple(self):
        base = self.rng.choice(BASES)
        facets = []
        if base in NUMBERS and self.rng.random() < .4:
            facets.append(f'<x:{self.rng.choice(["minInclusive", "minExclusive", "maxInclusive", "maxExclusive"])} value="{self.rng.choice([1, 5, 42])}"/>')
        if base in {"string", "token"} and self.rng.random() < .5:
            facets.append(self.rng.choice(['<x:length value="2"/>', '<x:minLength value="1"/>', '<x:maxLength value="3"/>',
                                           '<x:pattern value="[a-z]+"/>', '<x:pattern value="a|ab|\\d"/>',
                                           '<x:enumeration value="north"/><x:enumeration value="AB"/>']))
        if base == "decimal" and self.rng.random() < .4:
            facets.append(self.rng.choice(['<x:totalDigits value="2"/>', '<x:fractionDigits value="1"/>']))
        if not facets:
            self.bases[f"x:{base}"] = base
            return f"x:{base}"
        name = self.name("s")
        self.types.append(f'<x:simpleType name="{name}"><x:restriction base="x:{base}">{"".join(facets)}</x:restriction></x:simpleType>')
        self.bases[f"p:{name}"] = base
        return f"p:{name}"

    def name(self, prefix):
        self.count += 1
        return f"{prefix}{self.count}"

    def particle(self, depth, names):
        """The text of a group, and how to write children of it, each with a chance to be wrong."""
        kind = self.rng.choice(["sequence", "sequence", "choice", "all" if depth == 0 else "choice"])
        parts, writers = [], []
        for _ in range(self.rng.randint(1, 4)):
            most = self.rng.choice([1, 1, 1, 2, "unbounded"]) if kind != "all" else 1
            occurs = f'minOccurs="0" maxOccurs="{most}"'
            if depth < 2 and kind != "all" and self.rng.random() < .25:
                text, write = self.particle(depth + 1, names)
                parts.append(text.replace('minOccurs="0"', occurs, 1))
                writers.append(write)
            else:
                name = self.name("e")
                names.append(name)
                if depth < 2 and self.rng.random() < .3:
                    type_name, write = self.complex(depth + 1)
                else:
                    type_name = self.simple()
                    write = self.bases[type_name]
                parts.append(f'<x:element name="{name}" type="{type_name}" {occurs}/>')
                writers.append((name, write))
        return f'<x:{kind} minOccurs="0">{"".join(parts)}</x:{kind}>', (kind, writers)

    def complex(self, depth, base=None):
        name, names = self.name("c"), []
        group, write = self.particle(depth, names)
        attributes = [(self.name("a"), self.simple()) for _ in range(self.rng.choice([0, 0, 1, 2]))]
        told = "".join(f'<x:attribute name="{it}" type="{of}"/>' for it, of in attributes)
        content = group + told
        self.types.append(f'<x:complexType name="{name}">{content}</x:complexType>')
        return f"p:{name}", (write, [(it, self.bases[of]) for it, of in attributes])


def children(rng, group):
    kind, writers = group
    if kind == "choice" and rng.random() < .85:
        writers = [rng.choice(writers)]
    out = []
    for writer in writers:
        if isinstance(writer[1], list) and writer[0] in ("sequence", "choice", "all"):
            out.append(children(rng, writer))
            continue
        name, inside = writer
        for _ in range(rng.choice([0, 1, 1, 1, 2, 3] if rng.random() < .2 else [0, 1, 1])):
            out.append(element(rng, name if rng.random() > .02 else "typo", inside))
    return "".join(out)


def value(rng, base):
    return rng.choice(LIKELY.get(base, ["1", "42"]) if rng.random() < .9 else VALUES)


def element(rng, name, inside, declared=""):
    if isinstance(inside, str):
        content = value(rng, inside) if rng.random() > .03 else "<p:x/>"
        return f"<p:{name}{declared}>{content}</p:{name}>"
    group, attributes = inside
    told = "".join(f' {it if rng.random() > .05 else "wrong" + it}="{value(rng, of)}"' for it, of in attributes if rng.random() < .7)
    return f"<p:{name}{declared}{told}>{children(rng, group)}</p:{name}>"


def main():
    cuvee, count = sys.argv[1], int(sys.argv[2])
    rng = random.Random(int(sys.argv[3]) if len(sys.argv) > 3 else 1)
    differ, right = 0, 0
    with tempfile.TemporaryDirectory() as directory:
        expected = {}
        for number in range(count):
            schema = Schema(rng)
            type_name, inside = schema.complex(0)
            text = (f'<x:schema xmlns:x="{XS}" xmlns:p="urn:example:p" targetNamespace="urn:example:p" elementFormDefault="qualified">'
                    f'<x:element name="root" type="{type_name}"/>{"".join(schema.types)}</x:schema>')
            properties = element(rng, "root", inside, ' xmlns:p="urn:example:p"')
            is_right = etree.XMLSchema(etree.fromstring(text)).validate(etree.fromstring(properties))
            path = Path(directory) / f"{number}.tosca"
            path.write_text(f'''<Definitions xmlns="http://docs.oasis-open.org/tosca/ns/2011/12" xmlns:s="urn:s" id="d" targetNamespace="urn:s">
<Types>{text}</Types>
<ServiceTemplate id="S"><TopologyTemplate><NodeTemplate id="n" type="s:N"><Properties>{properties}</Properties></NodeTemplate></TopologyTemplate></ServiceTemplate>
<NodeType name="N"><PropertiesDefinition xmlns:p="urn:example:p" element="p:root"/></NodeType></Definitions>''')
            expected[str(path)] = is_right
            right += is_right
        paths = list(expected)
        for start in range(0, count, 200):
            run = subprocess.run([cuvee, "validate", "--format", "json", *paths[start:start + 200]], capture_output=True, text=True, check=False)
            wrong = {found["file"] for found in map(json.loads, run.stdout.splitlines())} if run.stdout[:1] == "{" else {
                it.get("file") for it in json.loads(run.stdout)}
            for path in paths[start:start + 200]:
                if expected[path] == (path in wrong):
                    differ += 1
                    if differ < 6:
                        print(Path(path).read_text(), "right" if expected[path] else "wrong", sep="\n")
                        print(subprocess.run([cuvee, "validate", path], capture_output=True, text=True, check=False).stderr)
    print(f"{count} documents, {right} of them right: {differ} are judged otherwise")
    sys.exit(differ > 0)


main()
