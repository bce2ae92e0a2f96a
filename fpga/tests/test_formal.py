# SPDX-License-Identifier: Apache-2.0
"""Every proof, and for each of the fabric's a fault that it has to find."""

import shutil

import pytest
from rtl_lab import BUILD, FORMAL, RTL, prove

# Proof, file, what stands there, and what would be wrong.
FAULTS = [
    ("aes_sbox", "aes_pkg.sv", "nibble_product(h, h), 4'ha)", "nibble_product(h, h), 4'hb)"),
    ("aes_sbox", "aes_pkg.sv", "8'h05", "8'h63"),
    ("region_gate", "region_gate.sv", "couple_i & out_valid_i", "out_valid_i"),
    ("dma_guard", "dma_lookup.sv", "windows[w].writable", "windows[w].readable"),
    ("dma_guard", "dma_lookup.sv", "&& !last[PageBits]", ""),
    ("conn_matrix", "conn_matrix.sv", "&& elsewhere == '0", ""),
    ("prr_fsm", "prr_fsm.sv", "requeue_o = q.next_valid;", "requeue_o = 1'b0;"),
    ("prr_fsm", "prr_fsm.sv", "to.client       = client;", "to.client       = from.client;"),
    ("prr_fsm", "prr_fsm.sv", "q.state != StReconfig && q.task_id != TaskNone", "q.state != StReconfig"),
    ("prr_monitor", "prr_choice.sv", "region.client.prio < client.prio", "region.client.prio <= client.prio"),
    ("prr_monitor", "prr_monitor.sv", "list_q[e].prio >= inserting.prio", "list_q[e].prio > 4'd7"),
    ("prr_monitor", "prr_monitor.sv", "(try_request && !overtaking)", "try_request"),
]


@pytest.mark.timeout(900)
@pytest.mark.parametrize("script", sorted(FORMAL.glob("*.sby")), ids=lambda path: path.stem)
def test_proof(script):
    assert "DONE (PASS" in prove(script)


@pytest.mark.timeout(900)
@pytest.mark.parametrize(("proof", "file", "right", "wrong"), FAULTS)
def test_a_fault_is_found(proof, file, right, wrong, tmp_path):
    shutil.copytree(RTL, tmp_path / "rtl")
    text = (RTL / file).read_text(encoding="utf-8")
    assert right in text, "the fault has no place any more"
    (tmp_path / "rtl" / file).write_text(text.replace(right, wrong), encoding="utf-8")
    folder = BUILD / "formal" / f"{proof}-fault"
    with pytest.raises(AssertionError, match="Assert failed"):
        prove(FORMAL / f"{proof}.sby", tmp_path / "rtl", folder)
