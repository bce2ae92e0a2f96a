# SPDX-License-Identifier: Apache-2.0
"""mkimage.py on the command line, the shipped systems, and the reference generated from the
schema."""

import hashlib
import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from fixtures import ROOT, SYSTEM
from image_reader import read_image
from partials import put_partial

from tessera.fabric.bitstream import of_file
from tessera.image import configdoc, schema, variants
from tessera.image.board_schema import BOARD
from tessera.image.source import Source

BENCH = ROOT / "systems" / "bench"
SYSTEMS = [
    *sorted((ROOT / "systems").rglob("*.dts")),
    *(BENCH / f"{name}.dts" for name in variants.names(BENCH)),
    ROOT / "tests" / "image" / "fabric.dts",
]


def mkimage(*args, path=None):
    env = os.environ | ({"PATH": path} if path is not None else {})
    command = [sys.executable, ROOT / "tools" / "mkimage.py", *args]
    return subprocess.run(command, capture_output=True, text=True, check=False, env=env)


@pytest.fixture
def hypervisor(builder):
    builder.source.write_text(SYSTEM)
    builder.file("tessera.bin", b"hypervisor" * 1000)
    return builder.guests / "tessera.bin"


def arguments(hypervisor):
    return ["sys.dts", "--hypervisor", hypervisor, "--guests", "guests", "--out", "out"]


def test_files_of_an_earlier_build_are_deleted(builder, hypervisor, tmp_path):
    assert mkimage(*arguments(hypervisor)).returncode == 0
    builder.source.write_text(SYSTEM.replace("two {", "other {"))
    assert mkimage(*arguments(hypervisor)).returncode == 0
    assert {path.name for path in (tmp_path / "out").glob("*.dts")} == {"one.dts", "other.dts"}


def test_files_in_other_folders_are_kept(builder, hypervisor, tmp_path):
    out = tmp_path / "out"
    out.mkdir()
    (out / "mine.dts").write_text("precious")
    assert mkimage(*arguments(hypervisor)).returncode == 0
    assert (out / "mine.dts").read_text() == "precious"


def test_written_files(builder, hypervisor, tmp_path):
    done = mkimage(*arguments(hypervisor), "--without", "sstc,htinst")
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    out = tmp_path / "out"
    assert sorted(path.name for path in out.iterdir()) == [
        "one.dtb", "one.dts", "system.json", "tessera.bin", "two.dtb", "two.dts",
    ]  # fmt: skip
    binary = (out / "tessera.bin").read_bytes()
    image = read_image(binary[12288:])
    assert binary.startswith(hypervisor.read_bytes())
    manifest = json.loads((out / "system.json").read_text())
    assert manifest["machine_mask"] == ["sstc", "htinst"]
    assert image.header["machine_mask"] == 0b101
    assert manifest["image"]["sha256"] == hashlib.sha256(binary).hexdigest()
    assert manifest["vms"][0]["sign_of_life"] == "one up"
    one = (builder.guests / "one.bin").read_bytes()
    assert manifest["vms"][0]["image"] == {
        "path": "guests/one.bin",
        "size": len(one),
        "sha256": hashlib.sha256(one).hexdigest(),
    }
    assert manifest["qemu"] == {
        "machine": "virt",
        "memory_mib": 512,
        "arguments": [
            "-global",
            "virtio-mmio.force-legacy=false",
            "-device",
            "virtio-rng-device,bus=virtio-mmio-bus.0,iommu_platform=on",
        ],
    }


def test_a_disk(builder):
    builder.file("a,b.img", bytes(512))
    text = SYSTEM.replace('"virtio-rng";', '"virtio-blk"; file = "a,b.img"; read-only;')
    arguments = json.loads(builder.build(text).files["system.json"])["qemu"]["arguments"]
    assert arguments[2:] == [
        "-drive",
        "if=none,id=rng0,format=raw,file=guests/a,,b.img,read-only=on",
        "-device",
        "virtio-blk-device,drive=rng0,bus=virtio-mmio-bus.0,iommu_platform=on",
    ]


