#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# Installs missing tools for the build: packages of the distribution, and Python packages in
# cache/venv and cache/litex.
# Usage: tools/setup.sh [run|debug|dev|fpga|litex|site|browser]
#   run    (default) the tools for `make run`: cross compiler, QEMU, Python, cargo for FreeRTOS
#   debug  also the tools for `make debug`: GDB, and a Rust toolchain, which builds the GDB server
#   dev    also the tools for `make test` and `make check`
#   fpga   also the tools for the fabric's benches, proofs and synthesis
#   litex  also the builder of the Genesys2's design, and the tools for its SD card
#   site   the tools for `make run`, and the generator of the documentation's site
#   browser  the tools for `make run`, and a browser without a window, which shows the documents' pictures in tests
# Every make target calls it: if nothing is missing, it prints nothing, needs no network and returns
# at once. QEMU=path and FREERTOS_KERNEL_DIR=path replace the tools that would provide these two.
set -eu

cd "$(dirname "$0")/.."
ROOT=$PWD
VENV=$ROOT/cache/venv
LITEX=$ROOT/cache/litex
# shellcheck source=/dev/null
SYSTEM_NAME=$(. /etc/os-release && echo "$PRETTY_NAME")
PACKAGES=() # missing packages: alternatives separated by '|', of which the first available one is installed
REASONS=()
INSTALL=()
SUDO=()

say() { printf 'setup: %s\n' "$*" >&2; }
die() {
    printf 'setup: error: %s\n' "$*" >&2
    exit 1
}

# want PACKAGES WHY COMMAND...: PACKAGES is missing unless COMMAND succeeds.
want() {
    local packages=$1 why=$2
    shift 2
    "$@" >/dev/null 2>&1 && return
    PACKAGES+=("$packages")
    REASONS+=("$why")
}

has() { command -v "$1"; }

# An older cargo cannot read the current format of the crate index.
has_cargo() {
    [[ $("${CARGO:-cargo}" --version) =~ ^cargo\ 1\.([0-9]+)\. ]] && ((BASH_REMATCH[1] >= 70))
}

# cargo needs a compiler, and the compiler needs a linker (gcc, below).
has_rust() { has_cargo && [[ $("${RUSTC:-rustc}" --version) =~ ^rustc\ 1\.([0-9]+)\. ]] && ((BASH_REMATCH[1] >= 85)); }

# A user's PATH may lack its folder.
has_mke2fs() { PATH=$PATH:/usr/sbin:/sbin has mke2fs; }

# cargo is not needed if the kernel is in cache/ or in FREERTOS_KERNEL_DIR.
has_freertos() {
    [[ -n ${FREERTOS_KERNEL_DIR:-} || -e cache/freertos/FreeRTOS-Kernel.json ]] || has_cargo
}

has_python() { python3 -c 'import sys, venv, ensurepip; sys.exit(sys.version_info < (3, 11))'; }

# Older Debian releases received the keys of Debian 13 by an update.
has_keyring() { [[ -e /usr/share/keyrings/debian-archive-trixie-stable.gpg || -e cache/pkg/u-boot-qemu.json ]]; }

# The tests load the library by its file name: no headers or tools are needed.
has_spandsp() { compgen -G "/usr/lib/*/libspandsp.so.2"; }

# cocotb loads Python into the simulator and needs Python's shared library, wherever Python is
# installed.
has_libpython() {
    python3 - <<'END'
import ctypes, pathlib, sysconfig
name = sysconfig.get_config_var("INSTSONAME")
beside = pathlib.Path(sysconfig.get_config_var("LIBDIR"), name)
ctypes.CDLL(str(beside) if beside.exists() else name)
END
}

has_browser() { has chromium-headless-shell || has chromium || has chromium-browser || has google-chrome; }

has_font() { test -e /usr/share/fonts/truetype/dejavu/DejaVuSansMono.ttf; }

