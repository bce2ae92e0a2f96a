# SPDX-License-Identifier: Apache-2.0
"""tools/fetch.py: mirrors it uses, packages it accepts, and its error messages. These tests use
no network."""

import importlib.util
import json
import re
import shutil
import subprocess
import sys
import tarfile
import threading

import pytest
from helpers import run

from tessera.run.runner import ROOT

spec = importlib.util.spec_from_file_location("fetch", ROOT / "tools" / "fetch.py")
fetch = importlib.util.module_from_spec(spec)
sys.modules["fetch"] = fetch
spec.loader.exec_module(fetch)

ONE_LINE = """
# deb http://commented.example/debian bookworm main
deb cdrom:[Debian]/ bookworm main
deb [arch=amd64] https://tool.example/apt stable main extra
deb-src http://a.example/debian bookworm main
deb [signed-by=/x y] http://b.example/debian bookworm main contrib # comment
"""

DEB822 = """
# URIs: http://commented.example/debian
Types: deb
URIs: http://disabled.example/debian
Suites: bookworm
Components: main
Enabled: no

Types: deb deb-src
# a comment inside
URIs: http://c.example/debian
Suites: bookworm
  bookworm-updates
Components: main
"""


@pytest.fixture
def debian_12(monkeypatch):
    monkeypatch.delenv("DEBIAN_MIRROR", raising=False)
    monkeypatch.setattr(fetch, "os_release", lambda: {"ID": "debian", "VERSION_CODENAME": "bookworm"})


def test_mirror_from_one_line_sources(tmp_path, debian_12):
    (tmp_path / "sources.list").write_text(ONE_LINE)
    assert fetch.host_mirror(tmp_path) == "http://b.example/debian"


def test_mirror_from_deb822_sources(tmp_path, debian_12):
    (tmp_path / "sources.list.d").mkdir()
    (tmp_path / "sources.list.d" / "debian.sources").write_text(DEB822)
    assert fetch.host_mirror(tmp_path) == "http://c.example/debian"


def test_mirror_at_an_unusual_path_and_a_third_party_before_it(tmp_path, debian_12):
    lines = "deb https://tool.example/apt bookworm main\ndeb https://proxy.example/cache/debian bookworm main\n"
    (tmp_path / "sources.list").write_text(lines)
    assert fetch.host_mirror(tmp_path) == "https://proxy.example/cache/debian"
    (tmp_path / "sources.list").write_text("deb https://proxy.example/remote-12 bookworm main\n")
    assert fetch.host_mirror(tmp_path) == "https://proxy.example/remote-12"


def test_third_party_sources_are_no_mirror(tmp_path, debian_12):
    (tmp_path / "sources.list").write_text("deb https://tool.example/apt stable main\n")
    assert fetch.host_mirror(tmp_path) is None


def test_ubuntu_needs_a_mirror_by_name(monkeypatch):
    monkeypatch.delenv("DEBIAN_MIRROR", raising=False)
    monkeypatch.setattr(fetch, "os_release", lambda: {"ID": "ubuntu", "VERSION_CODENAME": "noble"})
    with pytest.raises(fetch.FetchError, match="DEBIAN_MIRROR="):
        fetch.mirror()
    monkeypatch.setenv("DEBIAN_MIRROR", "http://d.example/debian")
    assert fetch.mirror() == "http://d.example/debian"


PIN = {"version": "1.0", "sha256": "aa"}


def test_newer_version_is_used_with_a_warning(capsys):
    fetch.choose_version("p", PIN, {"version": "1.1", "sha256": "bb"}, "trixie")
    assert "trixie no longer has p 1.0; taking 1.1" in capsys.readouterr().err
    fetch.choose_version("p", PIN, PIN, "trixie")
    assert capsys.readouterr().err == ""


def test_another_content_under_the_pinned_version_is_refused():
    with pytest.raises(fetch.FetchError, match=r"has SHA-256 bb, guests/packages\.lock expects aa"):
        fetch.choose_version("p", PIN, {"version": "1.0", "sha256": "bb"}, "trixie")