def test_a_network(builder):
    given = '"virtio-net"; subnet = "192.168.80.0/24"; forwards = "2222:192.168.80.1:22", "0:192.168.80.3:80";'
    arguments = json.loads(builder.build(SYSTEM.replace('"virtio-rng";', given)).files["system.json"])["qemu"][
        "arguments"
    ]
    assert arguments[2:] == [
        "-netdev",
        "user,id=rng0,net=192.168.80.0/24,host=192.168.80.254,dns=192.168.80.253,dhcpstart=192.168.80.1,"
        "hostfwd=tcp:127.0.0.1:2222-192.168.80.1:22,hostfwd=tcp:127.0.0.1:0-192.168.80.3:80",
        "-device",
        "virtio-net-device,netdev=rng0,bus=virtio-mmio-bus.0,iommu_platform=on",
    ]


DISK = '"virtio-blk"; file = "disk.img";'
MODELS = [
    '"virtio-rng";',
    DISK,
    f'{DISK} read-only; }}; again {{ slot = "virtio-mmio1"; model = {DISK} read-only;',
    '"virtio-net"; forwards = "0:10.0.2.1:80";',
    '"virtio-net"; subnet = "16.0.0.0/4"; forwards = "0:31.255.255.252:80";',
    '"virtio-net"; subnet = "10.0.2.240/28"; forwards = "0:10.0.2.241:80";',
]


