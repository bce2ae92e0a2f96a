#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Fetches the sources of the guests (Debian packages of another architecture, the sources of lwIP, the
FreeRTOS kernel), and the crates of our own tools.

guests/packages.lock pins versions, checksums and places. Debian packages come from the machine's
mirror, through an apt with a separate state under cache/apt; the host's apt is not changed. If the
mirror no longer has a pinned package, apt finds its successor in the index, whose signature it
checks with Debian's keyring. This program uses the standard library only, because it runs before
anything is installed.
"""

from __future__ import annotations

import argparse
import contextlib
import fcntl
import functools
import hashlib
import json
import os
import re
import shutil
import socket
import subprocess
import sys
import tarfile
import threading
import time
import urllib.parse
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
LOCK = ROOT / "guests" / "packages.lock"
KEYRING = Path("/usr/share/keyrings/debian-archive-keyring.gpg")
GROUPS = {
    "linux": ["debian-installer-13-netboot-riscv64", "busybox-static"],
    "linux-modules": ["linux-image-6.12.107+deb13-riscv64"],  # all modules of the installer's kernel
    "uboot": ["u-boot-qemu"],
    "edk2": ["qemu-efi-riscv64"],
    "grub": ["grub-efi-riscv64-unsigned"],
    # An SSH server with its libraries.
    "ssh": ["dropbear-bin", "libc6", "libcrypt1", "libgmp10", "libtomcrypt1", "libtommath1", "zlib1g"],
    "iperf": ["iperf", "libgcc-s1", "libstdc++6"],
    # A small Python: of the whole standard library one module is taken. It also needs libc6 and zlib1g.
    "python": ["python3.13-minimal", "libpython3.13-minimal", "libpython3.13-stdlib", "libexpat1"],
}
USERLAND = "userland"  # the packages of this group in packages.lock: Debian with systemd
SOURCE = "lwip"
CRATE = "freertos-next"
QEMU_PACKAGE = "qemu-system-riscv"
CONNECT_S = 5.0
CONNECT_AGAIN_S = (2.0, 5.0)  # waits between the attempts to reach another machine
APT_HELPER = "/usr/lib/apt/apt-helper"
BATCH = 8  # pinned files of one download
INDEX_FRESH_S = 900.0  # one build fetches several times; Debian's index changes a few times a day
# A network can fail for a moment.
BROKEN = re.compile(
    r"50[0234] |Temporary failure|timed out|Could not connect|Unable to connect|Connection failed|Connection reset"
)
# During an update, a mirror or a proxy holds files of two states for some minutes.
UPDATED = re.compile(r"Mirror sync in progress|Hash Sum mismatch|unexpected size")
RETRY_AFTER_S = (20.0, 40.0, 80.0)


class FetchError(Exception):
    """A download is not possible; the text gives cause and remedy on one line."""


class NoNetworkError(FetchError):
    """The source of a download cannot be reached."""


def say(text: str) -> None:
    print(f"fetch: {text}", file=sys.stderr, flush=True)


def sha256_file(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def is_file_of(path: Path, sha256: str) -> bool:
    """Returns whether the file exists with this checksum."""
    return path.exists() and sha256_file(path) == sha256


def run(command: list[str], what: str, **options: object) -> str:
    """Runs a command and returns its output; if it fails, raises FetchError with its first line of
    error output."""
    try:
        done = subprocess.run(command, text=True, capture_output=True, check=False, **options)  # type: ignore[call-overload]
    except FileNotFoundError:
        raise FetchError(f"{what}: the program '{command[0]}' is not installed (run: make setup)") from None
    if done.returncode != 0:
        lines = [line for line in (done.stderr + done.stdout).splitlines() if line.strip()]
        errors = [line for line in lines if re.match(r"(E:|error|dpkg-deb: error)", line)] or lines
        raise FetchError(f"{what}: {errors[0].strip() if errors else f'exit status {done.returncode}'}")
    return str(done.stdout)


# --- Debian's mirror ------------------------------------------------------------------------------


def os_release() -> dict[str, str]:
    text = Path("/etc/os-release").read_text(encoding="utf-8")
    return {key: value.strip('"') for key, _, value in (line.partition("=") for line in text.splitlines()) if key}


def one_line_sources(text: str) -> Iterator[tuple[str, list[str], list[str]]]:
    """Yields (uri, suites, components) of each `deb` line."""
    for line in text.splitlines():
        fields = re.sub(r"\[[^]]*\]", "", line.partition("#")[0]).split()
        if len(fields) >= 4 and fields[0] == "deb":
            yield fields[1], [fields[2]], fields[3:]


def deb822_sources(text: str) -> Iterator[tuple[str, list[str], list[str]]]:
    """Yields (uri, suites, components) of each enabled `Types: deb` stanza."""
    text = re.sub(r"^#.*\n?", "", text, flags=re.MULTILINE)
    for stanza in re.split(r"\n\s*\n", text):
        unfolded = re.sub(r"\n[ \t]+", " ", stanza)
        fields = {k.strip().lower(): v.split() for k, _, v in (line.partition(":") for line in unfolded.splitlines())}
        if "deb" in fields.get("types", []) and fields.get("enabled") != ["no"] and fields.get("uris"):
            yield fields["uris"][0], fields.get("suites", []), fields.get("components", [])


def apt_sources(etc: Path) -> Iterator[tuple[str, list[str], list[str]]]:
    """Yields (uri, suites, components) of all sources of this machine's apt."""
    parts = etc / "sources.list.d"
    for path in [etc / "sources.list", *(sorted(parts.iterdir()) if parts.is_dir() else [])]:
        if path.suffix == ".list" and path.is_file():
            yield from one_line_sources(path.read_text(encoding="utf-8", errors="replace"))
        elif path.suffix == ".sources":
            yield from deb822_sources(path.read_text(encoding="utf-8", errors="replace"))


