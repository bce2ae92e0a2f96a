#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# Compares the speed of the simulator with that of QEMU on the same program: the minimum processor
# time of three alternating runs each. Usage: tools/iasim/tests/speed.sh IASIM; fails below a
# quarter of the speed of qemu-system-mipsel -icount.
set -eu
export TIMEFORMAT=%U
iasim=$1
here=$(dirname "$0")/programs
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
flags=(--target=mipsel-none-elf -mips32r5 -msoft-float -mno-abicalls -fno-pic -G0 -O2 -ffreestanding)

clang "${flags[@]}" -c "$here/start.S" -o "$work/start.o"
clang "${flags[@]}" -DROUNDS=1500 -c "$here/work.c" -o "$work/work.o"
ld.lld -T "$here/bare.lds" "$work/start.o" "$work/work.o" -o "$work/work.elf"
gdb-multiarch -nx -batch "$work/work.elf" -ex "dump binary memory $work/rom &_start &rom_end"
truncate -s 4M "$work/rom"

run_iasim() { "$iasim" run --board generic "$work/work.elf" </dev/null >"$work/iasim.out"; }
run_qemu() {
    timeout -k 1 60 qemu-system-mipsel -M mipssim -cpu 24Kc -display none -monitor none -serial stdio -semihosting \
        -bios "$work/rom" -icount shift=0,sleep=off </dev/null >"$work/qemu.out"
}

for _ in 1 2 3; do
    { time run_iasim; } 2>>"$work/iasim.times"
    { time run_qemu; } 2>>"$work/qemu.times"
done
tr -d '\r' <"$work/qemu.out" | cmp - "$work/iasim.out"
least() { sort -n "$1" | head -n 1; }
awk -v ours="$(least "$work/iasim.times")" -v theirs="$(least "$work/qemu.times")" 'BEGIN {
    printf "iasim speed: %.2f of QEMU (%.2f s and %.2f s)\n", theirs / ours, ours, theirs
    exit theirs / ours < 0.25
}'
