# SPDX-License-Identifier: Apache-2.0
# There is no fabric.
HYP_COMPONENTS ?= rt ipc debug console seed compat fwtree virtio
