# SPDX-License-Identifier: Apache-2.0
"""The Linux guest's initramfs: modules of the kernel's package, and their order."""

import importlib.util
import lzma

import pytest
from fixtures import ROOT

spec = importlib.util.spec_from_file_location("mkinitramfs", ROOT / "guests" / "images" / "linux" / "mkinitramfs.py")
mkinitramfs = importlib.util.module_from_spec(spec)
spec.loader.exec_module(mkinitramfs)

RELEASE = "6.12.0-riscv64"


def module(name, depends=""):
    return f"\x7fELF\0name={name}\0depends={depends}\0".encode()


@pytest.fixture
def package(tmp_path):
    folder = tmp_path / "usr/lib/modules" / RELEASE / "kernel/drivers"
    folder.mkdir(parents=True)
    for name, depends in (("top", "middle,low"), ("middle", "low"), ("low", "")):
        (folder / f"{name}.ko.xz").write_bytes(lzma.compress(module(name, depends)))
    (folder / "plain.ko").write_bytes(module("plain", "low"))
    (folder / "orphan.ko").write_bytes(module("orphan", "missing"))
    return tmp_path


def test_each_module_follows_those_that_it_depends_on(package):
    found = mkinitramfs.with_dependencies(["plain", "top"], package, RELEASE)
    assert list(found) == ["low", "plain", "middle", "top"]
    assert found["top"] == module("top", "middle,low"), "unpacked"


def test_a_missing_module_is_named(package):
    with pytest.raises(mkinitramfs.BuildError, match=f"no module missing for kernel {RELEASE}"):
        mkinitramfs.with_dependencies(["orphan"], package, RELEASE)
    with pytest.raises(mkinitramfs.BuildError, match="no module top for kernel 7"):
        mkinitramfs.with_dependencies(["top"], package, "7")


def archived(*started):
    busybox = b"\0[\0[[\0cttyhack\0insmod\0mount\0poweroff\0setsid\0sh\0\0"
    data = mkinitramfs.build(busybox, {}, {"virtio": b"v"}, *started)
    return dict(mkinitramfs.cpio_files(data))


def test_init_finds_the_modules_and_the_script():
    files = archived({"low": b"l", "top": b"t"}, b"echo up")
    assert files["etc/modules"] == b"low\ntop\n"
    assert files["etc/start"] == b"echo up"
    assert (files["lib/modules/virtio.ko"], files["lib/modules/low.ko"]) == (b"v", b"l")


def test_without_a_script_nothing_is_loaded():
    assert not {"etc/modules", "etc/start"} & set(archived({}, b""))


def test_tree_of_a_folder_and_of_a_file(tmp_path):
    (tmp_path / "lib/sub").mkdir(parents=True)
    (tmp_path / "lib/a.py").write_bytes(b"a")
    (tmp_path / "lib/sub/b.py").write_bytes(b"b")
    files = mkinitramfs.tree(f"usr/lib/python={tmp_path}/lib")
    assert files == {"usr/lib/python/a.py": b"a", "usr/lib/python/sub/b.py": b"b"}
    assert mkinitramfs.tree(f"bin/a={tmp_path}/lib/a.py") == {"bin/a": b"a"}
    with pytest.raises(mkinitramfs.BuildError, match="expected DESTINATION=SOURCE, got somewhere"):
        mkinitramfs.tree("somewhere")


def test_folders_come_before_their_files(tmp_path):
    """Also those between the archive's own folders and a file."""
    files = {"usr/lib/python/sub/b.py": b"b", "bin/a": b"a"}
    assert mkinitramfs.further_folders(files) == ["usr", "usr/lib", "usr/lib/python", "usr/lib/python/sub"]
