#!/usr/bin/env python3
"""Converts variants to TOSCA 1.0, and holds what is written against the schema of the specification and against its own.

usage: written.py CUVEE XSD TEMPLATE...    (needs lxml)

XSD is what schema.py makes of the specification. Of each template all presets are converted, of
documents in YAML what they are."""
import json
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path

from lxml import etree

XS = "{http://www.w3.org/2001/XMLSchema}"
TOSCA = "{http://docs.oasis-open.org/tosca/ns/2011/12}"


def own_schema(root, directory):
    """The schemas in `Types`, put together; nothing where there are none."""
    schemas = root.findall(f"{TOSCA}Types/{XS}schema")
    files = {}
    for number, schema in enumerate(schemas):
        files[schema.get("targetNamespace")] = f"{number}.xsd"
    for schema in schemas:
        for imported in schema.findall(f"{XS}import"):
            if imported.get("namespace") in files:
                imported.set("schemaLocation", files[imported.get("namespace")])
        path = directory / files[schema.get("targetNamespace")]
        path.write_bytes(etree.tostring(schema))
    whole = "".join(f'<xs:import namespace="{namespace}" schemaLocation="{file}"/>' for namespace, file in files.items())
    path = directory / "all.xsd"
    path.write_text(f'<xs:schema xmlns:xs="{XS[1:-1]}">{whole}</xs:schema>')
    return etree.XMLSchema(file=str(path)) if files else None


def judge(text, tosca, name):
    """What is wrong with a document."""
    root = etree.fromstring(text)
    wrong = [] if tosca.validate(root) else [f"{name}: {error}" for error in tosca.error_log]
    with tempfile.TemporaryDirectory() as directory:
        schema = own_schema(root, Path(directory))
    for properties in root.iter(f"{TOSCA}Properties"):
        for held in properties:
            # Of a fragment no schema says what it is.
            if schema is None or not isinstance(held.tag, str) or held.tag.startswith(TOSCA) or schema.validate(held):
                continue
            # What may be given later may be missing.
            fine = ["Missing child", "This element is not expected. Expected is", "No matching global declaration"]
            wrong += [f"{name}: {error}" for error in schema.error_log if not any(text in error.message for text in fine)]
    return wrong


def presets(cuvee, template):
    listed = subprocess.run([cuvee, "matrix", template, "--format", "json"], capture_output=True, text=True)
    if listed.returncode:
        return [None]
    return [column.get("preset") for column in json.loads(listed.stdout)["columns"]]


def main():
    cuvee, xsd, *templates = sys.argv[1:]
    tosca = etree.XMLSchema(file=xsd)
    converted, refused, as_before, wrong = 0, 0, 0, []
    for template in templates:
        is_valid = not subprocess.run([cuvee, "validate", template, "-q"], capture_output=True).returncode
        for preset in presets(cuvee, template):
            name = f"{template} {preset or ''}".strip()
            with tempfile.TemporaryDirectory() as directory:
                archive = Path(directory) / "out.csar"
                chosen = ["--preset", preset] if preset else []
                run = subprocess.run([cuvee, "convert", template, *chosen, "-o", archive, "-q"], capture_output=True, text=True)
                if run.returncode:
                    refused += 1
                    print(f"refused: {name}: {run.stderr.splitlines()[0] if run.stderr else ''}")
                    continue
                valid = subprocess.run([cuvee, "validate", archive], capture_output=True, text=True)
                if valid.returncode and not is_valid:
                    as_before += 1
                elif valid.returncode:
                    wrong.append(f"{name}: {valid.stdout}{valid.stderr}")
                with zipfile.ZipFile(archive) as packed:
                    for entry in packed.namelist():
                        if entry.startswith("Definitions/"):
                            wrong += judge(packed.read(entry), tosca, name)
            converted += 1
    print(f"{converted} converted, {refused} refused, {as_before} wrong as before, {len(wrong)} wrong")
    print("\n".join(wrong[:40]))
    return bool(wrong)


if __name__ == "__main__":
    sys.exit(main())
