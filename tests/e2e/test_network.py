# SPDX-License-Identifier: Apache-2.0
"""
Virtual PCI functions (docs/networking.md), as in `make run SYSTEM=network`: two Linux VMs, east and west, with the
drivers of Debian's kernel, and FreeRTOS with lwIP, rtos; uplink connects them to the host's network. The tests are in
an order: the last ones restart VMs.
"""

import hashlib
import re
import urllib.request
from collections.abc import Iterator

import pytest
from helpers import BOOT_S, LINUX_PROMPT, SOON_S, booted, built, command, keyboard, tell, wait_for_signs_of_life
from host_network import LOOPBACK, services, ssh, web_server, with_free_ports

from tessera.run.machine import HYPERVISOR, Machine
from tessera.run.runner import BuiltSystem

EAST, WEST, RTOS = "192.168.80.1", "192.168.80.2", "192.168.80.3"
CIDS = {"east": 3, "west": 4}
LINE_BYTES = 4096
FILE_BYTES = 1_000_000  # of a file that is transferred: more than all queues and sockets hold
DISK_BYTES = 16 << 20
WRITTEN_BYTES = 1 << 20  # of it, by the test
SECTOR = 512
SUM = r"\b([0-9a-f]{64})\b"
HOST = "192.168.80.254"  # the host's address in the network
DEVICE_CIPHER, KERNEL_CIPHER = "virtio_crypto_aes_cbc", "cbc(aes-generic)"
KEYS = ["2b7e151628aed2a6abf7158809cf4f3c", "00112233445566778899aabbccddeeff" * 2]


@pytest.fixture(scope="module")
def system() -> BuiltSystem:
    """The system with any free ports of the host."""
    return with_free_ports(built("network"))


@pytest.fixture(scope="module")
def ports(machine) -> dict[str, int]:
    """The ports of the host that reach guests, by their services."""
    found = dict(services(machine.process.pid))
    assert set(found) == {"ssh", "http"}
    return found


@pytest.fixture(scope="module")
def machine(system: BuiltSystem) -> Iterator[Machine]:
    with booted(system, "network") as machine:
        wait_for_signs_of_life(machine, system)
        for name in ("east", "west"):
            machine.expect(name, LINUX_PROMPT, BOOT_S)
            ask(machine, name, make_file(name), r"")
        yield machine


def ask(machine: Machine, name: str, line: str, answer: str) -> re.Match[str]:
    """Runs a shell command in a Linux VM; returns the match of `answer` in its output, after the next prompt."""
    tell(machine, name, line)
    found = machine.expect(name, answer, BOOT_S)
    machine.expect(name, LINUX_PROMPT, BOOT_S)
    return found


def make_file(name: str) -> str:
    return f"head -c {FILE_BYTES} /dev/urandom >/tmp/{name}; cp /tmp/{name} /tmp/www/file"


def sum_of(machine: Machine, name: str, file: str, count: int = FILE_BYTES) -> str:
    """The checksum of the first bytes of a file."""
    return ask(machine, name, f"head -c {count} {file} | sha256sum", rf"^{SUM}  -$")[1]


def assert_sent(machine: Machine, to: str, file: str, source: str) -> None:
    """The file in VM `to` is the one that `source` had at the beginning, and no longer."""
    ask(machine, to, f"wc -c <{file}", rf"^{FILE_BYTES}$")
    assert sum_of(machine, to, file) == sum_of(machine, source, f"/tmp/{source}")


@pytest.mark.parametrize(("name", "to"), [("east", WEST), ("east", RTOS), ("west", EAST), ("west", RTOS)])
def test_ping(machine, name, to):
    ask(machine, name, f"ping -c 3 {to}", r"^3 packets transmitted, 3 packets received, 0% packet loss$")


def test_large_ping(machine):
    """Fragments of packets that are longer than a frame."""
    ask(machine, "east", f"ping -c 3 -s 4000 {WEST}", r"^3 packets transmitted, 3 packets received, 0% packet loss$")