def test_a_crate_that_was_tampered_with_is_refused(tmp_path, monkeypatch):
    pin = json.loads(fetch.LOCK.read_text())["crate"][fetch.CRATE]
    registry = tmp_path / "registry" / "cache" / "somewhere"
    registry.mkdir(parents=True)
    (registry / f"{fetch.CRATE}-{pin['version']}.crate").write_bytes(b"something else")
    monkeypatch.setenv("CARGO_HOME", str(tmp_path))
    with pytest.raises(fetch.FetchError, match=f"expects {pin['sha256']}"):
        fetch.fetch_freertos(tmp_path / "cache", False)
    assert not (tmp_path / "cache" / "freertos" / "FreeRTOS-Kernel").exists()


def test_update_lock_pins_everything_of_debian():
    dry = run(["make", "-n", "update-lock"])
    groups = re.search(r"tools/fetch\.py (.*) --update-lock", dry.stdout)[1].split()
    pinned = {name for group in groups if group != fetch.SOURCE for name in fetch.names_of(group)}
    assert pinned == set(fetch.read_lock()["debian"])
    assert set(groups) & {fetch.SOURCE} == set(fetch.read_lock()["source"])


def test_fetched_files_are_not_fetched_again(tmp_path, monkeypatch):
    """With the stamps of a finished fetch no command runs, so no network is needed."""
    (tmp_path / "pkg").mkdir()
    for name in fetch.GROUPS["uboot"]:
        shutil.copy(ROOT / "cache" / "pkg" / f"{name}.json", tmp_path / "pkg")
    monkeypatch.setattr(fetch, "run", lambda *_, **__: pytest.fail("a program was run"))
    fetch.fetch_debian(tmp_path, fetch.GROUPS["uboot"], False)


@pytest.fixture
def pool(tmp_path, monkeypatch):
    """A mirror in a folder, without an index; returns the Apt that uses it and the pin of its only
    package."""
    package = tmp_path / "mirror" / "pool" / "p_1.0_all.deb"
    package.parent.mkdir(parents=True)
    package.write_text("a package")
    monkeypatch.setenv("DEBIAN_MIRROR", f"file:{tmp_path}/mirror")
    pin = {"version": "1.0", "architecture": "all", "sha256": fetch.sha256_file(package), "file": "pool/p_1.0_all.deb"}
    return fetch.Apt(tmp_path / "cache", "trixie", "riscv64"), pin


def test_a_pinned_package_needs_no_index(pool):
    apt, pin = pool
    assert apt.download_pinned({"p": pin})["p"].read_text() == "a package"


def test_pinned_packages_are_downloaded_in_batches(pool, monkeypatch):
    apt, pin = pool
    call, batches = apt.call, []
    monkeypatch.setattr(fetch, "BATCH", 2)
    monkeypatch.setattr(apt, "call", lambda *words, what: (batches.append(what), call(*words, what=what)))
    pins = {name: {**pin, "version": f"1.{name}"} for name in ("a", "b", "c")}
    assert list(apt.download_pinned(pins)) == ["a", "b", "c"]
    assert batches == ["a 1.a, b 1.b", "c 1.c"]
    assert list(apt.download_pinned(pins)) == ["a", "b", "c"]
    assert len(batches) == 2


def test_a_package_that_is_gone_does_not_stop_the_others(pool):
    apt, pin = pool
    gone = {**pin, "version": "2.0", "file": "pool/gone.deb"}
    assert list(apt.download_pinned({"a": gone, "b": {**pin, "version": "1.b"}})) == ["b"]


@pytest.fixture
def source_pool(tmp_path, monkeypatch):
    """A mirror in a folder, without an index, with the sources of one package; returns their pin."""
    folder = tmp_path / "mirror" / "pool"
    folder.mkdir(parents=True)
    archive = folder / "p_1.0.orig.tar.xz"
    with tarfile.open(archive, "w:xz") as tar:
        for name in ("p-1.0/core.c", "p-1.0/api/api.c", "p-1.0/../outside.c"):
            tar.addfile(tarfile.TarInfo(name))
    monkeypatch.setenv("DEBIAN_MIRROR", f"file:{tmp_path}/mirror")
    pin = {"version": "1.0", "sha256": fetch.sha256_file(archive), "file": "pool/p_1.0.orig.tar.xz"}
    monkeypatch.setattr(fetch, "read_lock", lambda: {"suite": "trixie", "source": {"p": pin}})
    return pin