def host_mirror(etc: Path = Path("/etc/apt")) -> str | None:
    """Returns the mirror of this Debian machine's release; None without a mirror, or on another
    distribution."""
    release = os_release()
    if release.get("ID") != "debian":
        return None
    codename = release.get("VERSION_CODENAME", "stable")
    moving = {"stable", "testing", "sid", "unstable"}
    found = [entry for entry in apt_sources(etc) if "main" in entry[2] and not entry[0].startswith("cdrom:")]
    debian = [uri for uri, suites, _ in found if uri.rstrip("/").endswith("debian") and {codename, *moving} & {*suites}]
    # A mirror can have any path, but third parties also name their suites bookworm or stable.
    other = [uri for uri, suites, _ in found if codename in suites]
    return next(iter(debian + other), None)


def mirror() -> str:
    uri = os.environ.get("DEBIAN_MIRROR") or host_mirror()
    if not uri:
        raise FetchError(
            "no Debian mirror is known on this machine: name one that carries riscv64, "
            "for instance  make run DEBIAN_MIRROR=<URL of your nearest Debian mirror>"
        )
    return uri


# --- the network ----------------------------------------------------------------------------------


def has_route(proc: Path = Path("/proc/net")) -> bool:
    """Returns whether the machine has a route to another machine; True if this cannot be
    determined."""
    lines: list[list[str]] = []
    for name, header in (("route", 1), ("ipv6_route", 0)):
        with contextlib.suppress(OSError):
            lines += [line.split() for line in (proc / name).read_text(encoding="ascii").splitlines()[header:]]
    devices = {line[0] if len(line) == 11 else line[-1] for line in lines if line}
    return not (proc / "route").exists() or bool(devices - {"lo"})


def uses_proxy() -> bool:
    """Returns whether downloads use a proxy; only the proxy knows which places it can reach."""
    names = [f"{scheme}_proxy" for scheme in ("http", "https", "all")]
    if any(os.environ.get(name) or os.environ.get(name.upper()) for name in names):
        return True
    dump = subprocess.run(["apt-config", "dump"], text=True, capture_output=True, check=False).stdout
    return bool(re.search(r'^Acquire::https?::.*Proxy.* "[^"]+";$', dump, re.MULTILINE | re.IGNORECASE))


def connect(host: str, port: int) -> str:
    """Returns why a connection fails, an empty string if it succeeds. Times out after CONNECT_S,
    name lookup included."""
    found = [f"no answer within {CONNECT_S:.0f} s"]

    def attempt() -> None:
        try:
            socket.create_connection((host, port), CONNECT_S).close()
            found[0] = ""
        except OSError as error:
            found[0] = error.strerror or str(error)

    thread = threading.Thread(target=attempt, daemon=True)
    thread.start()
    thread.join(CONNECT_S)
    return found[0]


@functools.cache  # asked once for each place: a later failure is one of the download, which apt reports
def why_unreachable(host: str, port: int) -> str:
    """Returns why a machine cannot be reached, an empty string if it can."""
    if host == "localhost" or host.startswith("127."):
        return connect(host, port)
    if not has_route():
        return "this machine has no route to any other"
    for wait_s in CONNECT_AGAIN_S:
        why = connect(host, port)
        if not why:
            return ""
        say(f"{host}:{port} cannot be reached ({why}); trying again in {wait_s:.0f} s")
        time.sleep(wait_s)
    return connect(host, port)