@pytest.mark.parametrize(
    ("name", "source", "address"), [("east", "west", WEST), pytest.param("west", "east", EAST, marks=pytest.mark.long)]
)
def test_file_over_tcp(machine, name, source, address):
    """From the web server of one VM to the other."""
    ask(machine, name, f"wget -qO /tmp/got http://{address}/file; echo status $?", r"^status 0$")
    assert_sent(machine, name, "/tmp/got", source)


@pytest.mark.long
def test_files_both_ways_at_once(machine):
    """Both directions of one connection."""
    ask(machine, "west", "nc -l -p 5000 </tmp/west >/tmp/got &", r"")
    ask(machine, "west", "until netstat -ltn | grep :5000; do sleep 1; done", r":5000 .* LISTEN")
    ask(machine, "east", f"nc {WEST} 5000 </tmp/east >/tmp/got; echo status $?", r"^status 0$")
    ask(machine, "west", "wait; echo status $?", r"^status 0$")
    assert_sent(machine, "west", "/tmp/got", "east")
    assert_sent(machine, "east", "/tmp/got", "west")


def test_web_page_of_freertos(machine):
    """The page counts the requests of both VMs."""
    counts = [
        int(ask(machine, name, f"wget -qO- http://{RTOS}/", r"<td>requests</td><td>(\d+)</td>")[1])
        for name in ("east", "west", "east")
    ]
    assert counts == [*range(counts[0], counts[0] + 3)]
    ask(machine, "east", f"wget -qO- http://{RTOS}/other; echo status $?", r"404 Not Found\n(?s:.*)^status 1$")


def test_tcp_echo_of_freertos(machine):
    ask(machine, "west", f"nc {RTOS} 7 </tmp/west >/tmp/got; echo status $?", r"^status 0$")
    assert_sent(machine, "west", "/tmp/got", "west")


def test_shell_from_the_host(machine, ports):
    assert ssh(ports["ssh"], "hostname; cat /proc/version").decode().startswith("(none)\nLinux version 6.12.")


def test_files_from_and_to_the_host(machine, ports):
    """Through SSH, whose own checksums would end the connection if a frame were wrong, and by HTTP."""
    received = ssh(ports["ssh"], "cat /tmp/east")
    assert hashlib.sha256(received).hexdigest() == sum_of(machine, "east", "/tmp/east")
    ssh(ports["ssh"], "cat >/tmp/back", received[::-1])
    assert sum_of(machine, "east", "/tmp/back") == hashlib.sha256(received[::-1]).hexdigest()


def test_web_page_of_freertos_from_the_host(machine, ports):
    for _ in range(2):
        with urllib.request.urlopen(f"http://{LOOPBACK}:{ports['http']}/", timeout=BOOT_S) as page:
            assert "<h1>FreeRTOS in a VM</h1>" in page.read().decode()


