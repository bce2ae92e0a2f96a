# SPDX-License-Identifier: Apache-2.0
"""`make smoke` as users and CI run it: its output and exit status, and the error messages of the
runner."""

import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from helpers import clean_environment

from tessera.run.hosttime import Limit
from tessera.run.runner import ROOT

RUN = [sys.executable, str(ROOT / "tools" / "run.py")]


def run(*arguments, timeout=180, **environment):
    """Runs tools/run.py; returns its exit status and its output."""
    env = {**os.environ, **environment}
    done = subprocess.run(
        [*RUN, *arguments],
        cwd=ROOT,
        env=env,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=timeout,
        check=False,
    )
    return done.returncode, done.stdout


def fake_qemu(folder: Path, script: str) -> str:
    path = folder / "fake-qemu"
    path.write_text(f"#!/bin/sh\n{script}\n")
    path.chmod(0o755)
    return str(path)


def assert_one_clear_line(status, output, *words):
    """The output is a single error line that contains the words, and no traceback."""
    lines = output.strip().splitlines()
    assert status != 0
    assert len(lines) == 1, output
    for word in words:
        assert word in lines[0], output


def test_smoke_sees_every_guest_of_demo(build_system):
    system = build_system("demo")
    status, output = run("smoke", "--system", "demo")
    assert status == 0, output
    for name in system.awaited():
        assert re.search(rf"^smoke: {name} +\d+\.\d s ", output, re.MULTILINE), output


def test_smoke_names_the_silent_vm(build_system):
    """The same image with a sign of life that hello never prints: smoke must fail and name
    hello. This small system boots in a second."""
    system = build_system("hello")
    name = "hello-silent"
    folder = system.image.parent.parent / name
    shutil.copytree(system.image.parent, folder, dirs_exist_ok=True)
    data = json.loads((folder / "system.json").read_text())
    for vm in data["vms"]:
        vm["sign_of_life"] = "never said" if vm["name"] == "hello" else None
    (folder / "system.json").write_text(json.dumps(data))
    try:
        status, output = run("smoke", "--system", name, "--timeout", "6")
    finally:
        shutil.rmtree(folder)
    assert status == 1, output
    got = r"\(QEMU got \d+\.\d s of CPU in \d+ s and waited \d+\.\d s for it(; this host itself lost \d+ s of a CPU)?\)"
    assert re.search(rf"FAILED: hello did not say 'never said' within \d+ s {got}; its last lines:", output), output
    assert re.search(r"^ +hello \| hello: hart 0 of VM 0", output, re.MULTILINE), output


def about_process(pid, what):
    """The file `what` of `pid` below /proc; empty if the process has exited, or exits between
    opening and reading."""
    try:
        return Path(f"/proc/{pid}/{what}").read_bytes()
    except (FileNotFoundError, ProcessLookupError):
        return b""


def descendants(pid):
    """The descendants of process `pid`, deepest last."""
    children = [int(child) for child in about_process(pid, f"task/{pid}/children").split()]
    return children + [deeper for child in children for deeper in descendants(child)]


def command_of(pid):
    """The command line of process `pid` as a list of words."""
    return about_process(pid, "cmdline").split(b"\0")[:-1]


def wait_for(condition, seconds):
    limit = Limit(os.getpid(), seconds)
    while not (found := condition()) and limit.left() > 0:
        time.sleep(0.1)
    limit.raise_if_too_slow("the test")
    return found


def restore_signals():
    """Runs in the child: restores default signal handling, since the parent of pytest may ignore
    signals."""
    for number in (signal.SIGTERM, signal.SIGHUP, signal.SIGINT):
        signal.signal(number, signal.SIG_DFL)


SMOKE = [*RUN, "smoke", "--system", "demo"]


