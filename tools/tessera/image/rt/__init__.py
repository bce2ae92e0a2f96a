# SPDX-License-Identifier: Apache-2.0
"""What the image builder knows of the component `rt`: the limits of RT-VMs, and the costs of a board's apps."""
