# SPDX-License-Identifier: Apache-2.0
"""Coverage of the hypervisor: lines and branches that the host's tests and runs in emulators
execute."""