@pytest.mark.parametrize("model", MODELS)
def test_qemu_takes_the_arguments(builder, model):
    builder.file("disk.img", bytes(512))
    text = SYSTEM.replace('"virtio-rng";', model)
    qemu = json.loads(builder.build(text).files["system.json"])["qemu"]
    command = [os.environ.get("QEMU", "qemu-system-riscv64"), "-M", qemu["machine"], "-m", str(qemu["memory_mib"])]
    command += ["-S", "-display", "none", "-serial", "none", "-monitor", "stdio", *qemu["arguments"]]
    done = subprocess.run(command, input="info qtree\nquit\n", capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 0, done.stderr
    slot = done.stdout.partition("virtio-mmio-bus.0")[2].partition("dev: virtio-mmio")[0]
    assert re.search(r"dev: virtio-(rng|blk|net)-device", slot), done.stdout
    assert "iommu_platform = true" in slot


def test_files_of_removed_vms_are_deleted(builder, hypervisor, tmp_path):
    assert mkimage(*arguments(hypervisor)).returncode == 0
    builder.source.write_text(SYSTEM.replace("two {", "three {"))
    assert mkimage(*arguments(hypervisor)).returncode == 0
    assert sorted(path.name for path in (tmp_path / "out").glob("*.dtb")) == ["one.dtb", "three.dtb"]


def test_nothing_is_written_when_refused(builder, hypervisor, tmp_path):
    builder.source.write_text(SYSTEM.replace("harts = <2>", "harts = <0>"))
    done = mkimage(*arguments(hypervisor))
    assert done.returncode == 1
    assert done.stderr == "sys.dts:5: /: harts: expected a number from 1 to 8, got 0\n"
    assert not (tmp_path / "out").exists()


def test_without_hypervisor(builder, hypervisor, tmp_path):
    done = mkimage("sys.dts", "--without-hypervisor", "--guests", "guests", "--out", "out")
    assert done.returncode == 0
    read_image((tmp_path / "out" / "tessera.bin").read_bytes())


def test_components_that_the_hypervisor_lacks(builder, hypervisor, tmp_path):
    text = SYSTEM.replace("two {", 'two { may-send-to = "one";')
    builder.source.write_text(text)
    assert mkimage(*arguments(hypervisor), "--components", "ipc compat").returncode == 0
    assert "google,goldfish-rtc" in (tmp_path / "out" / "one.dts").read_text()
    assert mkimage(*arguments(hypervisor), "--components", "ipc").returncode == 0
    dts = (tmp_path / "out" / "one.dts").read_text()
    assert "goldfish" not in dts
    assert "syscon" not in dts
    done = mkimage(*arguments(hypervisor), "--components", "")
    assert done.returncode == 1
    line = text[: text.index("may-send-to")].count("\n") + 1
    expected = "may-send-to: expected a hypervisor with the component ipc, got one with none (HYP_COMPONENTS)"
    assert done.stderr == f"sys.dts:{line}: /vms/two: {expected}\n"


def test_list_files(builder, hypervisor):
    builder.source.write_text(SYSTEM.replace("two.bin", "not-made-yet.bin"))
    done = mkimage("sys.dts", "--list-files", "--guests", "guests")
    missing = ["not-made-yet.bin", "guests/not-made-yet.bin"]
    assert done.stdout.split() == ["guests/one.bin", "guests/initrd.gz", *missing]


def listed(source, *directories):
    done = mkimage(source, "--list-files", "--guests", os.pathsep.join(directories))
    assert done.returncode == 0, done.stderr
    return done.stdout.split()


def test_files_are_searched_next_to_the_source_first(builder, tmp_path):
    """Of several files of one name, the one next to the source, else the first in the order of the
    directories."""
    builder.source.write_text(SYSTEM)
    source = tmp_path / "mine" / "sys.dts"
    source.parent.mkdir()
    source.write_text(SYSTEM)
    other = tmp_path / "other"
    other.mkdir()
    assert listed(source, "other", "guests") == ["guests/one.bin", "guests/initrd.gz", "guests/two.bin"]
    (other / "two.bin").write_bytes(b"\x13" * 64)
    (source.parent / "one.bin").write_bytes(b"\x13" * 64)
    mine = f"{source.parent}/one.bin"
    assert listed(source, "other", "guests") == [mine, "guests/initrd.gz", "other/two.bin"]
    assert listed(source, "guests", "other") == [mine, "guests/initrd.gz", "guests/two.bin"]
    done = mkimage(source, "--without-hypervisor", "--guests", "guests:other", "--out", "out")
    assert (done.returncode, done.stderr) == (0, "")
    vms = json.loads((tmp_path / "out" / "system.json").read_text())["vms"]
    assert [vm["image"]["path"] for vm in vms] == [mine, "guests/two.bin"]


def test_a_file_is_relative_to_the_source_that_names_it(builder, tmp_path):
    """Not to the including source, which may be anywhere, as for `make trace`."""
    below = tmp_path / "below"
    below.mkdir()
    (below / "base.dts").write_text(SYSTEM)
    (below / "two.bin").write_bytes(b"\x13" * 64)
    builder.source.write_text('/include/ "below/base.dts"\n/ { vms { two { initrd = "own.gz"; }; }; };\n')
    Path("own.gz").write_bytes(b"\x1f\x8b" + bytes(64))
    assert listed("sys.dts", "guests") == ["guests/one.bin", "guests/initrd.gz", "below/two.bin", "own.gz"]


def test_a_system_for_another_board_is_refused(builder, hypervisor):
    done = mkimage(*arguments(hypervisor), "--board", "m5150")
    assert (done.returncode, done.stderr) == (1, "sys.dts is for board qemu-virt: use PLATFORM=qemu-virt\n")
    assert mkimage(*arguments(hypervisor), "--board", "qemu-virt").returncode == 0


def test_misspelt_source_gives_a_suggestion(builder, hypervisor):
    builder.source.write_text(SYSTEM)
    done = mkimage("syss.dts", "--list-files")
    assert done.stderr == 'syss.dts:1: cannot be read: No such file or directory (did you mean "sys"?)\n'


def replaced(args, old, new):
    return [new if str(arg) == str(old) else arg for arg in args]


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        (
            "guests/tessera.bin",
            "nowhere.bin",
            "nowhere.bin: expected the hypervisor's binary: No such file or directory",
        ),
        ("guests/tessera.bin", "guests/elf", "guests/elf: expected the hypervisor's raw binary, got an ELF file"),
        ("guests/tessera.bin", "guests/empty", "guests/empty: expected the hypervisor's raw binary, got nothing"),
        ("out", "guests/one.bin", "guests/one.bin: cannot be written: File exists"),
        ("sys.dts", "none.dts", "none.dts:1: cannot be read: No such file or directory"),
    ],
)
def test_one_line_for_each_missing_file(builder, hypervisor, old, new, message):
    builder.file("elf", b"\x7fELF")
    builder.file("empty", b"")
    done = mkimage(*replaced(arguments(hypervisor), old, new))
    assert done.returncode == 1
    assert done.stderr.startswith(message)
    assert done.stderr.count("\n") == 1


