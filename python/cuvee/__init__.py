"""Resolves Variability4TOSCA: one service template for every variant of a deployment.

>>> import cuvee
>>> shop = cuvee.Template("examples/shop")
>>> resolution = shop.resolve(presets=["prod"])
>>> resolution.presence["node.managed_dbms"]
True
>>> shop.count()["count"]
'459'

Each question reads the files anew, and so sees what has changed. It raises `CuveeError` where there
is no answer. Its answer is plain data, equal to what the command `cuvee` writes as JSON. While it is
computed, other threads run, and Ctrl-C ends it.
"""

from __future__ import annotations

import base64
import datetime
import html
import json
import math
import operator
import os
import re
import secrets
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple, Optional, Union

from . import _cuvee
from ._cuvee import __version__

__all__ = [
    "CuveeError",
    "CuveeWarning",
    "Diagnostic",
    "Drawing",
    "Fix",
    "Label",
    "Resolution",
    "Template",
    "Validation",
    "__version__",
]

Inputs = Union[Mapping[str, object], str, "os.PathLike[str]"]
"""Values of inputs by their names, or a file of inputs: YAML, JSON, or XML of FeatureIDE."""

Progress = Callable[[str], object]
"""What is called with the name of each phase."""


@dataclass(frozen=True)
class Label:
    """A place that is related to a diagnostic, and how."""

    file: str
    line: int
    column: int
    message: str


@dataclass(frozen=True)
class Fix:
    """A change that removes a diagnostic: `replacement` for the bytes from `start` to `end`."""

    file: str
    line: int
    column: int
    start: int
    end: int
    replacement: str


@dataclass(frozen=True)
class Diagnostic:
    """What is wrong, or may be. `cuvee explain-code` and docs/codes.md explain each code.

    Lines and columns begin at 1; they are `None`, as the file is, for what has no place in a file.
    """

    severity: str
    code: str
    message: str
    file: Optional[str]
    line: Optional[int]
    column: Optional[int]
    labels: tuple[Label, ...] = ()
    help: Optional[str] = None
    section: Optional[str] = None
    fix: Optional[Fix] = None

    def __str__(self) -> str:
        place = "" if self.file is None else f"{self.file}:{self.line}:{self.column}: "
        return f"{place}{self.severity}[{self.code}]: {self.message}"


class CuveeError(Exception):
    """There is no answer. The message shows what is wrong as the command does, line and help
    included; `diagnostics` has the same as data."""

    diagnostics: list[Diagnostic]

    def __init__(self, message: str, diagnostics: Sequence[Diagnostic] = ()) -> None:
        super().__init__(message, diagnostics)
        self.diagnostics = list(diagnostics)

    def __str__(self) -> str:
        return str(self.args[0])


class CuveeWarning(UserWarning):
    """What may be wrong though there is an answer."""


@dataclass(frozen=True)
class Validation:
    """What is wrong with a template. It is `valid` where no error is among the diagnostics."""

    valid: bool
    diagnostics: tuple[Diagnostic, ...]
    _json: str = field(repr=False, compare=False)

    def to_dict(self) -> dict[str, Any]:
        """The document that `cuvee validate --format json` writes."""
        return _dict(self._json)


@dataclass(frozen=True)
class Resolution:
    """A variant: the plain template, and which elements are present in it.

    It is `proven` to be the best one unless a `timeout` came first.
    """

    yaml: str = field(repr=False)
    presence: Mapping[str, bool] = field(repr=False)
    proven: bool
    warnings: tuple[Diagnostic, ...]
    _variant: _cuvee.Variant = field(repr=False, compare=False)

    def __str__(self) -> str:
        return self.yaml

    def to_dict(self) -> dict[str, Any]:
        """The template as data, as `cuvee resolve --format json` writes it."""
        return _dict(self._variant.json())

    def files(self) -> dict[str, bytes]:
        """The template, the files that it names, and those that these name, by their paths below a
        directory that they have in common. The template comes first."""
        return {path.as_posix(): content for path, content in self._variant.files()}

    def csar(self) -> bytes:
        """An archive of the template, with the files of the directory or archive that it is from."""
        return self._variant.csar()

    def write(self, directory: Union[str, os.PathLike[str]]) -> list[Path]:
        """Writes `files` into a directory, each as a whole, and returns their paths, the template
        first. No file is written that was read."""
        target = Path(directory)
        written = [(target / path, content) for path, content in self.files().items()]
        read = {os.path.realpath(path) for path in self._variant.sources()}
        for path, _ in written:
            if os.path.realpath(path) in read:
                raise FileExistsError(f"`{path}` was read, and would be overwritten")
        for path, content in written:
            path.parent.mkdir(parents=True, exist_ok=True)
            _replace(path, content)
        return [path for path, _ in written]


