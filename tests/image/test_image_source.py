# SPDX-License-Identifier: Apache-2.0
"""The parser: constructs that dtlib parses wrongly, and line numbers."""

from pathlib import Path

import pytest
from fixtures import SYSTEM

from tessera.image.source import Source


def parse(text):
    Path("source.dts").write_text(text)
    return Source("source.dts")


def places(source):
    """The line of every node and property, by path."""
    return {
        f"{node.path.rstrip('/')}/{name}": source.place_of(node, name).line
        for node in source.node_iter()
        for name in ("", *node.props)
    }


def test_places(builder):
    source = parse(
        """/dts-v1/; // a comment
/* another
   one */ / {
\tfirst = "a
b";
\tflag;
\tlabel: node {
\t\tvalue = <1>,
\t\t\t<2>; same-line;
\t};
};
&label {
\tvalue = <3>;
\tadded { };
\t/delete-property/ same-line;
};
"""
    )
    assert places(source) == {
        "/": 3,
        "/first": 4,
        "/flag": 6,
        "/node/": 7,
        "/node/value": 13,
        "/node/added/": 14,
    }


@pytest.mark.parametrize(
    "text", ["<", ">", "[", "]", "{", "}", "(", ")", ";", ",", "=", "/", "&", "-", "/bits/", "a", "=> "]
)
def test_any_string_is_parsed(builder, text):
    source = parse(
        f'/dts-v1/; / {{ one = "{text}"; two = "{text}", "{text}"; node {{ three = "{text}"; }}; last; }};\n'
    )
    one, two, last = (source.root.props[name] for name in ("one", "two", "last"))
    assert one.to_string() == text
    assert two.to_strings() == [text, text]
    assert source.root.nodes["node"].props["three"].to_string() == text
    assert last.value == b""


@pytest.mark.parametrize("text", ["<", "[", "{", ";"])
def test_any_string_in_a_system(builder, text):
    built = builder.build(SYSTEM.replace('"two up"', f'"{text}"; bootargs = "{text}"'))
    assert built.system.vms[1].node["sign-of-life"] == text
    assert f'bootargs = "{text}";' in built.files["two.dts"].decode()


def test_bracket_in_quotes_is_not_an_opening_bracket(builder):
    (line,) = builder.refuse(SYSTEM.replace("harts = <2>;", 'harts = "<"2>;'))
    assert line == "sys.dts:5: syntax error: expected ';' or ','"
