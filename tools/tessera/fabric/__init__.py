# SPDX-License-Identifier: Apache-2.0
"""The reconfigurable fabric as software sees it (docs/fabric.md).

bitstream  the format of a bitstream in memory, and bitstreams for the simulated ICAP
"""
