#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Builds a disk with Debian's user land: systemd, udev, D-Bus, and a root shell on the serial line.

The packages of the group `userland` of guests/packages.lock are unpacked into one folder. Their maintainer scripts are
not run: they are for the machine that the packages are installed on. What these scripts would do that a boot needs is
done here (users, PAM's common files, /bin/sh, awk). systemd creates its own users at the first boot.
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import os
import shutil
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
spec = importlib.util.spec_from_file_location("mkdisk", HERE.parent / "disk" / "mkdisk.py")
assert spec is not None
assert spec.loader is not None
mkdisk = importlib.util.module_from_spec(spec)
spec.loader.exec_module(mkdisk)

GROUP = "userland"
MIB = 1 << 20
LEFT_OUT = (
    *("usr/share/doc", "usr/share/man", "usr/share/locale", "usr/share/info", "usr/share/lintian", "usr/share/bug"),
    *(
        "usr/share/i18n",
        "usr/lib/udev/hwdb.d",
        "usr/lib/riscv64-linux-gnu/gconv",
        "usr/share/bash-completion",
        "usr/share/zsh",
    ),
)
# PAM's files that other files include; Debian's pam-auth-update writes them from what is installed.
PAM = {
    "common-auth": "auth required pam_unix.so nullok\n",
    "common-account": "account required pam_unix.so\n",
    "common-password": "password required pam_unix.so nullok yescrypt\n",
    "common-session": "session required pam_unix.so\nsession optional pam_systemd.so\n",
    "common-session-noninteractive": "session required pam_unix.so\n",
}
# Units that would take most of the first boot: databases of what this machine does not have, and of messages' texts.
MASKED = ("systemd-hwdb-update.service", "systemd-journal-catalog-update.service")
SHADOW_DAY = 20000  # of the last change of a password, in days since 1970; any


def merge(package: Path, tree: Path) -> None:
    """Adds the files of an unpacked package. A folder that is a link in the tree, such as /bin, is followed."""
    for folder, folders, files in os.walk(package):
        inside = Path(folder).relative_to(package)
        if str(inside) in LEFT_OUT:
            folders.clear()
            continue
        for name in [*files, *(name for name in folders if Path(folder, name).is_symlink())]:
            source, target = Path(folder, name), tree / inside / name
            target.parent.mkdir(parents=True, exist_ok=True)
            target.unlink(missing_ok=True)
            shutil.copy2(source, target, follow_symlinks=False)
        for name in folders:
            source, target = Path(folder, name), tree / inside / name
            if not source.is_symlink():
                target.mkdir(parents=True, exist_ok=True)
                target.chmod(source.stat().st_mode & 0o7777)


def write(tree: Path, path: str, text: str, mode: int = 0o644) -> None:
    target = tree / path
    target.parent.mkdir(parents=True, exist_ok=True)
    target.unlink(missing_ok=True)
    target.write_text(text, encoding="utf-8")
    target.chmod(mode)


def link(tree: Path, path: str, to: str) -> None:
    (tree / path).parent.mkdir(parents=True, exist_ok=True)
    (tree / path).unlink(missing_ok=True)
    (tree / path).symlink_to(to)


def configure(tree: Path) -> None:
    """What the packages' maintainer scripts would do, and the configuration of this machine."""
    masters = tree / "usr/share/base-passwd"
    users = (masters / "passwd.master").read_text(encoding="utf-8").replace("root:*:", "root:x:")
    write(tree, "etc/passwd", users)
    write(tree, "etc/group", (masters / "group.master").read_text(encoding="utf-8"))
    names = [line.split(":")[0] for line in users.splitlines()]
    lines = [f"{name}:{'' if name == 'root' else '*'}:{SHADOW_DAY}:0:99999:7:::\n" for name in names]
    write(tree, "etc/shadow", "".join(lines), 0o640)
    for name, text in PAM.items():
        write(tree, f"etc/pam.d/{name}", text)
    for name in ("profile", "bash.bashrc"):
        if not (tree / "etc" / name).exists():
            write(tree, f"etc/{name}", "PATH=/usr/sbin:/usr/bin:/sbin:/bin\nPS1='\\u@\\h:\\w\\$ '\nexport PATH\n")
    write(tree, "etc/hostname", "tessera\n")
    write(tree, "etc/hosts", "127.0.0.1 localhost\n127.0.1.1 tessera\n")
    write(tree, "etc/fstab", "/dev/vda1 / ext4 defaults 0 0\n")
    write(tree, "etc/machine-id", "")  # systemd generates one
    link(tree, "etc/systemd/system/default.target", "/usr/lib/systemd/system/multi-user.target")
    link(tree, "usr/bin/awk", "mawk")
    for unit in MASKED:
        link(tree, f"etc/systemd/system/{unit}", "/dev/null")
    login = "ExecStart=-/usr/sbin/agetty --autologin root --noclear --keep-baud 115200 - dumb"
    autologin = f"[Service]\nExecStart=\n{login}\n"
    write(tree, "etc/systemd/system/serial-getty@ttyS0.service.d/autologin.conf", autologin)
    # systemd's 90 s are the host's time: an emulator on a busy host needs more to find /dev/ttyS0.
    timeouts = "[Manager]\nDefaultDeviceTimeoutSec=30min\nDefaultTimeoutStartSec=30min\n"
    write(tree, "etc/systemd/system.conf.d/emulated.conf", timeouts)
    for folder in ("proc", "sys", "dev", "run", "tmp", "root", "mnt", "var/tmp", "var/log"):
        (tree / folder).mkdir(parents=True, exist_ok=True)
    for folder in ("tmp", "var/tmp"):
        (tree / folder).chmod(0o1777)


def build(packages: Path, lock: Path, size: int, output: Path) -> None:
    pins = json.loads(lock.read_text(encoding="utf-8"))["debian"]
    names = [name for name, pin in pins.items() if pin.get("group") == GROUP]
    names.sort(key=lambda name: name != "base-files")  # first: /bin, /lib and /sbin are links to folders of /usr
    with tempfile.TemporaryDirectory() as folder:
        tree = Path(folder)
        for name in names:
            merge(packages / name, tree)
        configure(tree)
        mkdisk.build(tree, size, output, {})


def main() -> int:
    parser = argparse.ArgumentParser(description="Builds a disk with Debian's user land.")
    parser.add_argument("--packages", type=Path, required=True, help="folder of the unpacked packages")
    parser.add_argument("--lock", type=Path, required=True, help="guests/packages.lock")
    parser.add_argument("--size-mib", type=int, required=True, help="of the image")
    parser.add_argument("--output", type=Path, required=True, help="the image")
    arguments = parser.parse_args()
    try:
        build(arguments.packages, arguments.lock, arguments.size_mib * MIB, arguments.output)
    except mkdisk.BuildError as error:
        print(f"mkdebian: error: {error}", file=sys.stderr)
        return 1
    except OSError as error:
        print(f"mkdebian: error: {error.filename}: {error.strerror}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