@dataclass(frozen=True)
class Drawing:
    """A topology as a picture, which notebooks show, and as text for other tools."""

    svg: str = field(repr=False)
    mermaid: str = field(repr=False)
    dot: str = field(repr=False)
    _json: str = field(repr=False, compare=False)

    def to_dict(self) -> dict[str, Any]:
        """The document that `cuvee graph --format json` writes."""
        return _dict(self._json)

    def _repr_svg_(self) -> str:
        return self.svg

    def _repr_html_(self) -> str:
        # As an image, so that styles of the page and of the drawing do not meet.
        image = base64.b64encode(self.svg.encode()).decode()
        nodes = [html.escape(str(node["name"])) for node in self.to_dict()["nodes"]]
        alternative = f"Topology with the nodes {', '.join(nodes)}"
        source = f"data:image/svg+xml;base64,{image}"
        return f'<img src="{source}" alt="{alternative}" style="max-width: 100%"/>'


class Template:
    """A service template: a file, a directory that holds one under its usual name, or an archive.

    With `text`, that is the template, and `path` what messages call it and where its imports are
    looked for. With `files`, these are all files there are, by their paths, and none is read
    from the system. A template never changes, and threads may share it.

    Questions are asked of the variant, or of the variants, that these leave:

    presets: names of variability presets, or one name; later ones win.
    inputs: values by names, or a file of inputs, or several of these; later ones win, and values
        win over files. Questions about all variants leave open what has no value.
    options: variability options by names; they win over those of the template.
    now: the time for conditions that ask for it, with a time zone; else the present.
    progress: is called with the name of each phase. An exception of it ends the question.
    """

    __slots__ = ("_path", "_template")

    _path: str
    _template: _cuvee.Template

    def __init__(
        self,
        path: Union[str, os.PathLike[str], None] = None,
        *,
        text: Optional[str] = None,
        files: Optional[Mapping[str, Union[str, bytes]]] = None,
    ) -> None:
        if path is None and text is None:
            raise TypeError("a template has a `path` or a `text`")
        name = "<text>" if path is None else _path(path)
        contents = None if files is None else {_path(name): _bytes(files[name]) for name in files}
        object.__setattr__(self, "_path", name)
        object.__setattr__(self, "_template", _cuvee.Template(name, text, contents))

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError(f"a template never changes, so `{name}` cannot be set")

    def __delattr__(self, name: str) -> None:
        raise AttributeError(f"a template never changes, so `{name}` cannot be deleted")

    def __repr__(self) -> str:
        return f"Template({self._path!r})"

    def resolve(
        self,
        *,
        presets: Union[str, Sequence[str]] = (),
        inputs: Union[Inputs, Sequence[Inputs], None] = None,
        options: Optional[Mapping[str, object]] = None,
        now: Optional[datetime.datetime] = None,
        timeout: Union[float, datetime.timedelta, None] = None,
        progress: Optional[Progress] = None,
    ) -> Resolution:
        """Resolves one variant. After `timeout`, in seconds, the best that was found by then is
        taken, and may not be `proven`; where none was found, that is a `CuveeError`."""
        choice = _choice(presets, inputs, options, now, progress)
        variant = self._template.resolve(choice, _time(timeout))
        presence = MappingProxyType(dict(variant.presence()))
        found = _diagnostics(variant.warnings())
        return Resolution(variant.yaml(), presence, variant.proven(), found, variant)

    def validate(
        self,
        *,
        presets: Union[str, Sequence[str]] = (),
        inputs: Union[Inputs, Sequence[Inputs], None] = None,
        options: Optional[Mapping[str, object]] = None,
        now: Optional[datetime.datetime] = None,
        strict: bool = False,
        portable: bool = False,
        non_normative: bool = False,
        progress: Optional[Progress] = None,
    ) -> Validation:
        """Finds everything that is wrong, in all variants or in the one that is chosen. With
        `strict`, warnings are errors; `portable` adds notes on what orchestrators refuse;
        `non_normative` knows the types of chapter 9 of TOSCA."""
        choice = _choice(presets, inputs, options, now, progress)
        text, valid = self._template.validate(choice, strict, portable, non_normative)
        found = tuple(map(_diagnostic, _dict(text)["findings"]))
        return Validation(valid, found, text)

    def variants(
        self,
        *,
        presets: Union[str, Sequence[str]] = (),
        inputs: Union[Inputs, Sequence[Inputs], None] = None,
        options: Optional[Mapping[str, object]] = None,
        now: Optional[datetime.datetime] = None,
        where: Sequence[str] = (),
        limit: int = 100,
        sample: Optional[int] = None,
        seed: int = 0,
        cover: Optional[int] = None,
        minimize: Optional[str] = None,
        all_presets: bool = False,
        projection: str = "all",
        progress: Optional[Progress] = None,
    ) -> dict[str, Any]:
        """Lists variants: at most `limit`; or a random `sample`; or few that `cover` all
        combinations of so many inputs; or those that `minimize` "weight", "count" or
        "technologies"; or those of `all_presets`. Conditions in `where`, in YAML, hold in all."""
        listed = _Listed(
            limit=_number("limit", limit),
            projection=projection,
            conditions=_texts("where", where),
            sample=None if sample is None else _number("sample", sample),
            seed=_number("seed", seed),
            cover=None if cover is None else _number("cover", cover),
            minimize=minimize,
            all_presets=bool(all_presets),
        )
        choice = _choice(presets, inputs, options, now, progress)
        return _told(self._template.variants(choice, listed))

    def count(
        self,
        *,
        presets: Union[str, Sequence[str]] = (),
        inputs: Union[Inputs, Sequence[Inputs], None] = None,
        options: Optional[Mapping[str, object]] = None,
        now: Optional[datetime.datetime] = None,
        where: Sequence[str] = (),
        projection: str = "all",
        effort: Optional[int] = None,
        progress: Optional[Progress] = None,
    ) -> dict[str, Any]:
        """Counts variants exactly, or at least so many if that takes more steps than `effort`."""
        listed = _Listed(
            projection=projection,
            conditions=_texts("where", where),
            effort=None if effort is None else _number("effort", effort),
        )
        choice = _choice(presets, inputs, options, now, progress)
        return _told(self._template.count(choice, listed))

    def explain(
        self,
        name: str,
        *,
        presets: Union[str, Sequence[str]] = (),
        inputs: Union[Inputs, Sequence[Inputs], None] = None,
        options: Optional[Mapping[str, object]] = None,
        now: Optional[datetime.datetime] = None,
        progress: Optional[Progress] = None,
    ) -> dict[str, Any]:
        """Says why an element such as `node.shop` is present or absent, and what would change it."""
        choice = _choice(presets, inputs, options, now, progress)
        return _told(self._template.explain(choice, name))

    def inputs(
        self,
        *,
        presets: Union[str, Sequence[str]] = (),
        inputs: Union[Inputs, Sequence[Inputs], None] = None,
        options: Optional[Mapping[str, object]] = None,
        now: Optional[datetime.datetime] = None,
        progress: Optional[Progress] = None,
    ) -> dict[str, Any]:
        """Lists the inputs, the cases that conditions tell apart, and what each influences."""
        choice = _choice(presets, inputs, options, now, progress)
        return _told(self._template.inputs(choice))

    def matrix(
        self,
        *,
        presets: Union[str, Sequence[str]] = (),
        inputs: Union[Inputs, Sequence[Inputs], None] = None,
        options: Optional[Mapping[str, object]] = None,
        now: Optional[datetime.datetime] = None,
        all_elements: bool = False,
        progress: Optional[Progress] = None,
    ) -> dict[str, Any]:
        """Tells which nodes, or `all_elements`, are present with which preset."""
        choice = _choice(presets, inputs, options, now, progress)
        return _told(self._template.matrix(choice, bool(all_elements)))

    def types(
        self,
        name: Optional[str] = None,
        *,
        options: Optional[Mapping[str, object]] = None,
        non_normative: bool = False,
        progress: Optional[Progress] = None,
    ) -> dict[str, Any]:
        """Lists types, or tells what the type with a name effectively is and where from."""
        choice = _choice((), None, options, None, progress)
        return _told(self._template.types(choice, name, bool(non_normative)))

    def diff(
        self,
        other: Optional[Template] = None,
        *,
        before: Union[str, Sequence[str]] = (),
        after: Union[str, Sequence[str]] = (),
        presets: Union[str, Sequence[str]] = (),
        inputs: Union[Inputs, Sequence[Inputs], None] = None,
        options: Optional[Mapping[str, object]] = None,
        now: Optional[datetime.datetime] = None,
        progress: Optional[Progress] = None,
    ) -> dict[str, Any]:
        """Compares the variant with the presets `before` and the one with those `after`, of this
        template, or of this one and an `other`. What else is chosen counts for both."""
        if other is not None and not isinstance(other, Template):
            raise TypeError(f"`other` is a template, not {type(other).__name__}")
        sides = (_texts("before", before), _texts("after", after))
        names = (
            tuple(",".join(side) or None for side in sides)
            if other is None
            else (self._path, other._path)
        )
        choice = _choice(presets, inputs, options, now, progress)
        right = self._template if other is None else other._template
        return _told(self._template.diff(choice, right, sides, (names[0], names[1])))

    def graph(
        self,
        *,
        presets: Union[str, Sequence[str]] = (),
        inputs: Union[Inputs, Sequence[Inputs], None] = None,
        options: Optional[Mapping[str, object]] = None,
        now: Optional[datetime.datetime] = None,
        present_only: bool = False,
        progress: Optional[Progress] = None,
    ) -> Drawing:
        """Draws the topology; with presets or inputs, the variant in it, or `present_only` that."""
        choice = _choice(presets, inputs, options, now, progress)
        svg, mermaid, dot, (text, found) = self._template.graph(choice, bool(present_only))
        _warn(found)
        return Drawing(svg, mermaid, dot, text)


