# SPDX-License-Identifier: Apache-2.0
"""A parsed .dts source with the file and line of each node and property.

dtlib's tree has no source positions. Its lexer knows file and line while it reads, so this subclass
watches the tokens: a name followed by "{" opens a node, any other name is a property of the
innermost open node.
"""

import io
from pathlib import Path
from typing import Any, NoReturn

from devicetree import dtlib

from tessera.image import variants
from tessera.image.problems import BuildError, Place, Problems
from tessera.image.prop_types import suggest

MAX_INCLUDE_DEPTH = 16

# Exceptions that dtlib does not catch on malformed input, such as (1 << -1), 09 or a reference
# before the root node.
_MALFORMED = (ValueError, OverflowError, RecursionError, MemoryError, TypeError, AttributeError, LookupError)


class _SyntaxError(dtlib.DTError):
    """A parse error that already has its place."""

    def __init__(self, place: Place, message: str) -> None:
        super().__init__(message)
        self.place = place


class _Quoted(str):
    """The text of a string token. dtlib compares tokens by their text alone, so the string "<"
    would be parsed as a bracket; a _Quoted compares unequal to punctuation."""

    __hash__ = str.__hash__

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Quoted) and str(self) == str(other)

    def __ne__(self, other: object) -> bool:
        return not self == other


def _alike(path: Path) -> str:
    """A suggestion if another source has a similar name: one of this folder, or a benchmark's in
    systems/bench."""
    folders = (path.parent, path.parent / "bench")
    others = {other.stem for folder in folders for other in folder.glob("*.dts")}
    return suggest(path.stem, sorted(others.union(*map(variants.names, folders))))


class _Text(io.StringIO):
    """The text of a file with its name, for dtlib."""

    def __init__(self, name: str, text: str) -> None:
        super().__init__(text)
        self.name = name


class Source(dtlib.DT):
    """A parsed source. Raises BuildError, whose text names file and line, when it cannot be
    parsed."""

    _lexer_state: int  # dtlib's

    def __init__(self, filename: str) -> None:
        self.node_places: dict[dtlib.Node, Place] = {}
        self.prop_places: dict[tuple[dtlib.Node, str], Place] = {}
        self._problems = Problems()
        self._blocks: list[tuple[dtlib.Node, set[tuple[str, bool]]]] = []
        self._opened = Place(filename, 1)
        self._name: tuple[str, Place] | None = None
        self._deleting = False
        try:
            self._variant = variants.section(Path(filename))
            super().__init__(str(self._variant[0]) if self._variant else filename)
        except _SyntaxError as error:
            raise BuildError(f"{error.place.file}:{error.place.line}: {error}") from None
        except UnicodeDecodeError:
            raise BuildError(f"{filename}:1: expected UTF-8 text") from None
        except FileNotFoundError as error:
            raise BuildError(f"{filename}:1: cannot be read: {error.strerror}{_alike(Path(filename))}") from None
        except OSError as error:
            raise BuildError(f"{filename}:1: cannot be read: {error.strerror}") from None
        except dtlib.DTError as error:
            place = self._here()
            raise BuildError(f"{place.file}:{place.line}: {error}") from None
        except _MALFORMED:
            place = self._here()
            raise BuildError(f"{place.file}:{place.line}: syntax error: malformed number or reference") from None
        self._problems.raise_if_any()

    def place_of(self, node: dtlib.Node, prop: str = "") -> Place:
        """Returns the place at which `node` sets `prop`, or the start of the node if it does not
        set `prop`."""
        return self.prop_places.get((node, prop), self.node_places[node])

    # Watching the lexer's tokens

    def _here(self) -> Place:
        return Place(self.filename, self._lineno)

    def _next_token(self) -> Any:
        if self._saved_token is not None:
            return super()._next_token()
        state = self._lexer_state
        token = super()._next_token()
        if token.id == dtlib._T.STRING:
            self._lexer_state = state  # a string "[" or ";" must not change the lexer's state
            self._lineno += token.val.count("\n")  # dtlib does not count these lines
            token = token._replace(val=_Quoted(token.val))
        self._observe(token)
        return token

    def _observe(self, token: Any) -> None:
        if self._name is not None:
            name, place = self._name
            self._name = None
            self._define(name, place, is_node=token.val == "{")
        elif token.val == "/" and not self._blocks:
            self._opened = self._here()
        if token.id == dtlib._T.PROPNODENAME and not self._deleting:
            self._name = (token.val, self._here())
        self._deleting = token.id in (dtlib._T.DEL_NODE, dtlib._T.DEL_PROP)

    def _define(self, name: str, place: Place, is_node: bool) -> None:
        if not self._blocks:
            return
        node, seen = self._blocks[-1]
        if (name, is_node) in seen:
            # dtlib would merge them silently. Intended overrides are in another block, after the
            # included file.
            what = "node" if is_node else "property"
            self._problems.add(place, node.path, name, f"expected one {what} of this name in a block, got a second one")
        seen.add((name, is_node))
        if is_node:
            self._opened = place
        else:
            self.prop_places[(node, name)] = place

    def _parse_node(self, node: dtlib.Node) -> dtlib.Node:
        self.node_places.setdefault(node, self._opened)
        self._blocks.append((node, set()))
        try:
            return super()._parse_node(node)
        finally:
            self._blocks.pop()

    # Errors with their places

    def _parse_error(self, s: Any) -> NoReturn:
        if isinstance(s, _SyntaxError):
            raise s
        message = " ".join(str(s.strerror if isinstance(s, OSError) else s).split())
        raise _SyntaxError(self._here(), f"syntax error: {message}")

    def _parse_header(self) -> None:
        if self._variant:
            self._file_contents = self._variant[1]
        super()._parse_header()

    def _open(self, filename: str, *arguments: Any, **options: Any) -> Any:
        variant = variants.section(Path(self.filename).parent / filename)
        return _Text(str(variant[0]), variant[1]) if variant else super()._open(filename, *arguments, **options)

    def _enter_file(self, filename: str) -> None:
        if len(self._filestack) >= MAX_INCLUDE_DEPTH or filename == "-":
            self._parse_error(f"expected files included {MAX_INCLUDE_DEPTH} deep at most (does one include itself?)")
        super()._enter_file(filename)

    def _fixup_props(self) -> None:
        """Reports every reference to an unknown label with its line; dtlib stops at the first,
        without a line."""
        for node in self.node_iter():
            for prop in node.props.values():
                for _, kind, label in prop._markers:
                    if kind in (dtlib._MarkerType.PATH, dtlib._MarkerType.PHANDLE):
                        self._check_reference(prop, label)
        self._problems.raise_if_any()
        super()._fixup_props()

    def _check_reference(self, prop: dtlib.Property, label: str) -> None:
        try:
            self._ref2node(label)
        except dtlib.DTError:
            place = self.place_of(prop.node, prop.name)
            self._problems.add(place, prop.node.path, prop.name, f"expected the label of a node, got &{label}")

    def _register_labels(self) -> None:
        owners: dict[str, dtlib.Node] = {}
        for node in self.node_iter():
            for label in node.labels:
                if owners.setdefault(label, node) is not node:
                    message = f"expected a label that no other node has, got {label}, which {owners[label].path} has"
                    self._problems.add(self.place_of(node), node.path, "", message)
        self._problems.raise_if_any()
        super()._register_labels()
