# SPDX-License-Identifier: Apache-2.0
"""The HW tasks."""

from synth import Block

BLOCKS = [Block(top=f"hwtask_{name}") for name in ("qam16", "qam64", "fft512", "fft1024", "aes128", "g722")]