def check_reachable(uri: str, needed: list[str]) -> None:
    """Raises NoNetworkError within half a minute, if a download from `uri` would fail after
    minutes."""
    place = urllib.parse.urlsplit(uri)
    if place.scheme not in ("http", "https") or not place.hostname or uses_proxy():
        return
    port = place.port or (443 if place.scheme == "https" else 80)
    why = why_unreachable(place.hostname, port)
    if why:
        what = f"{place.hostname}:{port} cannot be reached ({why})"
        raise NoNetworkError(f"no network: {what}; needed from there: {', '.join(needed)}")


def still_missing(cache: Path) -> list[str]:
    """Returns all downloads for the guests and our own tools that are still missing."""
    lock = read_lock()
    packages = [
        name for name, pin in lock["debian"].items()
        if not holds(cache / "pkg" / f"{name}.json", pinned_part(pin))
    ]  # fmt: skip
    crates = [name for name, pin in lock["tools"].items() if not holds(cache / "crates" / f"{name}.json", pin)]
    source = [] if holds(cache / "pkg" / f"{SOURCE}.json", pinned_part(lock["source"][SOURCE])) else [SOURCE]
    freertos = [] if holds(cache / "freertos" / "FreeRTOS-Kernel.json", lock["crate"][CRATE]) else [CRATE]
    return [*packages, *source, *freertos, *crates]


# --- a private apt --------------------------------------------------------------------------------


@dataclass
class Package:
    """One package, as described in the signed index of the suite."""

    name: str
    architecture: str
    version: str
    sha256: str
    size: int
    file: str  # path on a mirror


