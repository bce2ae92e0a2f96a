# SPDX-License-Identifier: Apache-2.0
"""How Sphinx builds the documentation's site (`make site`), from the repository's documents where they are."""

project = "Tessera"
extensions = ["myst_parser"]
source_suffix = {".md": "markdown"}
include_patterns = [
    "*.md",
    "docs/**",
    "guests/README.md",
    "guests/**/README.md",
    "tests/guests/README.md",
    "fpga/**/README.md",
]
root_doc = "docs/index"
html_theme = "furo"
html_title = "Tessera"
html_show_copyright = False
myst_heading_anchors = 4  # links to headings are those of GitHub