class _Choice(NamedTuple):
    presets: Sequence[str]
    inputs: Sequence[tuple[Optional[str], str]]
    options: Sequence[tuple[str, str]]
    now: str
    progress: Optional[Progress]


class _Listed(NamedTuple):
    limit: Optional[int] = None
    projection: str = "all"
    conditions: Sequence[str] = ()
    sample: Optional[int] = None
    seed: int = 0
    cover: Optional[int] = None
    minimize: Optional[str] = None
    all_presets: bool = False
    effort: Optional[int] = None


def _choice(
    presets: Union[str, Sequence[str]],
    inputs: Union[Inputs, Sequence[Inputs], None],
    options: Optional[Mapping[str, object]],
    now: Optional[datetime.datetime],
    progress: Optional[Progress],
) -> _Choice:
    if progress is not None and not callable(progress):
        raise TypeError(f"`progress` is called, and {type(progress).__name__} cannot be")
    return _Choice(
        _texts("presets", presets),
        _inputs(inputs),
        _values("options", {} if options is None else options),
        _moment(now),
        progress,
    )


def _inputs(inputs: Union[Inputs, Sequence[Inputs], None]) -> list[tuple[Optional[str], str]]:
    """Each input with its name, and each file without one."""
    if inputs is None:
        return []
    if isinstance(inputs, Mapping):
        return list(_values("inputs", inputs))
    if isinstance(inputs, (str, os.PathLike)):
        return [(None, _path(inputs))]
    return [each for part in inputs for each in _inputs(part)]


