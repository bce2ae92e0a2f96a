# SPDX-License-Identifier: Apache-2.0
"""The reader of C headers: what it reads is what the host's compiler makes of them; it refuses the rest."""

import re

import pytest
from c_headers import evaluate
from fixtures import ROOT

from tessera.cheader import HeaderError, parse_header, read_header
from tessera.image import layout
from tessera.image.accel import accel_image
from tessera.image.shared import shared_image
from tessera.image.virtio import virtio_image

HEADERS = (
    "arch/riscv/include/features.h",
    "core/include/sysimage.h",
    "devices/accel/include/accel_image.h",
    "devices/shared/include/shared_image.h",
    "devices/virtio/include/virtio_image.h",
    "fpga/hw/include/fabric_map.h",
    "tests/guests/fuzz/fuzz_log.h",
)


@pytest.mark.parametrize("path", HEADERS)
def test_values_are_those_of_the_compiler(path):
    header = read_header(path)
    expected = dict(header.constants)
    for record in header.records.values():
        expected[f"sizeof(struct {record.name})"] = record.size
        for field, code in record.fields:
            expected[f"offsetof(struct {record.name}, {field})"] = record.offset(field)
            size = {"H": 2, "I": 4, "Q": 8}.get(code) or int(code.removesuffix("s"))
            expected[f"sizeof(((struct {record.name} *)0)->{field})"] = size
    assert evaluate((path,), expected) == expected


@pytest.mark.parametrize("path", HEADERS)
def test_nothing_of_a_header_is_left_out(path):
    header = read_header(path)
    text = re.sub(r"/\*.*?\*/", "", (ROOT / path).read_text(), flags=re.DOTALL)
    assert set(re.findall(r"^#define (\w+)[ \t]+\S", text, flags=re.MULTILINE)) <= set(header.constants)
    assert re.findall(r"^struct (\w+) \{", text, flags=re.MULTILINE) == list(header.records)
    for name, body in re.findall(r"^enum (\w+) \{(.*?)\};", text, flags=re.DOTALL | re.MULTILINE):
        assert re.findall(r"(\w+)(?: =[^,]*)?(?:,|\n)", body) == list(header.enums[name])
    for name, body in re.findall(r"^struct (\w+) \{(.*?)\};", text, flags=re.DOTALL | re.MULTILINE):
        fields = [re.match(r"\w+", field)[0] for field, _ in header.records[name].fields]
        assert list(dict.fromkeys(fields)) == re.findall(r"(\w+)(?:\[\w+\])?\s*[,;]", body)


def test_tags_are_text_in_memory():
    tags = [module.TAG.to_bytes(4, "little") for module in (accel_image, virtio_image, shared_image)]
    assert tags == [b"XFPG", b"VPCI", b"XISD"]


EXAMPLE = """/* A comment
 * of two lines */
#ifndef EXAMPLE_H
#define EXAMPLE_H
#include <stdint.h>
#ifndef EXAMPLE_SIZE
#define EXAMPLE_SIZE (EXAMPLE_HALF * 2U) // later
#define EXAMPLE_HALF \\
    2U
#endif
#ifndef EXAMPLE_HALF
#define EXAMPLE_HALF nonsense
#endif
#define EXAMPLE_ODD (1U + 7U % 4U << 4U | 0x3UL & ~1 ^ -(-4) / 2)
enum example_kind { EXAMPLE_A, EXAMPLE_B = 7, EXAMPLE_C };
struct example_pair { uint16_t x, y; };
static inline unsigned f(void) { while (1) { return 1U; } }
_Static_assert(sizeof(struct example_pair) == 4U, "text; with (brackets");
struct example {
    char name[EXAMPLE_C];
    struct example_pair pairs[EXAMPLE_HALF];
    uint8_t byte, bytes[3];
    uint32_t words[EXAMPLE_SIZE - 3], last;
};
#endif
"""