class Apt:
    """A separate apt for one suite and architecture, with its state under cache/apt; the host's apt
    is not changed."""

    def __init__(self, cache: Path, suite: str, architecture: str) -> None:
        self.suite = suite
        self.architecture = architecture
        self.root = cache / "apt" / f"{suite}-{architecture}"
        self.config = self.root / "apt.conf"
        self.downloads = cache / "debs"
        self.updated = False
        self.wanted: list[str] = []  # packages, for messages

    def _write_config(self) -> str:
        """Writes our apt.conf and sources.list; returns the latter."""
        host = run(["dpkg", "--print-architecture"], "this needs a Debian or Ubuntu machine").strip()
        for folder in ("state/lists/partial", "cache/archives/partial", "etc/none"):
            (self.root / folder).mkdir(parents=True, exist_ok=True)
        self.downloads.mkdir(parents=True, exist_ok=True)
        (self.root / "state/status").touch()
        if not KEYRING.exists():
            raise FetchError(f"{KEYRING} is missing: install the package debian-archive-keyring (run: make setup)")
        source = self._source_line()
        (self.root / "etc/sources.list").write_text(source, encoding="utf-8")
        # apt reads this file after the host's configuration (-c), which sets proxies and
        # certificates. The host's hooks must not run, because they would clean up the host's apt.
        hooks = ("APT::Update::Pre-Invoke", "APT::Update::Post-Invoke", "APT::Update::Post-Invoke-Success")
        lines = [f"#clear {hook};" for hook in (*hooks, "DPkg::Pre-Invoke", "DPkg::Post-Invoke", "APT::Architectures")]
        lines += [
            f'APT::Architectures {{"{host}"; "{self.architecture}";}};',
            f'Dir::State "{self.root}/state";',
            f'Dir::State::status "{self.root}/state/status";',
            f'Dir::Cache "{self.root}/cache";',
            'Dir::Cache::pkgcache "";',
            'Dir::Cache::srcpkgcache "";',
            f'Dir::Etc::sourcelist "{self.root}/etc/sources.list";',
            f'Dir::Etc::sourceparts "{self.root}/etc/none";',
            f'Dir::Etc::preferences "{self.root}/etc/preferences";',
            f'Dir::Etc::preferencesparts "{self.root}/etc/none";',
            'APT::Update::Error-Mode "any";',
            'APT::Sandbox::User "root";',  # the download folder belongs to the user who builds, not to _apt
            'Acquire::Languages "none";',
        ]
        self.config.write_text("\n".join(lines) + "\n", encoding="utf-8")
        return source

    def _source_line(self) -> str:
        return f"deb [arch={self.architecture} target=Packages signed-by={KEYRING}] {mirror()} {self.suite} main\n"

    def call(self, tool: str, *arguments: str, what: str) -> str:
        command = [tool, "-c", str(self.config), "-q", *arguments]
        return run(command, what, cwd=self.downloads, env={**os.environ, "LC_ALL": "C"})

    def call_with_retries(self, tool: str, *arguments: str, what: str, retried: Sequence[re.Pattern[str]]) -> str:
        """Runs a program of apt; repeats it after a pause if it failed for one of the `retried` reasons."""
        refresh: tuple[str, ...] = ()
        for wait_s in RETRY_AFTER_S:
            try:
                return self.call(tool, *refresh, *arguments, what=what)
            except FetchError as error:
                if not any(reason.search(str(error)) for reason in retried):
                    raise
                say(f"{error}; trying again in {wait_s:.0f} s")
            time.sleep(wait_s)
            refresh = ("-o", "Acquire::http::No-Cache=true", "-o", "Acquire::https::No-Cache=true")
        return self.call(tool, *refresh, *arguments, what=what)

    def update(self) -> None:
        if self.updated:
            return
        source = self._write_config()
        stamp = self.root / "updated"  # contains the source of the last update
        fresh = stamp.exists() and time.time() - stamp.stat().st_mtime < INDEX_FRESH_S and stamp.read_text() == source
        if not fresh:
            stamp.unlink(missing_ok=True)
            check_reachable(mirror(), [f"the index of Debian {self.suite}", *self.wanted])
            say(f"reading the index of Debian {self.suite} for {self.architecture} (about 10 MB)")
            what = f"Debian {self.suite} at {mirror()} cannot be read"
            self.call_with_retries("apt-get", "update", what=what, retried=[BROKEN, UPDATED])
            stamp.write_text(source, encoding="utf-8")
        self.updated = True

    def show(self, names: list[str]) -> list[Package]:
        """Returns the packages that the suite has now, in the order of the index."""
        self.update()
        # apt requires the name of an architecture other than the host's; not for packages for all
        # architectures.
        queries = [q for name in names for q in (name, f"{name}:{self.architecture}")]
        text = subprocess.run(
            ["apt-cache", "-c", str(self.config), "show", "--no-all-versions", *queries],
            text=True,
            capture_output=True,
            check=False,
        ).stdout
        found: dict[str, Package] = {}
        for stanza in text.split("\n\n"):
            fields = dict(re.findall(r"^([A-Za-z0-9-]+): (.*)$", stanza, flags=re.MULTILINE))
            if {"Package", "Architecture", "Version", "SHA256", "Size", "Filename"} <= fields.keys():
                found[fields["Package"]] = Package(
                    name=fields["Package"],
                    architecture=fields["Architecture"],
                    version=fields["Version"],
                    sha256=fields["SHA256"],
                    size=int(fields["Size"]),
                    file=fields["Filename"],
                )
        return list(found.values())

    def path(self, name: str, version: str, architecture: str) -> Path:
        """Returns the path to which apt downloads a package."""
        return self.downloads / f"{name}_{version.replace(':', '%3a')}_{architecture}.deb"

    def download(self, packages: list[Package]) -> list[Path]:
        """Downloads packages and checks them against the signed index."""
        files = {self.path(p.name, p.version, p.architecture): p for p in packages}
        absent = {file: package for file, package in files.items() if not is_file_of(file, package.sha256)}
        if absent:
            for file in absent:
                file.unlink(missing_ok=True)
            self._download(list(absent.values()))
        for file, package in absent.items():
            if not is_file_of(file, package.sha256):
                raise FetchError(f"{file.name}: not what the signed index of Debian {self.suite} promises")
        return list(files)

    def _download(self, packages: list[Package]) -> None:
        names = " ".join(p.name for p in packages) if len(packages) <= 4 else f"{len(packages)} packages"
        check_reachable(mirror(), [p.name for p in packages])
        say(f"downloading {names} ({sum(p.size for p in packages) / 1e6:.1f} MB)")
        wanted = [f"{p.name}{'' if p.architecture == 'all' else ':' + p.architecture}={p.version}" for p in packages]
        what = f"{names} cannot be downloaded"
        self.call_with_retries("apt-get", "download", *wanted, what=what, retried=[BROKEN, UPDATED])

    def place(self, name: str, pin: dict[str, str]) -> Path:
        """Returns the path to which a pinned file is downloaded."""
        return self.path(name, pin["version"], pin["architecture"])

    def download_pinned(self, pins: dict[str, dict[str, str]]) -> dict[str, Path]:
        """
        Downloads files from their pinned places; returns their paths, without those that the
        mirror no longer has.

        The checksums are pinned, so that no index is needed: a mirror may be replacing its index.
        """
        absent = [name for name in pins if not self._has(name, pins[name])]
        for first in range(0, len(absent), BATCH):
            self._download_batch({name: pins[name] for name in absent[first : first + BATCH]})
        return {name: self.place(name, pins[name]) for name in pins if self._has(name, pins[name])}

    def _has(self, name: str, pin: dict[str, str]) -> bool:
        return is_file_of(self.place(name, pin), pin["sha256"])

    def _download_batch(self, pins: dict[str, dict[str, str]]) -> None:
        """Downloads some files by one program, so that a mirror sees one connection."""
        self._write_config()
        check_reachable(mirror(), self.wanted)
        arguments: list[str] = []
        for name, pin in pins.items():
            self.place(name, pin).unlink(missing_ok=True)
            arguments += [
                f"{mirror().rstrip('/')}/{pin['file']}",
                str(self.place(name, pin)),
                f"SHA256:{pin['sha256']}",
            ]
        names = ", ".join(f"{name} {pin['version']}" for name, pin in pins.items())
        say(f"downloading {names}")
        try:
            self.call_with_retries(APT_HELPER, "download-file", *arguments, what=names, retried=[BROKEN])
        except FetchError as error:
            say(f"note: not as pinned at {mirror()} ({error}); looking in the index")