def _values(what: str, values: Mapping[str, object]) -> list[tuple[str, str]]:
    if not isinstance(values, Mapping):
        raise TypeError(f"`{what}` are values by names, not {type(values).__name__}")
    return [(_text(what, name), _written(name, value)) for name, value in values.items()]


def _written(name: str, value: object) -> str:
    """A value in JSON that YAML reads as the same: it has no other escapes for what cannot be
    printed, and no pairs of escapes for one character."""
    try:
        text = json.dumps(value, ensure_ascii=False, allow_nan=False)
    except (TypeError, ValueError) as error:
        raise type(error)(f"the value of `{name}`: {error}") from None
    return _UNPRINTED.sub(lambda found: f"\\u{ord(found[0]):04x}", _encodable(text))


_UNPRINTED = re.compile("[\x7f-\x9f\u2028\u2029\ufeff\ufffe\uffff]")


def _moment(now: Optional[datetime.datetime]) -> str:
    moment = datetime.datetime.now().astimezone() if now is None else now
    if not isinstance(moment, datetime.datetime):
        raise TypeError(f"`now` is a datetime, not {type(now).__name__}")
    if moment.utcoffset() is None:
        raise ValueError("`now` needs a time zone: `now.astimezone()` takes that of the system")
    return moment.isoformat()


