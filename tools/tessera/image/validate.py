# SPDX-License-Identifier: Apache-2.0
"""Applies a schema to a source."""

import re
from dataclasses import dataclass, field
from typing import Any

from devicetree import dtlib

from tessera.image.nodes import NAME_PATTERN, NAME_WORDS, NodeSchema
from tessera.image.problems import Place, Problems
from tessera.image.prop_types import MismatchError, suggest
from tessera.image.source import Source


@dataclass
class Read:
    """A node after its schema was applied. `values` has every property of the schema: set, default,
    or None."""

    schema: NodeSchema
    path: str
    name: str
    place: Place
    problems: Problems
    values: dict[str, Any] = field(default_factory=dict)
    places: dict[str, Place] = field(default_factory=dict)
    children: dict[str, "Read"] = field(default_factory=dict)
    sound: bool = True  # this node's own properties have no problem

    def __getitem__(self, prop: str) -> Any:
        return self.values[prop]

    def given(self, prop: str) -> bool:
        """Returns whether the source sets `prop`."""
        return prop in self.places

    @property
    def fields(self) -> dict[str, int]:
        """The values of the properties that are fields of a record of the image."""
        return {prop.field: int(self[prop.name] or 0) for prop in self.schema.props if prop.field}

    def problem(self, prop: str, message: str) -> None:
        """Reports a problem with `prop`, at its line or at the node's if the source does not set
        it."""
        self.sound = False
        self.problems.add(self.places.get(prop, self.place), self.path, prop, message)


def read(source: Source, schema: NodeSchema, problems: Problems) -> Read:
    """Applies `schema` to the whole source; adds every mismatch to `problems`."""
    return _node(source, source.root, schema, problems)


def _node(source: Source, node: dtlib.Node, schema: NodeSchema, problems: Problems) -> Read:
    result = Read(schema, node.path, node.name, source.place_of(node), problems)
    result.places = {name: source.place_of(node, name) for name in node.props}
    _unknown_props(node, schema, result)
    _props(node, schema, result)
    for child in node.nodes.values():
        child_schema = schema.children.get(child.name, schema.named)
        if child_schema is None:
            _unknown_node(source, child, schema, problems)
        else:
            result.children[child.name] = _node(source, child, child_schema, problems)
            if child_schema is schema.named:
                _check_name(result.children[child.name], schema)
    for name, child_schema in schema.children.items():
        if child_schema.required and name not in node.nodes:
            result.problem("", f"expected a node {name}")
    return result


def _unknown_props(node: dtlib.Node, schema: NodeSchema, result: Read) -> None:
    known = [prop.name for prop in schema.props]
    for name in node.props:
        if name in known or name == "phandle":
            continue
        if name in schema.children:
            result.problem(name, "expected a node, got a property")
        elif not known:
            result.problem(name, "expected no property here")
        else:
            guess = suggest(name, known)
            result.problem(name, "unknown property" + (guess or f"; expected one of {', '.join(known)}"))


def _props(node: dtlib.Node, schema: NodeSchema, result: Read) -> None:
    for prop in schema.props:
        result.values[prop.name] = prop.default
        if prop.name in node.props:
            try:
                result.values[prop.name] = prop.kind.read(node.props[prop.name])
            except MismatchError as mismatch:
                result.values[prop.name] = None
                result.problem(prop.name, str(mismatch))
        elif prop.required:
            result.problem(prop.name, f"missing; expected {prop.kind.describe()}")


def _unknown_node(source: Source, node: dtlib.Node, schema: NodeSchema, problems: Problems) -> None:
    known = list(schema.children)
    props = [prop.name for prop in schema.props]
    if node.name in props:
        message = "expected a property, got a node"
    elif known:
        message = "unknown node" + (suggest(node.name, known) or f"; expected one of {', '.join(known)}")
    else:
        message = "expected no node here"
    problems.add(source.place_of(node), node.path, "", message)


def _check_name(child: Read, schema: NodeSchema) -> None:
    if len(child.name) > schema.longest_name or not re.fullmatch(NAME_PATTERN, child.name):
        child.problem("", f'expected a name of 1 to {schema.longest_name} {NAME_WORDS}, got "{child.name}"')
