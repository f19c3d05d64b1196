"""What the page about Python shows is what happens."""

from __future__ import annotations

import contextlib
import io
import re
import shutil
from pathlib import Path

import pytest
from cases import ROOT

PAGE = ROOT / "docs" / "python.md"
BLOCK = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def _run(page: str) -> list[tuple[str, str]]:
    """Runs the code of a page: what each block should print, and what it prints."""
    names: dict[str, object] = {}
    printed, told = "", []
    for language, text in BLOCK.findall(page):
        if language == "python":
            out = io.StringIO()
            with contextlib.redirect_stdout(out):
                exec(compile(text, str(PAGE), "exec"), names)
            printed = out.getvalue()
        elif language == "text":
            told.append((text, printed))
            printed = ""
        assert language in ("python", "text") or not printed
    return told


def test_the_page_shows_what_happens(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    shutil.copytree(ROOT / "examples" / "shop", tmp_path / "examples" / "shop")
    monkeypatch.chdir(tmp_path)
    told = _run(PAGE.read_text(encoding="utf-8"))
    assert len(told) > 5
    for shown, printed in told:
        assert printed == shown
    assert (tmp_path / "deployed" / "prod" / "lib" / "types.yaml").is_file()
