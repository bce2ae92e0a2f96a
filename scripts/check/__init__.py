# SPDX-License-Identifier: Apache-2.0
"""The checks behind `make check`, one module each; every one runs as `python -m check.<name>`."""