def test_pinned_sources_need_no_index(source_pool, tmp_path, monkeypatch):
    cache = tmp_path / "cache"
    fetch.fetch_source(cache, "p", False)
    assert sorted(str(path.relative_to(cache / "pkg" / "p")) for path in (cache / "pkg" / "p").rglob("*.c")) == [
        "api/api.c", "core.c",
    ]  # fmt: skip
    monkeypatch.setattr(fetch, "run", lambda *_, **__: pytest.fail("a program was run"))
    fetch.fetch_source(cache, "p", False)


@pytest.fixture
def index_of_sources(source_pool, monkeypatch):
    """The mirror has other sources than pinned; returns a function that sets their version in the index."""
    sha256 = source_pool["sha256"]
    source_pool.update(sha256="0" * 64)
    call = fetch.SourceApt.call

    def answer(text: str, apt: fetch.SourceApt, tool: str, *arguments: str, what: str) -> str:
        return text if tool == "apt-cache" else call(apt, tool, *arguments, what=what)

    def choose(version: str) -> None:
        text = f"Package: p\nDirectory: pool\nChecksums-Sha256:\n {sha256} 9 p_{version}.orig.tar.xz\n"
        monkeypatch.setattr(fetch.SourceApt, "call", lambda *a, **k: answer(text, *a, **k))

    monkeypatch.setattr(fetch.SourceApt, "update", lambda _: None)
    return choose


def test_newer_sources_are_used_with_a_warning(index_of_sources, tmp_path, capsys):
    (tmp_path / "mirror/pool/p_1.0.orig.tar.xz").rename(tmp_path / "mirror/pool/p_1.1.orig.tar.xz")
    index_of_sources("1.1")
    fetch.fetch_source(tmp_path / "cache", "p", False)
    assert "trixie no longer has p 1.0; taking 1.1" in capsys.readouterr().err
    assert (tmp_path / "cache/pkg/p/core.c").exists()


def test_other_sources_under_the_pinned_version_are_refused(index_of_sources, tmp_path):
    index_of_sources("1.0")
    with pytest.raises(fetch.FetchError, match="expects 0000"):
        fetch.fetch_source(tmp_path / "cache", "p", False)
    assert not (tmp_path / "cache/pkg/p").exists()


@pytest.mark.parametrize("change", [{"sha256": "0" * 64}, {"file": "pool/elsewhere.deb"}], ids=["other", "gone"])
def test_package_that_differs_from_its_pin_is_searched_in_the_index(pool, change, capsys):
    apt, pin = pool
    assert apt.download_pinned({"p": pin | change}) == {}
    assert re.search(r"^fetch: note: not as pinned at file:.*; looking in the index$", capsys.readouterr().err, re.M)


