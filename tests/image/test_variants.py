# SPDX-License-Identifier: Apache-2.0
"""Variants: systems that are sections of a file, by the name of a source."""

import pytest
from fixtures import ROOT

from tessera.image import variants
from tessera.image.problems import BuildError
from tessera.image.source import Source

BASE = """/dts-v1/;
/ {
	harts = <1>;
	vms {
		one {
		};
		two {
		};
	};
};
"""
VARIANTS = """// A comment.

//= pair
/include/ "base.dts"
/ { harts = <2>; };

//= lone
/include/ "pair.dts"
/ {
	vms {
		/delete-node/ two;
	};
};

//= wrong
/include/ "base.dts"
/ {
	harts = ;
};
"""


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "base.dts").write_text(BASE)
    (tmp_path / variants.FILE).write_text(VARIANTS)
    return tmp_path


def test_a_variant_of_a_variant(folder):
    assert variants.names(folder) == ["pair", "lone", "wrong"]
    source = Source(str(folder / "lone.dts"))
    assert source.root.props["harts"].to_num() == 2
    assert list(source.root.nodes["vms"].nodes) == ["one"]
    place = source.place_of(source.root, "harts")
    assert (place.file, place.line) == (str(folder / variants.FILE), 5)


def test_an_including_file(folder):
    (folder / "traced.dts").write_text(f'/include/ "{folder}/pair.dts"\n/ {{ trace-kib = <4>; }};\n')
    source = Source(str(folder / "traced.dts"))
    assert source.root.props["harts"].to_num() == 2
    assert source.root.props["trace-kib"].to_num() == 4


def test_errors_name_the_line_of_the_section(folder):
    with pytest.raises(BuildError, match=rf"^{folder}/{variants.FILE}:18: syntax error"):
        Source(str(folder / "wrong.dts"))


def test_an_unknown_name_is_refused_with_a_suggestion(folder):
    with pytest.raises(BuildError, match=r'lome\.dts:1: cannot be read: .* \(did you mean "lone"\?\)$'):
        Source(str(folder / "lome.dts"))


def test_a_file_comes_before_a_section(folder):
    (folder / "pair.dts").write_text("/dts-v1/;\n/ { harts = <8>; };\n")
    assert Source(str(folder / "pair.dts")).root.props["harts"].to_num() == 8


@pytest.mark.parametrize("path", ["systems/bench", "tests/e2e/systems"])
def test_names_of_variants_are_unique(path):
    names = variants.names(ROOT / path)
    assert names and len(names) == len(set(names))
    assert not [name for name in names if (ROOT / path / f"{name}.dts").exists()]
