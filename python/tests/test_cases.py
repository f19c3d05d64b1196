"""Resolving gives the bytes of the command, and what the cases expect."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path
from typing import Any

import pytest
import yaml
from cases import ROOT, Case, cases

import cuvee

# Every so many cases; the same wheel gives all of their bytes on another version of Python.
CASES = cases()[:: int(os.environ.get("CUVEE_EVERY", "1"))]
COMMAND = os.environ.get("CUVEE")
PAGE = Path(ROOT, "docs", "codes.md").read_text(encoding="utf-8")
CODES = {line[4:-1] for line in PAGE.splitlines() if line.startswith("## `")}


def _resolved(case: Case) -> cuvee.Resolution:
    template = cuvee.Template(case.template)
    return template.resolve(
        presets=case.presets, inputs=case.inputs, options=case.options, now=case.now
    )


@pytest.mark.parametrize("case", CASES, ids=lambda case: str(case.directory.relative_to(ROOT)))
def test_case(case: Case) -> None:
    try:
        resolution = _resolved(case)
    except cuvee.CuveeError as error:
        assert case.error, error
        assert error.diagnostics and str(error).startswith(("error[", "warning["))
        if case.error in CODES:
            assert case.error in [found.code for found in error.diagnostics]
        _same_failure(case, error)
        return
    assert not case.error
    if case.expected is not None and not case.changed:
        text = case.expected.read_bytes().decode()
        assert resolution.yaml == text or _data(resolution.yaml) == _data(text)
    _same_result(case, resolution)


def _command(case: Case) -> subprocess.CompletedProcess[bytes]:
    assert COMMAND
    arguments = [COMMAND, "resolve", *case.arguments(), "--message-format", "json"]
    environment = {name: os.environ[name] for name in os.environ if not name.startswith("CUVEE")}
    return subprocess.run(arguments, capture_output=True, env=environment, check=False)


def _same_result(case: Case, resolution: cuvee.Resolution) -> None:
    if COMMAND:
        result = _command(case)
        assert (result.returncode, result.stdout) == (0, resolution.yaml.encode())
        assert _told(result.stderr) == _found(resolution.warnings)


def _same_failure(case: Case, error: cuvee.CuveeError) -> None:
    if COMMAND:
        result = _command(case)
        assert (result.returncode, result.stdout) == (1, b"")
        assert _told(result.stderr) == _found(error.diagnostics)


def _told(lines: bytes) -> list[tuple[Any, ...]]:
    """Everything but the help, at the end of which the command counts the other errors."""
    found = [json.loads(line) for line in lines.splitlines()]
    keys = ("severity", "code", "message", "file", "line", "column")
    return [tuple(each[key] for key in keys) for each in found]


def _found(found: Any) -> list[tuple[Any, ...]]:
    return [(it.severity, it.code, it.message, it.file, it.line, it.column) for it in found]


def _data(text: str) -> Any:
    """A document as data, in which the order of keys does not count, and `1` is `1.0`."""
    return _plain(yaml.compose(text, Loader=yaml.SafeLoader))


def _plain(node: Any) -> Any:
    if isinstance(node, yaml.MappingNode):
        return "map", frozenset((_plain(key), _plain(value)) for key, value in node.value)
    if isinstance(node, yaml.SequenceNode):
        return "list", tuple(map(_plain, node.value))
    if node.tag.endswith((":int", ":float")):
        return "number", float(yaml.safe_load(node.value))
    return node.tag, "" if node.tag.endswith(":null") else node.value
