# SPDX-License-Identifier: Apache-2.0
"""The commit that a run measures."""

import subprocess
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from tessera.run.runner import ROOT


@dataclass(frozen=True)
class Commit:
    """The measured commit, and whether files had uncommitted changes."""

    name: str
    dirty: bool


@cache
def current_commit(root: Path = ROOT) -> Commit:
    """Returns the repository's commit at the first call, which is that of the run; "unknown" outside a repository."""

    def git(*words: str) -> str:
        done = subprocess.run(["git", *words], cwd=root, text=True, capture_output=True, check=False)
        return done.stdout.strip() if done.returncode == 0 else ""

    return Commit(git("rev-parse", "HEAD") or "unknown", bool(git("status", "--porcelain", "--untracked-files=no")))