@pytest.mark.parametrize(
    ("text", "end", "message"),
    [
        (0x80200000, 0x80203000, None),
        (0x80200000, 0x80204000, "expected __hyp_end at 0x80203000, where the raw binary ends, got 0x80204000 "),
        (0x80200000, None, "expected __hyp_end at 0x80203000, where the raw binary ends, got no such symbol "),
        (0x80000000, 0x80203000, "expected to be linked for 0x80200000, the board's load-address, got 0x80000000"),
    ],
)
def test_hypervisor_of_an_unsuitable_size(builder, hypervisor, text, end, message):
    Path("empty.S").write_text(".globl _start\n_start: nop\n")
    symbol = [f"-Wl,--defsym=__hyp_end={end:#x}"] if end else []
    command = ["riscv64-unknown-elf-gcc", "-nostdlib", "-Wl,-n", f"-Wl,-Ttext={text:#x}", *symbol]
    subprocess.run([*command, "-o", hypervisor.with_suffix(".elf"), "empty.S"], check=True)
    done = mkimage(*arguments(hypervisor))
    assert done.returncode == (1 if message else 0), done.stderr
    if message:
        assert done.stderr.startswith(f"guests/tessera.elf: {message}")


def test_invalid_elf_file(builder, hypervisor):
    builder.file("tessera.elf", b"\x7fELF cut short")
    assert mkimage(*arguments(hypervisor)).stderr == "guests/tessera.elf: expected an ELF file\n"


def test_unknown_feature_on_the_command_line(builder, hypervisor):
    done = mkimage(*arguments(hypervisor), "--without", "ssct")
    assert done.returncode == 1
    assert re.fullmatch(
        r'--without: expected features out of sstc, .*, got "ssct" \(did you mean "sstc"\?\)\n', done.stderr
    )


def test_without_dtc(builder, hypervisor):
    done = mkimage(*arguments(hypervisor), path="/nowhere")
    assert done.returncode == 1
    assert done.stderr == "dtc: expected the device tree compiler (apt-get install device-tree-compiler)\n"


def test_usage(builder, hypervisor):
    assert mkimage("sys.dts", "--guests", "guests", "--without-hypervisor").returncode == 2
    assert mkimage("sys.dts", "--guests", "guests", "--out", "out").returncode == 2


def whole(path):
    """The source of a system with its includes expanded."""
    return re.sub(r'/include/ "(.*?)"', lambda found: whole(path.parent / found[1]), variants.source_text(path))


@pytest.mark.parametrize("path", SYSTEMS, ids=lambda path: path.stem)
def test_shipped_systems_build(builder, path):
    """With dummy files in place of the guests."""
    text = whole(path)
    for name in set(re.findall(r'(?:image|initrd|file) = "(.*?)"', text)):
        (builder.guests / name).parent.mkdir(exist_ok=True)
        builder.file(name, b"\x13\0\0\0" * 64)
    for name in set(re.findall(r'"(simb/.*?)"', text)):
        (builder.guests / name).parent.mkdir(exist_ok=True)
        builder.file(name, of_file(Path(name).name))
    if '"genesys2/' in text:
        put_partial(builder.guests / "genesys2")
    builder.build(text)


def test_systems_named_in_the_makefile_and_docs_exist():
    assert {"demo", "linux", "linux-smp", "virtio", "bench", "switch"} <= {path.stem for path in SYSTEMS}


def test_reference_is_up_to_date():
    path = ROOT / "docs" / "configuration.md"
    assert path.read_text() == configdoc.reference(), "docs/configuration.md is stale: run `make docs`"


def test_reference_is_complete(builder):
    document = configdoc.reference()
    unwrapped = " ".join(document.split())
    pending = [schema.SYSTEM, BOARD]
    while pending:
        node = pending.pop()
        pending += [*node.children.values(), *([node.named] if node.named else [])]
        for prop in node.props:
            assert f"- `{prop.name}` (" in document
            assert prop.doc in unwrapped
    example = re.search(r"```dts\n(.*?)```", document, flags=re.DOTALL)[1]
    builder.source.write_text(example)
    assert list(Source(str(builder.source)).root.nodes["vms"].nodes) == ["linux"]
