# SPDX-License-Identifier: Apache-2.0
"""What the tests execute of the hypervisor: lines and branches, by the host's tests and by runs in emulators."""
