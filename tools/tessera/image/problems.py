# SPDX-License-Identifier: Apache-2.0
"""The problems of a source, collected so that one run reports all of them."""

from dataclasses import dataclass, field


@dataclass(frozen=True, order=True)
class Place:
    """A line of a source file."""

    file: str
    line: int


class BuildError(Exception):
    """The build cannot continue. The message has one line per problem."""


@dataclass
class Problems:
    """Collects problems of a system; `raise_if_any` ends the build with all of them."""

    found: list[tuple[Place, str]] = field(default_factory=list)

    def add(self, place: Place, path: str, prop: str, message: str) -> None:
        """Adds a problem at `place`, of the node `path`, and of its property `prop` unless that is
        empty."""
        where = f"{path}: {prop}: " if prop else f"{path}: "
        self.found.append((place, where + message))

    def lines(self) -> list[str]:
        """Returns one line per problem, in the order of the source, without duplicates."""
        ordered = sorted(dict.fromkeys(self.found), key=lambda problem: problem[0])
        return [f"{place.file}:{place.line}: {message}" for place, message in ordered]

    def raise_if_any(self) -> None:
        if self.found:
            raise BuildError("\n".join(self.lines()))
