"""A notebook shows drawings."""

from __future__ import annotations

import base64
import re
from xml.etree import ElementTree

import pytest
from cases import ROOT

import cuvee

IPython = pytest.importorskip("IPython.core.formatters")


@pytest.mark.parametrize("presets", [[], ["prod"]])
def test_a_notebook_shows_a_drawing(presets: list[str]) -> None:
    drawing = cuvee.Template(ROOT / "examples" / "shop").graph(presets=presets)
    formatter = IPython.DisplayFormatter()
    formatter.active_types = formatter.format_types
    shown, _ = formatter.format(drawing)
    root = ElementTree.fromstring(shown["image/svg+xml"])
    assert root.tag == "{http://www.w3.org/2000/svg}svg"
    assert {"shop", "managed_dbms"} <= set(re.findall(r">([\w.]+)<", drawing.svg))
    image = ElementTree.fromstring(shown["text/html"])
    kind, _, content = image.attrib["src"].partition(",")
    assert kind == "data:image/svg+xml;base64"
    assert base64.b64decode(content).decode() == drawing.svg
    assert "shop, checkout" in image.attrib["alt"]


def test_names_are_text() -> None:
    text = """\
tosca_definitions_version: tosca_simple_yaml_1_3
topology_template:
  node_templates:
    '"><script>alert(1)</script>': {type: T}
"""
    drawing = cuvee.Template(text=text).graph()
    assert "<script" not in drawing._repr_html_()
    assert "<script" not in drawing._repr_svg_()
