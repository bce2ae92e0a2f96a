# SPDX-License-Identifier: Apache-2.0
"""The checks of `make check`, one module each, run as `python -m check.<name>`."""
