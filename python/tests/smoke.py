"""Tries an installed wheel where there is nothing else: `python smoke.py`, or `python smoke.py WHEEL`
for one that is to be published, which also has to be small. Nothing of this repository is read."""

import os
import sys

import cuvee

TEMPLATE = """\
tosca_definitions_version: tosca_variability_1_0
topology_template:
  variability:
    inputs: { durable: { type: boolean } }
    presets: { prod: { inputs: { durable: true } } }
    options: { mode: semantic-loose }
  node_templates:
    shop: { type: Shop }
    backup: { type: Shop, conditions: { variability_input: durable } }
"""
PLAIN = """\
tosca_definitions_version: tosca_simple_yaml_1_3
topology_template:
  node_templates:
    shop: { type: Shop }
"""


def main() -> None:
    template = cuvee.Template(text=TEMPLATE)
    assert template.count()["count"] == "2"
    assert template.resolve(inputs={"durable": False}).yaml == PLAIN
    assert template.resolve(presets="prod").presence["node.backup"]
    assert template.explain("node.backup", presets="prod")["present"]
    try:
        template.resolve(presets="prd")
    except cuvee.CuveeError as error:
        assert error.diagnostics[0].help == "did you mean `prod`?"
    else:
        raise AssertionError("an unknown preset was taken")
    for wheel in sys.argv[1:]:
        size = os.path.getsize(wheel)
        assert size <= 6_000_000, f"{wheel} has {size} bytes, and may have 6 MB"
    print(f"cuvee {cuvee.__version__} works on Python {sys.version.split()[0]}")


main()
