# SPDX-License-Identifier: Apache-2.0
"""A board's header, for the hypervisor, and its board file, for the image builder, say the same."""

import subprocess
from pathlib import Path

import pytest

from tessera.image.board import read_board
from tessera.run.runner import ROOT

PLATFORM = ROOT / "platform"
RISCV_BOARDS = ("cva6-sim", "genesys2", "qemu-virt", "spike")


def constants(header: Path, *names: str) -> list[int]:
    """The values of a header's constants."""
    preprocess = ["gcc", "-E", "-P", "-x", "c", f"-I{PLATFORM}", "-include", str(header), "-"]
    done = subprocess.run(preprocess, input="\n".join(names), capture_output=True, text=True, check=True)
    return [int(word.rstrip("UL"), 0) for word in done.stdout.split()]


@pytest.mark.parametrize("board", RISCV_BOARDS)
def test_harts_and_alias(board: str) -> None:
    said = read_board(PLATFORM / board / "board.dts")
    assert constants(PLATFORM / board / "board.h", "BOARD_HARTS", "BOARD_DMA_ALIAS") == [said.harts, said.dma_alias]
