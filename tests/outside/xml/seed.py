#!/usr/bin/env python3
"""The listings of the specification of TOSCA 1.0, and what is wrong with them: exactly that is told.

    python3 tests/outside/xml/seed.py SPECIFICATION [CUVEE]

SPECIFICATION is its text, with listings between fences and numbers in front of their lines. Those that
are examples, not grammar, are cut out; what is left out in them (`...`) is left out, and one without
`Definitions` is put into some. Of what `cuvee validate` says only how a document is built counts: what is
named may stand in other documents. Exactly the faults that are known have to be found.
"""

import json
import os
import re
import subprocess
import sys
import tempfile

TOSCA = "http://docs.oasis-open.org/tosca/ns/2011/12"
# What is told of which listing, by what its first element is called: code, and how the message begins. The
# first ones are faults that make a document wrong; `cut` are those of a listing that shows a part.
KNOWN = [
    # An end tag of another name.
    [("syntax", "`<RelationshipType>` is closed as `</RelationshipTemplate>`")],
    # `InputParamter`, three times.
    [("unknown-keyword", "`InputParamter` cannot stand")] * 3,
    [("unknown-keyword", "`RelationshipTypeProperties` cannot stand")],
    # A start tag where an end tag is meant.
    [("syntax", "`<ImplementationArtifact>` is closed as `</ImplementationArtifacts>`")],
    # `>` in the middle of a start tag, so that a prefix is not declared.
    [("invalid-template", "text cannot stand in `Definitions`")] + [("syntax", "no namespace is declared for the prefix `spp`")] * 2,
    [("syntax", "no namespace is declared for the prefix `bpt`"), ("unknown-keyword", "`HAProperties` cannot stand")],
    # Ids with blanks, what refers to them, `ID`, and `type` of deployment artifacts, whose content is text.
    [("unknown-keyword", "`ID` is no attribute of `TopologyTemplate`")]
    + [("invalid-value", "`id` is a name")] * 2
    + [("invalid-value", "`ref` is a name")] * 2
    + [("invalid-template", "`DeploymentArtifact` needs `artifactType`"), ("unknown-keyword", "`type` is no attribute of `DeploymentArtifact`"), ("invalid-template", "text cannot stand in `DeploymentArtifact`")] * 2,
    # The example at the end: attributes of other names, without what is needed.
    [("invalid-template", "`Definitions` needs `id`"), ("unknown-keyword", "`id` is no attribute of `TopologyTemplate`")]
    + [("invalid-template", "`NodeTemplate` needs `type`"), ("unknown-keyword", "`nodeType` is no attribute of `NodeTemplate`")] * 2
    + [("invalid-template", "`RelationshipTemplate` needs `type`"), ("unknown-keyword", "`relationshipType` is no attribute of `RelationshipTemplate`")]
    + [("invalid-template", "`SourceElement` needs `ref`"), ("unknown-keyword", "`id` is no attribute of `SourceElement`")]
    + [("invalid-template", "`TargetElement` needs `ref`"), ("unknown-keyword", "`id` is no attribute of `TargetElement`")]
    + [("unknown-keyword", "`ApplicationProperties` cannot stand"), ("unknown-keyword", "`process` cannot stand in `PlanModel`"), ("invalid-template", "text cannot stand in `Precondition`")]
    + [("unknown-keyword", "`NodeTypeProperties` cannot stand in `NodeType`")] * 2
    + [("unknown-keyword", "`InputParamter` cannot stand")] * 3,
    # Parts of documents: declarations and components are left out.
    [("invalid-template", "`Definitions` needs `targetNamespace`"), ("invalid-template", "`Definitions` defines nothing")],
    [("syntax", "no namespace is declared for the prefix `my`")] * 3 + [("unknown-keyword", "`ApplicationProperties` cannot stand")],
]
BUILT = {"syntax", "unknown-keyword", "invalid-template", "invalid-value", "duplicate", "element-order"}


def listings(text):
    """Listings, put together where a page ends in them."""
    found, number = [], 0
    for block in re.findall(r"^```[a-z]*\n(.*?)^```", text, re.S | re.M):
        lines = []
        for line in block.split("\n"):
            match = re.match(r"^(?:\d{2,4} )?(\d{2,3})(?: |$)(.*)$", line)
            if match:
                lines.append((int(match[1]), match[2]))
            elif line.strip() and lines:
                lines.append((lines[-1][0], line))
        if not lines or not any("<" in line for _, line in lines):
            continue
        if lines[0][0] == 1 or not found or lines[0][0] < number:
            found.append([])
        found[-1] += [line for _, line in lines]
        number = lines[-1][0]
    return ["\n".join(lines) for lines in found]


def is_grammar(listing):
    if "<value_" in listing:
        return True
    if listing.lstrip().startswith("<?xml"):
        # The schema.
        return True
    if "NodeTypeProperties" in listing and "nodeType=" in listing:
        # The example at the end, whose conditions are written as in grammar.
        return False
    kinds = r'"xs:(ID|NCName|anyURI|QName|boolean|language)|"\?|> *[?+*|]\s*$|<xs:schema|^\s*<name>'
    return bool(re.search(kinds, listing, re.M))


def document(listing):
    text = re.sub(r"^\s*\.\.\.\s*$", "", listing, flags=re.M)
    text = re.sub(r"\s\.\.\.(?=[\s>])", " ", text)
    if "<Definitions" not in text:
        text = f'<Definitions id="a" targetNamespace="urn:a">\n{text}\n</Definitions>'
    if "xmlns=" not in text.split(">")[0]:
        text = text.replace("<Definitions", f'<Definitions xmlns="{TOSCA}"', 1)
    return text


def told(listing, cuvee):
    with tempfile.TemporaryDirectory() as directory:
        path = os.path.join(directory, "listing.tosca")
        with open(path, "w") as file:
            file.write(document(listing))
        out = subprocess.run([cuvee, "validate", "--format", "json", path], capture_output=True, text=True)
    found = [json.loads(line) for line in out.stdout.splitlines()]
    return [one for one in found if one["severity"] != "note" and one["code"] in BUILT]


def main():
    cuvee = sys.argv[2] if len(sys.argv) > 2 else "cuvee"
    with open(sys.argv[1]) as file:
        examples = [it for it in listings(file.read()) if not is_grammar(it)]
    known, wrong = list(KNOWN), 0
    for listing in examples:
        found = [(one["code"], one["message"]) for one in told(listing, cuvee)]
        match = next((it for it in known if fits(it, found)), None)
        if match is not None:
            known.remove(match)
        elif found:
            wrong += 1
            print(listing.strip().split("\n")[0], *found, sep="\n    ")
    for missing in known:
        print("not found:", missing)
    print(f"{len(examples)} listings, {wrong} told otherwise, {len(known)} not found")
    sys.exit(1 if wrong or known else 0)


def fits(known, found):
    """Whether exactly these are told, in any order."""
    rest = list(found)
    for code, start in known:
        one = next((it for it in rest if it[0] == code and it[1].startswith(start)), None)
        if one is None:
            return False
        rest.remove(one)
    return not rest


if __name__ == "__main__":
    main()