def test_example():
    header = parse_header(EXAMPLE, "example.h")
    sizes = {"EXAMPLE_SIZE": 4, "EXAMPLE_HALF": 2, "EXAMPLE_ODD": (1 + 7 % 4 << 4) | (3 & ~1) ^ 2}
    assert header.constants == sizes | {"EXAMPLE_A": 0, "EXAMPLE_B": 7, "EXAMPLE_C": 8}
    assert header.numbered("EXAMPLE_", "example_kind") == {"a": 0, "b": 7, "c": 8}
    fields = header.records["example"].fields
    pairs = [(f"pairs[{index}].{axis}", "H") for index in range(2) for axis in "xy"]
    assert list(fields) == [("name", "8s"), *pairs, ("byte", "1s"), ("bytes", "3s"), ("words[0]", "I"), ("last", "I")]


@pytest.mark.parametrize(
    ("text", "refused"),
    [
        ("#define A(x) (x)", "#define A(x) (x)"),
        ("#define A 1\n#define A 2", "#define A 2"),
        ("#if 1", "#if 1"),
        ("#endif", "#endif"),
        ("#ifndef A", "#ifndef without #endif"),
        ('#define A "text"', '"text"'),
        ("#define A 010", "010"),
        ("#define A 1 2", "1 2"),
        ("#define A (1", "( 1"),
        ("#define A 1 / 0", "1 / 0"),
        ("#define A sizeof(int)", "sizeof ( int )"),
        ("#define A B\n#define B A", "A, whose value is A"),
        ("typedef int word;", "typedef int word ;"),
        ("extern int a;", "extern int a ;"),
        ("void f(void);", "void f ( void ) ;"),
        ("union u { int a; };", "union u { int a ; } ;"),
        ("struct s;", "; "),
        ("struct s { int a; };", "int a ; } ;"),
        ("struct s { bool a; };", "bool a ; } ;"),
        ("struct s { uint32_t *a; };", "* a ; } ;"),
        ("struct s { uint32_t a : 3; };", ": 3 ; } ;"),
        ("struct s { uint32_t a[]; };", "] ; } ;"),
        ("struct s { uint32_t a[2][2]; };", "[ 2 ] ; } ;"),
        ("struct s { uint32_t a[N]; };", "N"),
        ("struct s { struct t a; };", "t a ; } ;"),
        ("struct s { union { uint32_t a; }; };", "union { uint32_t a ; } ; } ;"),
        ("struct s { uint32_t a; } name;", "name ;"),
        ("struct __attribute__((packed)) s { uint32_t a; };", "( ( packed ) ) s { uint32_t a ; } ;"),
        ("struct s { uint32_t a; uint64_t b; };", "padding in struct s"),
        ("struct s { uint64_t a; uint32_t b; };", "padding in struct s"),
        ("struct s { char a[3]; uint16_t b; };", "padding in struct s"),
        ("struct s { uint32_t a;", "the end of the file"),
        ("enum e { A = B };", "B"),
        ("enum { A };", "{ A } ;"),
    ],
)
def test_refuses_what_it_does_not_understand(text, refused):
    with pytest.raises(HeaderError) as refusal:
        parse_header(f"/* one\n */\n{text}", "a/b.h")
    place, _, what = str(refusal.value).partition(": not understood: ")
    assert place == f"a/b.h:{3 + text.count(chr(10))}" or text.startswith("#define A B")
    assert what.strip() == refused.strip()


def test_packing_refuses_missing_and_unknown_fields():
    with pytest.raises(ValueError, match=r"sysimage_irq: fields \['guest'\]"):
        layout.IRQ.pack(host=1)
    with pytest.raises(ValueError, match=r"sysimage_irq: fields \['extra'\]"):
        layout.IRQ.pack(host=1, guest=1, extra=1)


def test_a_constant_that_the_header_lacks_is_refused():
    with pytest.raises(AttributeError, match=r"no constant SYSIMAGE_MAX_NOTHING in core/include/sysimage\.h"):
        _ = layout.MAX_NOTHING