# libFuzzer is in clang's resource directory, in a subfolder whose name depends on the machine.
has_fuzzer() { compgen -G "$(clang -print-resource-dir)/lib/*/libclang_rt.fuzzer*.a"; }

find_missing_run() {
    want "gcc-riscv64-unknown-elf" "compiles the hypervisor and the FreeRTOS guest" has riscv64-unknown-elf-gcc
    if [[ -z ${QEMU:-} ]]; then
        want "qemu-system-riscv|qemu-system-misc" "emulates the machine" has qemu-system-riscv64
        want "opensbi" "the firmware for QEMU" test -e /usr/share/qemu/opensbi-riscv64-generic-fw_dynamic.bin
    fi
    want "python3|python3-minimal" "image builder, runner, fetcher" has python3
    want "python3-venv" "isolates our Python packages in cache/venv" has_python
    want "device-tree-compiler" "makes the guests' device trees" has dtc
    want "e2fsprogs" "makes file systems for virtual disks" has_mke2fs
    want "mtools" "makes EFI partitions of virtual disks, and the Genesys2's SD card" has mcopy
    want "ca-certificates" "downloads over https" test -e /etc/ssl/certs/ca-certificates.crt
    want "debian-archive-keyring" "checks the signatures of the guests' packages" has_keyring
    want "cargo-web|cargo" "downloads the crate that contains FreeRTOS" has_freertos
}

find_missing_debug() {
    want "cargo-web|cargo" "builds the GDB server (tools/gdb), with its compiler rustc" has_rust
    want "gcc" "links the GDB server; unit tests on this machine" has gcc
    want "libc6-dev" "links the GDB server; unit tests on this machine" test -e /usr/include/stdio.h
    want "gdb-multiarch" "debugs guests; reads counters out of QEMU for the benchmark" has gdb-multiarch
}

find_missing_dev() {
    want "libcmocka-dev" "unit tests on this machine" test -e /usr/include/cmocka.h
    want "libspandsp2t64|libspandsp2" "reference implementation of the G.722 codec" has_spandsp
    want "clang" "second compiler: all code must compile without warnings" has clang
    want "libclang-rt-dev|libclang-rt-18-dev|libclang-rt-14-dev" "libFuzzer, with the sanitizers of clang" has_fuzzer
    want "lld" "links what clang compiles" has ld.lld
    want "gcc-mipsel-linux-gnu" "compiles the hypervisor for the M5150" has mipsel-linux-gnu-gcc
    want "qemu-system-mips" "reference for the simulator of the M5150" has qemu-system-mipsel
    want "openssh-client" "logs into guests in tests" has ssh
    want "cloc" "counts the hypervisor's lines for the benchmark" has cloc
    want "shellcheck" "checks the shell scripts" has shellcheck
    want "cppcheck" "static analysis of the hypervisor (make check)" has cppcheck
    want "spin" "checks the model of the protocol between harts" has spin
}

find_missing_fpga() {
    want "g++" "C++ library of the fabric's simulation (Verilator)" has g++
    want "perl" "starts Verilator" perl -MPod::Usage -e 1
    want "zlib1g-dev" "compresses the waveforms of the fabric behind QEMU" test -e /usr/include/zlib.h
    want "liblz4-dev" "compresses the waveforms of the fabric behind QEMU" test -e /usr/include/lz4.h
    want "libpython3-dev" "Python inside the fabric's benches (cocotb)" has_libpython
    want "tcl" "runs the scripts for the Genesys2's tools, with stubs, in tests" has tclsh
}

find_missing_browser() {
    want "chromium-headless-shell|chromium" "shows the documents' pictures in tests (60 MB)" has_browser
    want "fonts-dejavu-core" "the font of the documents' pictures in tests" has_font
}