def test_servers_of_the_host(machine, tmp_path):
    """east has the gateway; west has none, but its frames to the subnet reach the host, too."""
    (tmp_path / "file").write_bytes(bytes(range(256)) * (FILE_BYTES // 256))
    with web_server(tmp_path) as port:
        for name in ("east", "west"):
            ask(machine, name, f"wget -qO /tmp/got http://{HOST}:{port}/file; echo status $?", r"^status 0$")
            wanted = hashlib.sha256((tmp_path / "file").read_bytes()).hexdigest()
            assert sum_of(machine, name, "/tmp/got") == wanted


IPERF = r"\]\s+0\.0000-[\d.]+ sec\s+([\d.]+) KBytes\s+([\d.]+) Kbits/sec"


def test_iperf_to_freertos(machine):
    sent = ask(machine, "east", f"iperf -c {RTOS} -n 4M -f k", IPERF)
    assert float(sent[1]) == 4096
    assert float(sent[2]) > 0


@pytest.mark.long
def test_iperf_between_linux_vms(machine):
    tell(machine, "west", "iperf -s -f k &")
    machine.expect("west", r"Server listening on TCP port 5001", BOOT_S)
    sent = ask(machine, "east", f"iperf -c {WEST} -n 20M -f k", IPERF)
    assert float(sent[1]) == 20 * 1024
    assert float(sent[2]) > 0
    ask(machine, "west", "kill %1; wait; echo st''opped", "stopped")


def test_random_numbers(machine):
    """Linux takes them from the device."""
    for name in ("east", "west"):
        ask(machine, name, "cat /sys/class/misc/hw_random/rng_current", r"^virtio_rng\.\d+$")
    drawn = {sum_of(machine, name, "/dev/hwrng", 4096) for name in ("east", "west") for _ in range(2)}
    assert len(drawn) == 4


def test_streams_both_ways(machine):
    """Through virtio-vsock; each VM has its context id."""
    tell(machine, "west", "vsock listen 1234 </tmp/west >/tmp/got &")
    machine.expect("west", r"vsock: listens$", BOOT_S)
    connect = f"vsock connect {CIDS['west']} 1234 </tmp/east >/tmp/got; echo status $?"
    ask(machine, "east", connect, r"^status 0$")
    ask(machine, "west", "wait; echo status $?", r"^status 0$")
    assert_sent(machine, "west", "/tmp/got", "east")
    assert_sent(machine, "east", "/tmp/got", "west")


def test_stream_that_nobody_accepts(machine):
    for cid in (CIDS["west"], 99):
        refused = r"^vsock: nobody listens there\nstatus 1$"
        ask(machine, "east", f"vsock connect {cid} 4321 </dev/null; echo status $?", refused)


@pytest.mark.parametrize(("name", "other"), [("east", "west"), ("west", "east")])
def test_line(machine, name, other):
    """Bytes through a virtio-console, a terminal that Linux resets to its defaults when nobody has it open."""
    receive = f"(stty raw -echo; echo s''et >&2; head -c {LINE_BYTES} >/tmp/line; echo g''ot >&2) </dev/hvc0 &"
    tell(machine, other, receive)
    machine.expect(other, r"\bset$", BOOT_S)
    send = f"(stty raw -echo; head -c {LINE_BYTES} /tmp/{name}) </dev/hvc0 >/dev/hvc0; echo status $?"
    ask(machine, name, send, r"^status 0$")
    machine.expect(other, r"\bgot$", BOOT_S)
    assert sum_of(machine, other, "/tmp/line", LINE_BYTES) == sum_of(machine, name, f"/tmp/{name}", LINE_BYTES)


def port_of(machine: Machine, name: str) -> str:
    """The file of the port "log"."""
    found = ask(machine, name, "grep -lx log /sys/class/virtio-ports/*/name", r"/(vport\d+p1)/name$")
    return f"/dev/{found[1]}"


@pytest.mark.parametrize(("name", "other"), [("east", "west"), ("west", "east")])
def test_second_port_of_a_console(machine, name, other):
    """Linux calls it by the line's name, and passes bytes on as they are."""
    tell(machine, other, f"(head -c {LINE_BYTES} >/tmp/port; echo g''ot >&2) <{port_of(machine, other)} &")
    send = f"head -c {LINE_BYTES} /tmp/{name} >{port_of(machine, name)}; echo status $?"
    ask(machine, name, send, r"^status 0$")
    machine.expect(other, r"\bgot$", BOOT_S)
    assert sum_of(machine, other, "/tmp/port", LINE_BYTES) == sum_of(machine, name, f"/tmp/{name}", LINE_BYTES)


def test_doorbell_wakes(machine):
    """The waiting VM sleeps until the other one rings, and reads what was written before."""
    own = {name: int(ask(machine, name, "doorbell own 0", r"^(\d+)$")[1]) for name in ("east", "west")}
    assert own == {"east": 0, "west": 1}
    for name, other in (("east", "west"), ("west", "east")):
        wait = "(doorbell wait 0; doorbell get 0) >/tmp/bell & sleep 1; cat /tmp/bell; echo qu''iet"
        ask(machine, name, wait, r"^quiet$")
        assert "rung" not in machine.console.text(name).rpartition("sleep 1")[2]
        ring = f"doorbell put 0 'from {other}'; doorbell ring 0 {own[name]}; echo status $?"
        ask(machine, other, ring, r"^status 0$")
        ask(machine, name, "wait; cat /tmp/bell", rf"^doorbell: rung\nfrom {other}$")


def test_doorbell_that_rang_before(machine):
    """It is remembered until the VM waits."""
    ask(machine, "east", "doorbell ring 0 1; echo status $?", r"^status 0$")
    ask(machine, "west", "doorbell wait 0", r"^doorbell: rung$")


def aes(cipher: str, source: str, result: str, key: str = KEYS[0], what: str = "encrypt") -> str:
    """A command that has a cipher of the kernel encrypt or decrypt a file."""
    return f"aes {what} '{cipher}' {key} {bytes(range(16)).hex()} <{source} >{result}; echo status $?"


def test_kernel_accepts_the_device_as_a_cipher(machine):
    """Linux has compared the device's results with its own vectors: the self-tests are not switched off."""
    ask(machine, "east", "cat /sys/module/cryptomgr/parameters/notests", r"^N$")
    show = f"grep -A 20 {DEVICE_CIPHER} /proc/crypto | head -n 11"
    passed = r"^driver +: virtio_crypto_aes_cbc\n(?s:.*)^selftest +: passed\n(?s:.*)^max keysize +: 32$"
    ask(machine, "east", show, passed)
    assert "alg: " not in machine.console.text("east")


def test_known_encryption(machine):
    """NIST SP 800-38A, F.2.1: the first two blocks."""
    plain = bytes.fromhex("6bc1bee22e409f96e93d7e117393172aae2d8a571e03ac9c9eb76fac45af8e51")
    text = "".join(f"\\{byte:03o}" for byte in plain)
    ask(machine, "east", f"printf '{text}' >/tmp/plain; wc -c </tmp/plain", r"^32$")
    ask(machine, "east", aes(DEVICE_CIPHER, "/tmp/plain", "/tmp/known"), r"^status 0$")
    shown = r"^7649abac8119b246cee98e9b12e9197d\n5086cb9b507219ee95db113a917678b2$"
    ask(machine, "east", 'hexdump -ve \'16/1 "%02x" "\\n"\' /tmp/known', shown)


@pytest.mark.parametrize(
    "key", [pytest.param(KEYS[0], id="128", marks=pytest.mark.long), pytest.param(KEYS[1], id="256")]
)
def test_encryption_of_a_file(machine, key):
    """The device's result is that of the kernel's own cipher, and each decrypts the other one's."""
    ask(machine, "east", "head -c 200000 /tmp/east >/tmp/plain; wc -c </tmp/plain", r"^200000$")
    ask(machine, "east", aes(DEVICE_CIPHER, "/tmp/plain", "/tmp/device", key), r"^status 0$")
    ask(machine, "east", aes(KERNEL_CIPHER, "/tmp/plain", "/tmp/kernel", key), r"^status 0$")
    assert sum_of(machine, "east", "/tmp/device") == sum_of(machine, "east", "/tmp/kernel")
    assert sum_of(machine, "east", "/tmp/device") != sum_of(machine, "east", "/tmp/plain")
    ask(machine, "east", aes(DEVICE_CIPHER, "/tmp/kernel", "/tmp/back", key, "decrypt"), r"^status 0$")
    assert sum_of(machine, "east", "/tmp/back") == sum_of(machine, "east", "/tmp/plain")
    ask(machine, "east", aes(KERNEL_CIPHER, "/tmp/device", "/tmp/back", key, "decrypt"), r"^status 0$")
    assert sum_of(machine, "east", "/tmp/back") == sum_of(machine, "east", "/tmp/plain")


def test_console_that_nobody_reads(machine):
    """Linux prints on hvc0 with interrupts disabled: it lives on, and the bytes are dropped and counted."""
    tell(machine, "east", "cat /dev/zero >/dev/hvc0 &")
    ask(machine, "east", "for i in 1 2 3; do sleep 1; echo tick $i; done", r"^tick 3$")
    ask(machine, "east", "kill %1; wait; echo st''opped", r"^stopped$")
    machine.skip(HYPERVISOR)
    command(machine, "p")
    machine.expect(HYPERVISOR, r"^console +bytes sent +dropped$", SOON_S)
    dropped = machine.expect(HYPERVISOR, r"^east +\d+ +\d+ +(\d+)$", SOON_S)
    assert int(dropped[1]) > 0


def test_reader_of_a_stream_waits(machine):
    """For the VM that the next test restarts."""
    read = "(vsock listen 1235 </dev/null | cat; echo stream o''ver >&2) &"
    tell(machine, "west", read)
    machine.expect("west", r"vsock: listens$", BOOT_S)
    tell(machine, "east", f"(echo first; sleep 1000) | vsock connect {CIDS['west']} 1235 &")
    machine.expect("west", r"^first$", BOOT_S)


def disk_sum(machine: Machine) -> str:
    """Of what the test writes, as the device has it."""
    ask(machine, "east", "echo 3 >/proc/sys/vm/drop_caches", r"")
    return sum_of(machine, "east", "/dev/vda", WRITTEN_BYTES)


def test_disk_survives_a_restart(machine):
    """Its content is there after a restart of the VM; the VM's memory is new."""
    ask(machine, "east", "cat /sys/block/vda/size", rf"^{DISK_BYTES // SECTOR}$")
    zeros = disk_sum(machine)
    fill = f"head -c {WRITTEN_BYTES} /dev/urandom | dd of=/dev/vda bs=1M conv=fsync; echo status $?"
    ask(machine, "east", fill, r"^status 0$")
    written = disk_sum(machine)
    assert written != zeros
    machine.skip("east")
    command(machine, "r")
    machine.expect(HYPERVISOR, r"^east stopped by the console, starts again$", SOON_S)
    machine.expect("east", r"^network: ready$", BOOT_S)
    machine.expect("east", LINUX_PROMPT, BOOT_S)
    ask(machine, "east", "ls /tmp/east", r"No such file")
    assert disk_sum(machine) == written


def test_reader_learns_that_its_peer_has_restarted(machine):
    """Of test_reader_of_a_stream_waits(): it has sent nothing that the other VM's new life could refuse."""
    machine.expect("west", r"^stream over$", SOON_S)


def test_functions_work_after_a_restart(machine):
    """Those of the VM that was restarted, and its peers'."""
    ask(machine, "east", make_file("east"), r"")
    test_ping(machine, "west", EAST)
    test_ping(machine, "east", RTOS)
    test_streams_both_ways(machine)
    test_doorbell_wakes(machine)


def test_freertos_restarts(machine):
    keyboard(machine, "rtos")
    machine.skip("rtos")
    command(machine, "r")
    machine.expect("rtos", r"^web: http://192\.168\.80\.3/$", BOOT_S)
    ask(machine, "east", f"wget -qO- http://{RTOS}/", r"<td>requests</td><td>1</td>")
    assert "FAILED" not in machine.console.text("rtos")


def test_uplink_restarts(machine, ports):
    """With a restarted driver of QEMU's device; connections of the others continue."""
    keyboard(machine, "uplink")
    machine.skip("uplink")
    command(machine, "r")
    machine.expect("uplink", r"^uplink: ready$", BOOT_S)
    test_shell_from_the_host(machine, ports)
    test_web_page_of_freertos_from_the_host(machine, ports)
    test_ping(machine, "west", EAST)