@pytest.mark.parametrize(
    ("command", "how"),
    [
        (SMOKE, signal.SIGTERM),
        (SMOKE, signal.SIGHUP),
        (SMOKE, signal.SIGINT),
        (SMOKE, signal.SIGKILL),
        # make forwards SIGTERM; a terminal sends the other signals to all processes.
        (["make", "-s", "smoke"], signal.SIGTERM),
    ],
    ids=["SIGTERM", "SIGHUP", "SIGINT", "SIGKILL", "make SIGTERM"],
)
def test_no_qemu_is_left_when_it_is_interrupted(command, how, build_system, tmp_path):
    system = build_system("demo")
    said = tmp_path / "said"
    with said.open("w") as output, subprocess.Popen(
        command, cwd=ROOT, stdin=subprocess.DEVNULL, stdout=output, stderr=output,
        env=clean_environment(), preexec_fn=restore_signals,
    ) as runner:  # fmt: skip
        image = str(system.image).encode()

        def booted():  # ignores the short-lived QEMU processes that only answer queries
            return [pid for pid in descendants(runner.pid) if image in command_of(pid)]

        try:
            wait_for(lambda: booted() or runner.poll() is not None, 60)
            found = booted()
            assert found, said.read_text()
            runner.send_signal(how)
            assert wait_for(lambda: runner.poll() is not None, 30)
            assert runner.returncode != 0
        finally:
            runner.kill()
    assert wait_for(lambda: not any(map(command_of, found)), 10), f"QEMU still runs: {found}"


def test_smoke_reports_the_hypervisors_error(build_system):
    build_system("demo")
    status, output = run("smoke", "--system", "demo", CPU="h=false")
    first, *rest = output.strip().splitlines()
    assert first.startswith("smoke: booting")
    assert_one_clear_line(status, "\n".join(rest), "smoke: FAILED: tessera: error: ", "lack the H extension")


@pytest.mark.parametrize("command", [["run"], ["smoke"], ["native", "linux"]])
def test_no_qemu(command, build_system):
    build_system("demo")
    status, output = run(command[0], "--system", "demo", *command[1:], QEMU="/nonexistent/qemu")
    assert_one_clear_line(status, output, "/nonexistent/qemu", "QEMU=path")


def test_qemu_too_old(build_system, tmp_path):
    build_system("demo")
    old = fake_qemu(tmp_path, "echo 'QEMU emulator version 6.2.0 (Debian 1:6.2)'")
    status, output = run("run", QEMU=old)
    assert_one_clear_line(status, output, old, "6.2", "7.2 or newer")


def test_files_of_a_run_are_for_its_user_alone(build_system, tmp_path):
    """Sockets, logs, frames and the flash are written by QEMU, whose umask is that of the runner."""
    build_system("demo")
    script = """case "$*" in *--version*) echo "QEMU emulator version 7.2.0" ;; *-kernel*) umask ;; esac"""
    status, output = run("run", QEMU=fake_qemu(tmp_path, script))
    assert (status, output.split("\n")[-2]) == (0, "0077"), output


def test_qemu_without_the_hypervisor_extension(build_system, tmp_path):
    """The real QEMU wrapped by a script that refuses h=true like a QEMU without the extension."""
    build_system("demo")
    script = """
case "$*" in
--version) echo 'QEMU emulator version 7.2.0' ;;
*) echo "qemu-system-riscv64: can't apply global rv64-riscv-cpu.h=true: Property '.h' not found" >&2; exit 1 ;;
esac"""
    status, output = run("run", QEMU=fake_qemu(tmp_path, script))
    assert_one_clear_line(status, output, "does not emulate the hypervisor extension", "Property '.h' not found")


def test_cpu_flag_that_qemu_does_not_know(build_system):
    build_system("demo")
    status, output = run("run", CPU="nosuchflag=true")
    assert_one_clear_line(status, output, "CPU=nosuchflag=true", "nosuchflag")


def test_program_that_is_not_qemu(build_system, tmp_path):
    build_system("demo")
    other = fake_qemu(tmp_path, "echo hello")
    status, output = run("run", QEMU=other)
    assert_one_clear_line(status, output, other, "is not QEMU")


def test_system_that_was_not_built():
    status, output = run("smoke", "--system", "nosuch")
    assert_one_clear_line(status, output, "build/systems/nosuch/system.json", "make image SYSTEM=nosuch")


def test_vm_that_the_system_does_not_have(build_system):
    build_system("demo")
    status, output = run("native", "nosuch")
    assert_one_clear_line(status, output, "'nosuch'", "linux, freertos, uboot")


def test_unknown_system_stops_make_with_one_line():
    done = subprocess.run(
        ["make", "-s", "run", "SYSTEM=nosuch"], cwd=ROOT, capture_output=True, text=True, check=False,
        env=clean_environment(), stdin=subprocess.DEVNULL,
    )  # fmt: skip
    assert done.returncode != 0
    complaints = [line for line in done.stderr.splitlines() if not line.startswith("make")]
    assert len(complaints) == 1 and "systems/nosuch.dts" in complaints[0], done.stderr