def _time(timeout: Union[float, datetime.timedelta, None]) -> Optional[datetime.timedelta]:
    if timeout is None:
        return None
    if isinstance(timeout, datetime.timedelta):
        timeout = timeout.total_seconds()
    if not isinstance(timeout, (int, float)):
        raise TypeError(f"`timeout` is a number of seconds, not {type(timeout).__name__}")
    if not 0 <= timeout < math.inf:
        raise ValueError(f"`timeout` is a time, which {timeout} is not")
    return min(datetime.timedelta(days=1000), datetime.timedelta(seconds=min(timeout, 1e8)))


def _number(name: str, value: int) -> int:
    """A number that Rust can hold; whether it makes sense there is judged there."""
    number = operator.index(value)
    if not 0 <= number < 2**63:
        raise ValueError(f"`{name}` is between 0 and 2**63 - 1, not {number}")
    return number


def _text(what: str, text: object) -> str:
    if not isinstance(text, str):
        raise TypeError(f"what is in `{what}` are strings, not {type(text).__name__}")
    return _encodable(text)


def _encodable(text: str) -> str:
    """A text that can be written as UTF-8; half a pair of surrogates cannot: a `ValueError`."""
    text.encode()
    return text


def _texts(what: str, texts: Union[str, Sequence[str]]) -> list[str]:
    """A text alone stands for a list of one."""
    return [_text(what, text) for text in ([texts] if isinstance(texts, str) else texts)]


def _path(path: Union[str, os.PathLike[str]]) -> str:
    text = os.fspath(path)
    if not isinstance(text, str):
        raise TypeError(f"a path is a string, not {type(text).__name__}")
    return text


def _bytes(content: Union[str, bytes]) -> bytes:
    return content.encode() if isinstance(content, str) else bytes(content)


def _replace(path: Path, content: bytes) -> None:
    """Writes a file as a whole: who reads it meanwhile sees the old one."""
    half = path.with_name(f".{path.name}.{secrets.token_hex(4)}")
    try:
        with open(half, "xb") as file:
            file.write(content)
        os.replace(half, path)
    except BaseException:
        half.unlink()
        raise


def _dict(text: str) -> dict[str, Any]:
    value: dict[str, Any] = json.loads(text, object_hook=_object)
    return value


# Numbers that JSON does not have, by their texts.
_NUMBERS = {".inf": math.inf, "-.inf": -math.inf, ".nan": math.nan}


def _object(entries: dict[str, Any]) -> Any:
    """An object of JSON, or the number that one stands for: `{"$number": ".inf"}`."""
    text = entries.get("$number") if len(entries) == 1 else None
    if not isinstance(text, str):
        return entries
    try:
        return _NUMBERS[text] if text in _NUMBERS else int(text)
    except ValueError:
        return entries


def _told(told: tuple[str, str]) -> dict[str, Any]:
    text, found = told
    _warn(found)
    return _dict(text)


def _warn(lines: str) -> None:
    for found in _diagnostics(lines):
        # The level of whoever asked: above this function, `_told`, and the question.
        warnings.warn(str(found), CuveeWarning, stacklevel=4)


def _diagnostics(lines: str) -> tuple[Diagnostic, ...]:
    return tuple(_diagnostic(json.loads(line)) for line in lines.splitlines())


def _diagnostic(found: dict[str, Any]) -> Diagnostic:
    labels = tuple(Label(**label) for label in found.pop("labels"))
    fix = found.pop("fix", None)
    return Diagnostic(**found, labels=labels, fix=None if fix is None else Fix(**fix))


def _error(message: str, lines: str) -> CuveeError:
    return CuveeError(message.rstrip(), _diagnostics(lines))
