"""The cases of `examples` and `tests/conformance`, as `cuvee test` reads them."""

from __future__ import annotations

import datetime
import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Optional

import yaml

ROOT = Path(__file__).resolve().parents[2]
TEMPLATES = ("variable-service-template.yaml", "service-template.yaml", "template.yaml", "vst.yaml")


@dataclass(frozen=True)
class Case:
    """Inputs, and what resolving with them has to give."""

    directory: Path
    template: Path
    presets: list[str]
    inputs: list[Path]
    options: dict[str, Any]
    now: Optional[datetime.datetime]
    expected: Optional[Path]
    error: Optional[str]
    changed: bool

    def arguments(self) -> list[str]:
        """What the command is given for this case."""
        flags = [f"--preset={name}" for name in self.presets]
        flags += [f"--inputs={path}" for path in self.inputs]
        flags += [f"--option={name}={json.dumps(value)}" for name, value in self.options.items()]
        if self.now is not None:
            flags.append(f"--now={self.now.isoformat()}")
        return [str(self.template), *flags]


def cases() -> list[Case]:
    """All cases, in the order of their paths."""
    roots = [*(ROOT / "examples").iterdir(), ROOT / "tests" / "conformance"]
    found = [case for root in roots for case in map(_case, root.rglob("*")) if case is not None]
    return sorted(found, key=lambda case: case.directory)


def _case(directory: Path) -> Optional[Case]:
    settings = _settings(directory / "test.yaml")
    template = _first(directory, TEMPLATES)
    expected = _first(directory, ("est.yaml", "expected.yaml"))
    if not directory.is_dir() or settings is None and (template is None or expected is None):
        return None
    settings = settings or {}
    owner = directory.parent.parent if directory.parent.name == "tests" else directory
    places = owner if _first(owner, TEMPLATES) else directory
    named = (settings["template"],) if "template" in settings else TEMPLATES
    found = _first(places, named) or _first(directory, named)
    assert found is not None, directory
    inputs = _list(settings.get("inputs")) or [
        name for name in ("inputs.yaml", "inputs.xml") if (directory / name).is_file()
    ][:1]
    now = settings.get("now")
    return Case(
        directory=directory,
        template=found,
        presets=_list(settings.get("presets")),
        inputs=[directory / name for name in inputs],
        options={name: yaml.safe_load(it) for name, it in settings.get("options", {}).items()},
        now=None if now is None else _moment(now),
        expected=directory / settings["expected"] if "expected" in settings else expected,
        error=settings.get("error"),
        # What is resolved is changed before it is compared.
        changed="replace" in settings or "merge" in settings,
    )


class _Words(yaml.SafeLoader):
    """Reads every scalar as the text that it is written as."""

    yaml_implicit_resolvers: Any = {}


def _settings(path: Path) -> Any:
    if not path.is_file():
        return None
    return yaml.load(path.read_text(encoding="utf-8"), Loader=_Words) or {}


def _first(directory: Path, names: tuple[str, ...]) -> Optional[Path]:
    return next((directory / name for name in names if (directory / name).exists()), None)


def _list(value: Any) -> list[Any]:
    if value is None:
        return []
    return value if isinstance(value, list) else [value]


def _moment(text: str) -> datetime.datetime:
    moment = datetime.datetime.fromisoformat(text)
    return moment if moment.tzinfo else moment.replace(tzinfo=datetime.timezone.utc)