# find_missing WHAT: each level includes the previous ones.
find_missing() {
    find_missing_run
    if [[ $1 == browser ]]; then find_missing_browser; fi
    if [[ $1 != run && $1 != site && $1 != browser ]]; then find_missing_debug; fi
    if [[ $1 == dev || $1 == fpga || $1 == litex ]]; then find_missing_dev; fi
    if [[ $1 == fpga || $1 == litex ]]; then find_missing_fpga; fi
}

# candidate ALTERNATIVES: prints the first one that the distribution has; without any, prints the
# first one and fails.
candidate() {
    local name
    for name in ${1//|/ }; do
        [[ $(apt-cache policy "$name" 2>/dev/null) =~ Candidate:\ [^\(] ]] && echo "$name" && return
    done
    echo "${1%%|*}"
    return 1
}

candidates() {
    local alternatives
    for alternatives in "${PACKAGES[@]}"; do
        candidate "$alternatives" || true
    done
}

choose_root_command() {
    [[ $(id -u) -eq 0 ]] && return
    command -v sudo >/dev/null ||
        die "not root and no sudo: have an administrator run: apt-get install $(candidates | paste -sd ' ')"
    SUDO=(sudo)
}

choose_packages() {
    local alternatives name
    for alternatives in "${PACKAGES[@]}"; do
        name=$(candidate "$alternatives") ||
            die "$SYSTEM_NAME has no package '${alternatives//|/\' nor \'}', which is required; see 'apt-cache policy'"
        INSTALL+=("$name")
    done
}

# Succeeds if downloads use a proxy; only the proxy knows which places it can reach.
uses_proxy() {
    [[ -n ${http_proxy:-}${https_proxy:-}${all_proxy:-}${HTTP_PROXY:-}${HTTPS_PROXY:-}${ALL_PROXY:-} ]] ||
        apt-config dump | grep -qiE '^Acquire::https?::.*Proxy.* "[^"]+";$'
}

# Prints the sources of apt's package lists as host:port, for http and https.
apt_places() {
    local scheme rest host
    while IFS=: read -r scheme rest; do
        host=${rest#//}
        host=${host%%/*}
        case $scheme in
        http) [[ $host == *:* ]] && echo "$host" || echo "$host:80" ;;
        https) [[ $host == *:* ]] && echo "$host" || echo "$host:443" ;;
        esac
    done < <(apt-get indextargets --format "\$(SITE)" 2>/dev/null | sort -u)
}

# Fails within half a minute if none of apt's sources can be reached; apt itself would take minutes.
check_network() {
    local place places wait
    uses_proxy && return
    mapfile -t places < <(apt_places)
    for wait in 0 2 5; do # a network can fail for a moment
        sleep "$wait"
        for place in "${places[@]}"; do
            # shellcheck disable=SC2016
            timeout 5 bash -c 'exec 3<>"/dev/tcp/$1/$2"' _ "${place%:*}" "${place##*:}" 2>/dev/null && return
        done
    done
    ((${#places[@]} == 0)) || die "no network: ${places[*]} cannot be reached; needed from there: \
$(candidates | paste -sd ' '); nothing else of $SYSTEM_NAME is missing"
}

install_packages() {
    local index
    ((${#PACKAGES[@]})) || return 0
    command -v apt-get >/dev/null ||
        die "$SYSTEM_NAME has no apt-get: install by hand what Debian calls: ${PACKAGES[*]%%|*}"
    choose_root_command
    check_network
    say "reading the package lists of $SYSTEM_NAME"
    # An unreachable source of a third party does not matter; choose_packages checks the required
    # packages.
    "${SUDO[@]}" apt-get -q update >&2 || say "note: apt-get update failed; continuing with the existing lists"
    choose_packages
    say "these packages are missing and will be installed:"
    for index in "${!INSTALL[@]}"; do
        printf '         %-26s %s\n' "${INSTALL[index]}" "${REASONS[index]}" >&2
    done
    apt_install || die "apt-get could not install: ${INSTALL[*]}"
}

# Tries again after a pause with new lists: during an update, a mirror has files that its lists do
# not name yet.
apt_install() {
    local tries
    for ((tries = 1; tries <= 3; tries++)); do
        "${SUDO[@]}" env DEBIAN_FRONTEND=noninteractive apt-get -q -o Acquire::Retries=2 \
            install -y --no-install-recommends --no-remove "${INSTALL[@]}" >&2 && return
        ((tries < 3)) || return
        say "apt-get failed; trying again with new lists in $((tries * 30)) s"
        sleep $((tries * 30))
        "${SUDO[@]}" apt-get -q update >&2 || true
    done
}

# Fails if a tool is still missing in PATH after its installation.
check_again() {
    PACKAGES=()
    REASONS=()
    find_missing "$1"
    ((${#PACKAGES[@]} == 0)) || die "still missing: ${PACKAGES[*]%%|*} (${REASONS[0]}); is another one first in PATH?"
}

# pip_install VENV NAME MEGABYTES: installs the packages that tools/NAME.txt pins into VENV, unless
# they are installed.
pip_install() {
    local key venv=$1 stamp=$1/.stamp-$2
    key=$(sha256sum "tools/$2.txt")
    [[ -e $stamp && $(<"$stamp") == "$key" ]] && return
    say "installing Python packages of $2 into ${venv#"$ROOT"/} (about $3 MB, once)"
    "$venv/bin/python" -m pip install --quiet --disable-pip-version-check --require-hashes --retries 1 \
        -r "tools/$2.txt" >&2 || die "pip could not install tools/$2.txt (see above; is there a network?): \
only packages of this file are missing in Python"
    printf '%s\n' "$key" >"$stamp"
}

# The venv's programs contain the path of their folder: they do not start after the folder was
# moved.
venv_is_in_place() {
    local first
    read -r first <"$1/bin/pip" && [[ $(dirname "${first#\#!}") -ef $1/bin ]]
}

# Recreates the venv if the common list of packages, Python's version or the venv's place has
# changed. The place is the real path of the folder: several checkouts may share one cache by a
# symbolic link.
setup_venv() {
    local python list stamp=$VENV/.stamp
    python=$(python3 --version)
    list=$(sha256sum tools/requirements.txt)
    if [[ ! -e $stamp || $(<"$stamp") != "$python"*"$list" ]] || ! venv_is_in_place "$VENV"; then
        python3 -m venv --clear "$VENV" || die "python3 -m venv $VENV failed (package python3-venv)"
        pip_install "$VENV" requirements 145
        printf '%s\n%s\n' "$python" "$list" >"$stamp"
    fi
    if [[ $1 == fpga || $1 == litex ]]; then pip_install "$VENV" requirements-fpga 600; fi
    if [[ $1 == site ]]; then pip_install "$VENV" requirements-site 40; fi
}

# LiteX has a venv of its own: its versions need not agree with those of the other packages.
setup_litex() {
    local python stamp=$LITEX/.stamp
    python=$(python3 --version)
    if [[ ! -e $stamp || $(<"$stamp") != "$python" ]] || ! venv_is_in_place "$LITEX"; then
        python3 -m venv --clear "$LITEX" || die "python3 -m venv $LITEX failed (package python3-venv)"
        printf '%s\n' "$python" >"$stamp"
    fi
    pip_install "$LITEX" requirements-litex 50
}

main() {
    local what=${1:-run}
    [[ $what =~ ^(run|debug|dev|fpga|litex|site|browser)$ ]] ||
        die "usage: tools/setup.sh [run|debug|dev|fpga|litex|site|browser]"
    find_missing "$what"
    mkdir -p cache
    # If make runs twice at the same time, the second one waits and then finds everything installed.
    exec 9>cache/.setup.lock
    flock 9
    if ((${#PACKAGES[@]})); then
        install_packages
        check_again "$what"
    fi
    setup_venv "$what"
    if [[ $what == litex ]]; then setup_litex; fi
}

main "$@"
