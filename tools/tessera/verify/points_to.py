# SPDX-License-Identifier: Apache-2.0
"""
Which functions a call through a pointer can reach: an analysis of assignments, in no order, until
no pointer can hold anything more.

All structures of a type share one slot for each field. Only a call through a field of constant
objects is limited to their own functions: so a scheduling class that wraps another one does not
call itself.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import NamedTuple


class Atom(NamedTuple):
    """
    What a pointer can hold: a value, or what a slot holds.

    fn       a function: `owner` is its file if it is static, otherwise empty
    at       the address of a variable, or of an array's elements
    atfield  the address of a field
    any      unknown

    var      a variable, or the elements of an array: `owner` is its file if it is static, also its
             place if it is local
    field    a field: `owner` is the place of the structure's definition
    param    parameter `number` of function `owner`, `name`
    ret      what function `owner`, `name` returns
    deref    where the atom `of` points to
    """

    kind: str
    owner: str = ""
    name: str = ""
    number: int = 0
    of: "Atom | None" = None

    @property
    def is_slot(self) -> bool:
        return self.kind in ("var", "field", "param", "ret", "deref")

    def behind(self) -> "Atom":
        """Returns the slot that a pointer with this value points to."""
        if self.is_slot:
            return Atom("deref", of=self)
        kinds = {"at": "var", "atfield": "field"}
        return self._replace(kind=kinds[self.kind]) if self.kind in kinds else ANY

    def address(self) -> "Atom":
        """Returns the address of this slot."""
        kinds = {"var": "at", "field": "atfield"}
        return self._replace(kind=kinds[self.kind]) if self.kind in kinds else self.of or ANY


ANY = Atom("any")
Values = frozenset[Atom]
NOTHING: Values = frozenset()


class Call(NamedTuple):
    """A call through a pointer, in the lines `first` to `last` of a file. `base` is the address of
    the structure, if a field is called."""

    file: str
    first: int
    last: int
    callee: Values
    base: Values
    arguments: tuple[Values, ...]


@dataclass
class Facts:
    """What sources assign and call."""

    holds: dict[Atom, set[Atom]] = field(default_factory=lambda: defaultdict(set))
    # The initializers of a constant variable's fields.
    constants: dict[tuple[Atom, Atom], set[Atom]] = field(default_factory=lambda: defaultdict(set))
    calls: set[Call] = field(default_factory=set)
    called: set[Atom] = field(default_factory=set)  # functions that are called by name
    parameters: set[Atom] = field(default_factory=set)  # of all functions


class Solution:
    """What each slot can hold."""

    def __init__(self, facts: Facts) -> None:
        self._facts = facts
        self._assigned = self._assignments()
        mentioned = set(self._mentioned())
        self._reads = {atom for one in mentioned for atom in _with_inner(one) if atom.kind == "deref"}
        known = {(atom.owner, atom.name) for atom in facts.called | mentioned if atom.kind == "fn"}
        for slot in facts.parameters:
            if (slot.owner, slot.name) not in known:  # called by assembly alone
                self._assigned[slot].add(ANY)
        self._held: dict[Atom, set[Atom]] = defaultdict(set)
        # A structure with an unknown address is any of its type, but only after all addresses that
        # are known have reached the call.
        for self._finds_unknown in (False, True):
            while self._step():
                pass

    def targets(self, call: Call) -> set[Atom]:
        """Returns the functions that the call can reach, and ANY if there may be others."""
        found: set[Atom] = set()
        for atom in call.callee:
            own = self._of_constants(atom, call.base) if atom.kind == "field" else None
            found |= self._values([atom] if own is None else own)
        return {atom for atom in found if atom.kind in ("fn", "any")}

    def _assignments(self) -> dict[Atom, set[Atom]]:
        assigned: dict[Atom, set[Atom]] = defaultdict(set)
        for slot, values in self._facts.holds.items():
            assigned[slot] |= values
        for (_, slot), values in self._facts.constants.items():
            assigned[slot] |= values
        return assigned

    def _mentioned(self) -> Iterator[Atom]:
        for slot, values in self._assigned.items():
            yield from (slot, *values)
        for call in self._facts.calls:
            yield from call.callee.union(call.base, *call.arguments)

    def _values(self, atoms: Iterable[Atom]) -> set[Atom]:
        found: set[Atom] = set()
        for atom in atoms:
            found |= self._held[atom] if atom.is_slot else {atom}
        return found

    def _of_constants(self, slot: Atom, base: Values) -> set[Atom] | None:
        """Returns what is stored in a field of the constant variables that `base` points to, or None
        if it may point elsewhere."""
        objects = self._values(base)
        if not objects and not self._finds_unknown:
            return set()
        if not objects or any((thing, slot) not in self._facts.constants for thing in objects):
            return None
        return {value for thing in objects for value in self._facts.constants[thing, slot]}

    def _slots(self, pointer: Atom | None) -> set[Atom]:
        """Returns the slots that a pointer points to."""
        return {value.behind() for value in self._values([pointer or ANY])}

    def _step(self) -> bool:
        """Carries out each assignment once. Returns whether a slot can hold more than before."""
        more = [self._add({slot}, self._values(self._slots(slot.of))) for slot in self._reads]
        for slot, values in self._assigned.items():
            more.append(self._add(self._slots(slot.of) if slot.kind == "deref" else {slot}, self._values(values)))
        for call in self._facts.calls:
            for function in self.targets(call):
                for number, argument in enumerate(call.arguments):
                    slot = Atom("param", function.owner, function.name, number)
                    more.append(self._add({slot}, self._values(argument)))
        return any(more)

    def _add(self, slots: set[Atom], values: set[Atom]) -> bool:
        more = any(not values <= self._held[slot] for slot in slots)
        for slot in slots:
            self._held[slot] |= values
        return more


def _with_inner(atom: Atom | None) -> Iterator[Atom]:
    while atom is not None:
        yield atom
        atom = atom.of