class SourceApt(Apt):
    """A separate apt for the source packages of a suite."""

    def __init__(self, cache: Path, suite: str) -> None:
        super().__init__(cache, suite, "source")

    def _source_line(self) -> str:
        return f"deb-src [signed-by={KEYRING}] {mirror()} {self.suite} main\n"

    def current(self, name: str) -> dict[str, str]:
        """Returns the pin of the upstream sources that the suite has now."""
        self.update()
        text = self.call("apt-cache", "showsrc", "--only-source", name, what=f"the source package {name}")
        folder = re.search(r"^Directory: (\S+)$", text, flags=re.MULTILINE)
        file = re.search(r"^ ([0-9a-f]{64}) \d+ (\S+_(\S+)\.orig\.tar\.\w+)$", text, flags=re.MULTILINE)
        if not folder or not file:
            raise FetchError(f"{name}: Debian {self.suite} has no such source package with an orig.tar file")
        return {"version": file[3], "sha256": file[1], "file": f"{folder[1]}/{file[2]}"}

    def place(self, name: str, pin: dict[str, str]) -> Path:
        return self.downloads / Path(pin["file"]).name


# --- the guests' sources --------------------------------------------------------------------------


def read_lock() -> dict:
    try:
        lock: dict = json.loads(LOCK.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise FetchError(f"{LOCK}: {error}") from None
    return lock


def names_of(group: str) -> list[str]:
    """Returns the packages of a group."""
    listed = [name for name, pin in read_lock()["debian"].items() if pin.get("group") == group]
    return GROUPS.get(group, listed)


def write_lock(lock: dict) -> None:
    LOCK.write_text(json.dumps(lock, indent=2) + "\n", encoding="utf-8")


def extract(deb: Path, target: Path) -> None:
    """Replaces the folder `target` by the files of a package, atomically."""
    partial = target.with_name(target.name + ".partial")
    shutil.rmtree(partial, ignore_errors=True)
    partial.mkdir(parents=True)
    run(["dpkg-deb", "-x", str(deb), str(partial)], f"{deb.name} cannot be unpacked")
    shutil.rmtree(target, ignore_errors=True)
    partial.rename(target)


def current_package(apt: Apt, name: str) -> Package:
    """Returns the package that the suite has now."""
    found = [package for package in apt.show([name]) if package.name == name]
    if not found:
        raise FetchError(f"{name}: Debian {apt.suite} has no such package for {apt.architecture}")
    return found[0]


def pin_of(package: Package) -> dict[str, str]:
    """Returns the entry of a package for guests/packages.lock."""
    kept = ("architecture", "version", "sha256", "file")
    return {name: getattr(package, name) for name in kept}


def choose_version(name: str, pin: dict[str, str], current: dict[str, str], suite: str) -> None:
    """Accepts the suite's current version: the pinned one, or its successor, which is reported."""
    same = current["version"] == pin["version"]
    if same and current["sha256"] != pin["sha256"]:
        raise FetchError(
            f"{name} {current['version']}: {suite} has SHA-256 {current['sha256']}, "
            f"{LOCK.relative_to(ROOT)} expects {pin['sha256']}"
        )
    if not same:
        say(
            f"note: {suite} no longer has {name} {pin['version']}; taking {current['version']}, whose signature "
            "apt has checked (make update-lock pins it)"
        )


def holds(stamp: Path, pinned: dict[str, str]) -> bool:
    """Returns whether the stamp's folder was made for this pin."""
    if not stamp.exists():
        return False
    have = json.loads(stamp.read_text(encoding="utf-8"))
    return {key: have.get(key) for key in pinned} == pinned


def pinned_part(pin: dict[str, str]) -> dict[str, str]:
    """Returns what the stamp of a Debian package says about its pin."""
    return {"pinned": pin["version"], "pinned_sha256": pin["sha256"]}


def write_stamp(stamp: Path, pin: dict[str, str], taken: dict[str, str]) -> None:
    taken = {name: taken[name] for name in ("version", "sha256")}
    stamp.write_text(json.dumps(pinned_part(pin) | taken, indent=2) + "\n", encoding="utf-8")


def pin_current(lock: dict, apt: Apt, names: list[str]) -> None:
    """Pins the suite's current version of each package, also of those that are new in their group."""
    for name in names:
        lock["debian"].setdefault(name, {}).update(pin_of(current_package(apt, name)))
    write_lock(lock)


def download_successor(apt: Apt, name: str, pin: dict[str, str]) -> tuple[Path, dict[str, str]]:
    """Downloads the package that the suite has instead of the pinned one; returns it with its pin."""
    package = current_package(apt, name)
    choose_version(name, pin, pin_of(package), apt.suite)
    [deb] = apt.download([package])
    return deb, pin_of(package)


def fetch_debian(cache: Path, names: list[str], update_lock: bool) -> None:
    """Unpacks each package into cache/pkg/<name>, and writes its description to
    cache/pkg/<name>.json."""
    lock = read_lock()
    apt = Apt(cache, lock["suite"], "riscv64")
    if update_lock:
        pin_current(lock, apt, names)
    pins = {name: lock["debian"][name] for name in names}
    stamps = {name: cache / "pkg" / f"{name}.json" for name in names}
    apt.wanted = [name for name in names if not holds(stamps[name], pinned_part(pins[name]))]
    files = apt.download_pinned({name: pins[name] for name in apt.wanted})
    for name in apt.wanted:
        deb, taken = (files[name], pins[name]) if name in files else download_successor(apt, name, pins[name])
        extract(deb, cache / "pkg" / name)
        write_stamp(stamps[name], pins[name], taken)
    for stamp in stamps.values():
        stamp.touch()  # make compares times


def download_current(apt: SourceApt, name: str, current: dict[str, str]) -> Path:
    archive = apt.download_pinned({name: current}).get(name)
    if archive is None:
        raise FetchError(f"{name} {current['version']}: not what the signed index of Debian {apt.suite} promises")
    return archive


def fetch_source(cache: Path, name: str, update_lock: bool) -> None:
    """Unpacks the upstream part of a Debian source package, without Debian's patches, into
    cache/pkg/<name>."""
    lock = read_lock()
    pin = lock["source"][name]
    stamp = cache / "pkg" / f"{name}.json"
    if not update_lock and holds(stamp, pinned_part(pin)):
        stamp.touch()  # make compares times
        return
    apt = SourceApt(cache, lock["suite"])
    apt.wanted = [name]
    if update_lock:
        pin.update(apt.current(name))
    taken = pin
    archive = apt.download_pinned({name: pin}).get(name)
    if archive is None:
        taken = apt.current(name)
        choose_version(name, pin, taken, lock["suite"])
        archive = download_current(apt, name, taken)
    if unpack_archive(archive, top_folder(archive), cache / "pkg" / name) == 0:
        raise FetchError(f"{archive}: it is empty")
    write_stamp(stamp, pin, taken)
    if update_lock:
        write_lock(lock)


def find_crate(name: str, version: str) -> Path | None:
    home = Path(os.environ.get("CARGO_HOME") or Path.home() / ".cargo")
    return next(iter((home / "registry" / "cache").glob(f"*/{name}-{version}.crate")), None)


def cargo_fetch(folder: Path, versions: dict[str, str]) -> None:
    """Downloads crates by cargo, from the registry that this machine's cargo is configured for."""
    shutil.rmtree(folder, ignore_errors=True)
    (folder / "src").mkdir(parents=True)
    (folder / "src" / "lib.rs").touch()
    wanted = "".join(
        f'{name} = {{ version = "={version}", default-features = false }}\n' for name, version in versions.items()
    )
    manifest = f'[package]\nname = "fetch"\nversion = "0.0.0"\n\n[dependencies]\n{wanted}\n[workspace]\n'
    (folder / "Cargo.toml").write_text(manifest, encoding="utf-8")
    command = [os.environ.get("CARGO", "cargo"), "fetch", "--manifest-path", str(folder / "Cargo.toml")]
    patience = {"CARGO_NET_RETRY": "1", "CARGO_HTTP_TIMEOUT": "15", **os.environ}
    try:
        run(command, "cargo cannot reach the registry of crates", env=patience)
    except FetchError as error:
        raise NoNetworkError(f"{error}; needed from there: {', '.join(versions)}") from None


def pinned_crate(name: str, pin: dict[str, str]) -> Path:
    """Returns the path of the crate in cargo's cache, after a check of its pinned checksum."""
    crate = find_crate(name, pin["version"])
    if crate is None:
        raise FetchError(f"cargo fetched {name} {pin['version']} but left no .crate file in its cache (CARGO_HOME?)")
    if sha256_file(crate) != pin["sha256"]:
        raise FetchError(f"{crate}: SHA-256 is {sha256_file(crate)}, {LOCK.relative_to(ROOT)} expects {pin['sha256']}")
    return crate


def top_folder(file: Path) -> str:
    """Returns the name of the archive's only folder, with a slash."""
    with tarfile.open(file) as archive:
        first = archive.next()
    return f"{first.name.partition('/')[0]}/" if first else ""


def unpack_archive(file: Path, prefix: str, target: Path) -> int:
    """Unpacks a folder of a crate or another archive into `target`; returns the number of files."""
    partial = target.with_name(target.name + ".partial")
    shutil.rmtree(partial, ignore_errors=True)
    count = 0
    with tarfile.open(file) as archive:
        for member in archive:
            if not member.isfile() or not member.name.startswith(prefix) or ".." in Path(member.name).parts:
                continue
            path = partial / member.name[len(prefix) :]
            path.parent.mkdir(parents=True, exist_ok=True)
            source = archive.extractfile(member)
            path.write_bytes(source.read() if source else b"")
            count += 1
    shutil.rmtree(target, ignore_errors=True)
    if count:
        partial.rename(target)
    return count


def fetch_freertos(cache: Path, update_lock: bool) -> None:
    """Unpacks the FreeRTOS kernel into cache/freertos/FreeRTOS-Kernel."""
    pin = read_lock()["crate"][CRATE]
    target = cache / "freertos" / "FreeRTOS-Kernel"
    stamp = cache / "freertos" / "FreeRTOS-Kernel.json"
    if stamp.exists() and not update_lock and json.loads(stamp.read_text(encoding="utf-8")) == pin:
        stamp.touch()
        return
    if find_crate(CRATE, pin["version"]) is None:
        say(f"downloading the crate {CRATE} {pin['version']} (5 MB) with cargo")
        cargo_fetch(cache / "freertos" / "fetch", {CRATE: pin["version"]})
    crate = pinned_crate(CRATE, pin)
    if unpack_archive(crate, f"{CRATE}-{pin['version']}/FreeRTOS-Kernel/", target) == 0:
        raise FetchError(f"{crate}: it holds no FreeRTOS-Kernel folder")
    stamp.write_text(json.dumps(pin, indent=2) + "\n", encoding="utf-8")


def fetch_crates(cache: Path) -> None:
    """Unpacks the crates of our own tools into cache/crates/<name>."""
    pins = read_lock()["tools"]
    folder = cache / "crates"
    missing = {name: pin for name, pin in pins.items() if not holds(folder / f"{name}.json", pin)}
    unknown = {name: pin["version"] for name, pin in missing.items() if find_crate(name, pin["version"]) is None}
    if unknown:
        say(f"downloading the crates {', '.join(unknown)} (1 MB) with cargo")
        cargo_fetch(folder / "fetch", {name: pin["version"] for name, pin in pins.items()})
    for name, pin in missing.items():
        crate = pinned_crate(name, pin)
        if unpack_archive(crate, f"{name}-{pin['version']}/", folder / name) == 0:
            raise FetchError(f"{crate}: it is empty")
        (folder / f"{name}.json").write_text(json.dumps(pin, indent=2) + "\n", encoding="utf-8")


# --- a newer QEMU for tests -----------------------------------------------------------------------


def dependency_names(apt: Apt, package: str) -> list[str]:
    """Returns the package and all its dependencies, as apt resolves them on a machine without
    installed packages."""
    apt.update()
    what = f"the packages {package} needs cannot be listed"
    flags = ("-o", "APT::Install-Recommends=false", "--simulate", "install")
    lines = apt.call("apt-get", *flags, package, what=what).splitlines()
    return [line.split()[1] for line in lines if line.startswith("Inst ")]


def forget_module_folder(root: Path) -> None:
    """Replaces the host's module folder in the fetched QEMU's binary by a path that does not exist:
    the host's modules are of another version, and QEMU would print an error for each of them."""
    binary = root / "root/usr/bin/qemu-system-riscv64"
    for folder in (root / "root/usr/lib").glob("*/qemu"):
        path = b"/" + bytes(folder.relative_to(root / "root"))
        nowhere = b"/nonexistent".ljust(len(path), b"_")
        binary.write_bytes(binary.read_bytes().replace(path + b"\0", nowhere + b"\0"))


def write_wrapper(root: Path) -> None:
    usr = root / "root" / "usr"
    loaders = sorted(usr.glob("lib*/ld-linux-*.so.*"))
    libraries = [path.parent for path in usr.glob("lib/*/libc.so.6")]
    if not loaders or not libraries:
        raise FetchError(f"{root}: libc6 brought no program loader")
    loader, libs = (path.relative_to(root / "root") for path in (loaders[0], libraries[0]))
    wrapper = root / "qemu-system-riscv64"
    wrapper.write_text(
        "#!/bin/sh\n"
        # REUSE-IgnoreStart
        "# SPDX-License-Identifier: Apache-2.0\n"
        # REUSE-IgnoreEnd
        "# Runs this folder's QEMU with this folder's C library: the host's may be too old for it.\n"
        'root=$(CDPATH="" cd -- "$(dirname -- "$0")/root" && pwd)\n'
        f'exec "$root/{loader}" --library-path "$root/{libs}" "$root/usr/bin/qemu-system-riscv64" '
        '-L "$root/usr/share/qemu" "$@"\n',
        encoding="utf-8",
    )
    wrapper.chmod(0o755)


def fetch_qemu_new(cache: Path) -> None:
    """Unpacks the suite's QEMU with all its libraries into cache/qemu-new; the host is not
    changed."""
    root = cache / "qemu-new"
    host = run(["dpkg", "--print-architecture"], "this needs a Debian or Ubuntu machine").strip()
    apt = Apt(cache, read_lock()["suite"], host)
    names = dependency_names(apt, QEMU_PACKAGE)
    packages = apt.show(names)
    missing = set(names) - {package.name for package in packages}
    if missing:
        raise FetchError(f"the index lacks {', '.join(sorted(missing))}")
    shutil.rmtree(root, ignore_errors=True)
    (root / "root").mkdir(parents=True)
    # The new system has a merged /usr, which must also receive the files of packages that still
    # ship /lib.
    for folder in ("bin", "lib", "lib64", "sbin"):
        (root / "root" / "usr" / folder).mkdir(parents=True, exist_ok=True)
        (root / "root" / folder).symlink_to(f"usr/{folder}")
    for deb in apt.download(packages):
        run(["dpkg-deb", "-x", str(deb), str(root / "root")], f"{deb.name} cannot be unpacked")
    forget_module_folder(root)
    write_wrapper(root)
    version = run([str(root / "qemu-system-riscv64"), "--version"], "the fetched QEMU does not start").splitlines()[0]
    say(f"{root / 'qemu-system-riscv64'}: {version}")


# --- command line ---------------------------------------------------------------------------------


@contextlib.contextmanager
def exclusive(cache: Path) -> Iterator[None]:
    """Locks the cache: a second fetcher waits, and then finds all files."""
    cache.mkdir(parents=True, exist_ok=True)
    with (cache / ".fetch.lock").open("w", encoding="utf-8") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


def main() -> int:
    parser = argparse.ArgumentParser(description="Fetches packages, sources and crates into cache/ and checks them.")
    parser.add_argument("what", nargs="+", choices=[*GROUPS, USERLAND, SOURCE, "freertos", "crates", "qemu-new"])
    parser.add_argument("--cache", type=Path, default=ROOT / "cache", help="folder of downloads")
    parser.add_argument("--update-lock", action="store_true", help="pin the suite's current versions in packages.lock")
    arguments = parser.parse_args()
    cache = arguments.cache.resolve()
    try:
        with exclusive(cache):
            for what in arguments.what:
                if what in GROUPS or what == USERLAND:
                    fetch_debian(cache, names_of(what), arguments.update_lock)
                elif what == SOURCE:
                    fetch_source(cache, what, arguments.update_lock)
                elif what == "freertos":
                    fetch_freertos(cache, arguments.update_lock)
                elif what == "crates":
                    fetch_crates(cache)
                else:
                    fetch_qemu_new(cache)
    except FetchError as error:
        print(f"fetch: error: {error}", file=sys.stderr)
        if isinstance(error, NoNetworkError):
            say(f"all that is still to be downloaded: {', '.join(still_missing(cache))}; nothing else needs a network")
        return 1
    except OSError as error:
        print(f"fetch: error: {error.filename}: {error.strerror}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