def test_an_unreachable_mirror_is_one_clear_line(tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("DEBIAN_MIRROR", f"file:{tmp_path}/nowhere")
    monkeypatch.setattr(sys, "argv", ["fetch.py", "uboot", "--cache", str(tmp_path / "cache")])
    assert fetch.main() == 1
    errors = [line for line in capsys.readouterr().err.splitlines() if "error:" in line]
    assert len(errors) == 1
    assert "Debian trixie" in errors[0]
    assert "nowhere" in errors[0]


BUSY = "E: Failed to fetch http://a.example/Packages.xz  File has unexpected size (2 != 1). Mirror sync in progress?"


@pytest.fixture
def busy_mirror(tmp_path, monkeypatch):
    """Runs an apt-get whose first calls fail; returns the wait after each failure and the calls'
    command lines."""
    waited: list[float] = []
    apt_get = tmp_path / "apt-get"
    calls = tmp_path / "calls"
    monkeypatch.setattr(fetch.time, "sleep", waited.append)
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")

    def run(failures: int, complaint: str) -> tuple[list[float], list[str]]:
        calls.write_text("")
        lines = ["#!/bin/sh", f'echo "$*" >> {calls}', f"[ $(wc -l < {calls}) -gt {failures} ] && exit 0"]
        apt_get.write_text("\n".join([*lines, f"echo '{complaint}' >&2", "exit 100", ""]))
        apt_get.chmod(0o755)
        apt = fetch.Apt(tmp_path / "cache", "trixie", "riscv64")
        apt.downloads.mkdir(parents=True, exist_ok=True)
        apt.call_with_retries("apt-get", "update", what="it cannot be read", retried=[fetch.BROKEN, fetch.UPDATED])
        return waited, calls.read_text().splitlines()

    return run


def test_mirror_that_is_being_updated_is_retried(busy_mirror, capsys):
    """After a wait, and bypassing the cache of a proxy that may keep the older state."""
    waited, calls = busy_mirror(2, BUSY)
    assert waited == [20, 40]
    assert ["No-Cache" in call for call in calls] == [False, True, True]
    said = capsys.readouterr().err.splitlines()
    assert said == [f"fetch: it cannot be read: {BUSY}; trying again in {wait} s" for wait in (20, 40)]


def test_retries_of_a_mirror_are_limited(busy_mirror):
    with pytest.raises(fetch.FetchError, match="Mirror sync in progress"):
        busy_mirror(99, BUSY)


def test_broken_connection_is_retried(busy_mirror):
    waited, _ = busy_mirror(1, "E: Failed to fetch http://a.example/x.deb  Could not connect to a.example:80")
    assert waited == [20]


def test_permanent_error_is_not_retried(busy_mirror):
    with pytest.raises(fetch.FetchError, match="404"):
        busy_mirror(1, "E: Failed to fetch http://a.example/x.deb  404  Not Found")


@pytest.fixture
def no_network(monkeypatch, tmp_path):
    """An unreachable mirror, no proxy, and an empty cache."""
    monkeypatch.setattr(fetch, "uses_proxy", lambda: False)
    monkeypatch.setenv("DEBIAN_MIRROR", "http://127.0.0.1:1/debian")
    return lambda *what: monkeypatch.setattr(sys, "argv", ["fetch.py", *what, "--cache", str(tmp_path / "cache")])


def test_missing_network_is_reported_before_apt_runs(no_network, monkeypatch, capsys):
    """The message names the unreachable host, what is needed from it, and everything else still to
    be downloaded."""
    monkeypatch.setattr(fetch.Apt, "call", lambda *_, **__: pytest.fail("apt was started"))
    no_network("linux")
    assert fetch.main() == 1
    said = capsys.readouterr().err.splitlines()
    needed = "debian-installer-13-netboot-riscv64, busybox-static"
    reason = "no network: 127.0.0.1:1 cannot be reached (Connection refused)"
    assert said[0] == f"fetch: error: {reason}; needed from there: {needed}"
    assert said[1].startswith("fetch: all that is still to be downloaded: debian-installer-13-netboot-riscv64, ")
    for name in ("busybox-static", "u-boot-qemu", fetch.SOURCE, fetch.CRATE, "gdbstub"):
        assert f" {name}," in said[1]
    assert said[1].endswith("; nothing else needs a network")
    assert len(said) == 2


def test_cargo_without_a_network(no_network, monkeypatch, capsys, tmp_path):
    cargo = tmp_path / "cargo"
    cargo.write_text('#!/bin/sh\necho "error: could not resolve host (retry $CARGO_NET_RETRY)" >&2; exit 101\n')
    cargo.chmod(0o755)
    monkeypatch.setenv("CARGO", str(cargo))
    monkeypatch.setenv("CARGO_HOME", str(tmp_path))
    monkeypatch.delenv("CARGO_NET_RETRY", raising=False)
    no_network("freertos")
    assert fetch.main() == 1
    said = capsys.readouterr().err.splitlines()
    complaint = "cargo cannot reach the registry of crates: error: could not resolve host (retry 1)"
    assert f"fetch: error: {complaint}; needed from there: {fetch.CRATE}" in said
    assert said[-1].endswith("; nothing else needs a network")


ROUTE = "Iface\tDestination\tGateway\tFlags\tRefCnt\tUse\tMetric\tMask\tMTU\tWindow\tIRTT\n"


@pytest.mark.parametrize(
    ("route", "ipv6", "there"),
    [
        (None, None, True),
        (ROUTE, "", False),
        (ROUTE, f"{'0 ' * 9}lo\n", False),
        (ROUTE, f"{'0 ' * 9}eth0\n", True),
        (f"{ROUTE}eth0\t{'0 ' * 10}\n", "", True),
    ],
)
def test_detection_of_a_route(route, ipv6, there, tmp_path):
    for name, text in (("route", route), ("ipv6_route", ipv6)):
        if text is not None:
            (tmp_path / name).write_text(text)
    assert fetch.has_route(tmp_path) == there


@pytest.mark.parametrize("failures", [0, 1, 2, 3])
def test_a_network_may_fail_for_a_moment(failures, monkeypatch, capsys):
    """A place is tried three times, and asked only once for it."""
    answers = ["no answer within 5 s"] * failures + [""]
    waited: list[float] = []
    fetch.why_unreachable.cache_clear()
    monkeypatch.setattr(fetch, "has_route", lambda: True)
    monkeypatch.setattr(fetch, "connect", lambda *_: answers.pop(0))
    monkeypatch.setattr(fetch.time, "sleep", waited.append)
    why = "no answer within 5 s" if failures == 3 else ""
    assert [fetch.why_unreachable("mirror.example", 80) for _ in range(2)] == [why] * 2
    assert waited == [2, 5][:failures]
    assert capsys.readouterr().err.count("trying again") == min(failures, 2)


def test_connection_attempts_time_out(monkeypatch):
    monkeypatch.setattr(fetch, "CONNECT_S", 0.1)
    tested = threading.Event()

    def create_connection(*_):
        tested.wait()
        raise OSError

    monkeypatch.setattr(fetch.socket, "create_connection", create_connection)
    assert fetch.connect("nowhere.example", 80) == "no answer within 0 s"
    tested.set()


SETUP_TOOLS = ("bash", "cat", "dirname", "env", "flock", "grep", "mkdir", "paste", "sort", "timeout")
SETUP_STUBS = {
    "id": "echo 0",
    "sleep": 'echo "slept $1"',
    "apt-config": "",
    "apt-cache": "echo '  Candidate: 1.0'",
    "apt-get": 'case "$1" in indextargets) echo http://127.0.0.1:1/debian ;; *) echo "apt-get $*"; exit 100 ;; esac',
}


def test_setup_without_a_network(tmp_path):
    """setup.sh does not call apt, which would wait for each of its sources."""
    programs = tmp_path / "bin"
    programs.mkdir()
    for name in SETUP_TOOLS:
        (programs / name).symlink_to(shutil.which(name))
    for name, script in SETUP_STUBS.items():
        (programs / name).write_text(f"#!{programs}/bash\n{script}\n")
        (programs / name).chmod(0o755)
    (tmp_path / "tools").mkdir()
    shutil.copy(ROOT / "tools" / "setup.sh", tmp_path / "tools")
    command = [str(programs / "bash"), str(tmp_path / "tools" / "setup.sh"), "run"]
    done = subprocess.run(command, env={"PATH": str(programs)}, capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert done.stdout.splitlines() == ["slept 0", "slept 2", "slept 5"], "it tries three times"
    [said] = done.stderr.splitlines()
    assert said.startswith("setup: error: no network: 127.0.0.1:1 cannot be reached; needed from there: gcc-riscv64-")
    assert re.search(r" device-tree-compiler .*; nothing else of .+ is missing$", said), said
