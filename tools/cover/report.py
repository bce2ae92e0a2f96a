# SPDX-License-Identifier: Apache-2.0
"""Coverage as a table and as HTML: an index, and a page per file that marks lines that were not
executed."""

import html
from pathlib import Path
from typing import Any

from cover.model import ROOT, Line, Sources, Total, total
from tessera.bench.published import record

LAYERS = ("core", "rt", "ipc", "services", "devices", "arch")  # top folders of the hypervisor's code
DIVIDED = ("services", "devices", "arch")  # those of which each folder is a part
_STYLE = """
body { font-family: sans-serif; margin: 2em; } pre { margin: 0; } td { padding: 0 1em 0 0; text-align: right; }
td.name { text-align: left; } .line { white-space: pre; font-family: monospace; }
.no { background: #f8c8c8; } .part { background: #fbe9b0; } .yes { background: #d8f0d8; }
"""


def part_of(file: str) -> str | None:
    """Returns the hypervisor's part that a file belongs to, None if coverage does not count the
    file."""
    top, *below = Path(file).parts
    if top not in LAYERS or not below:
        return None
    return f"{top}/{below[0]}" if top in DIVIDED else top


def _order(file: str) -> tuple[int, str]:
    """The layers in their order, then the paths."""
    return LAYERS.index(Path(file).parts[0]), file


def totals(sources: Sources) -> dict[str, Total]:
    """Returns the totals by file, of the counted parts, in their order."""
    files = sorted((file for file in sources if part_of(file)), key=_order)
    return {file: total(sources[file].values()) for file in files}


def of_parts(sources: Sources) -> dict[str, Total]:
    """Returns the totals of the counted parts, in their order."""
    found: dict[str, Total] = {}
    for file, of in totals(sources).items():
        part = part_of(file) or ""
        found[part] = found.get(part, Total()) + of
    return found


def records(sources: Sources) -> list[dict[str, Any]]:
    """Returns the shares of each part as lines of results.jsonl."""
    shares = {
        f"coverage.{part.removeprefix('services/').removeprefix('devices/')}.{what}": share
        for part, of in of_parts(sources).items()
        for what, share in (("lines", of.lines_percent), ("branches", of.directions_percent))
    }
    return [record(metric, None, "percent", [share]) for metric, share in shares.items()]


def _row(name: str, of: Total) -> str:
    lines = f"{of.executed}/{of.lines} | {of.lines_percent:.1f} %"
    directions = f"{of.taken}/{of.directions} | {of.directions_percent:.1f} %" if of.directions else "- | -"
    return f"| {name} | {lines} | {directions} |"


def table(sources: Sources) -> str:
    """Returns a Markdown table: a row for each part, then one for each file."""
    rows = [_row(f"**{part}**", of) for part, of in of_parts(sources).items()]
    rows += [_row(file, of) for file, of in totals(sources).items()]
    head = "| | lines | | branches | |\n|---|---|---|---|---|\n"
    return head + "\n".join(rows) + "\n"


def _class_of(line: Line | None) -> str:
    if line is None:
        return ""
    if not line.executed:
        return "no"
    return "yes" if all(line.directions) else "part"


def _source_page(file: str, lines: dict[int, Line], text: str) -> str:
    shown = []
    for number, code in enumerate(text.splitlines(), 1):
        line = lines.get(number)
        directions = f"{sum(line.directions)}/{len(line.directions)}" if line is not None and line.directions else ""
        shown.append(f'<div class="line {_class_of(line)}">{number:5} {directions:>7}  {html.escape(code)}</div>')
    return _page(file, "\n".join(shown))


def _page(title: str, body: str) -> str:
    title = html.escape(title)
    return (
        f'<!DOCTYPE html><html><head><meta charset="utf-8"><title>{title}</title><style>{_STYLE}</style></head>'
        f"<body><h1>{title}</h1>\n{body}\n</body></html>\n"
    )


def _index(by_file: dict[str, Total]) -> str:
    rows = []
    for file, of in by_file.items():
        name = f'<td class="name"><a href="{_page_name(file)}">{html.escape(file)}</a></td>'
        cells = (
            f"{of.executed}/{of.lines}",
            f"{of.lines_percent:.1f} %",
            f"{of.taken}/{of.directions}",
            f"{of.directions_percent:.1f} %",
        )
        rows.append(f"<tr>{name}{''.join(f'<td>{cell}</td>' for cell in cells)}</tr>")
    head = "<tr><th></th><th colspan=2>lines</th><th colspan=2>branches</th></tr>"
    return _page("What the tests execute", f"<table>{head}{''.join(rows)}</table>")


def _page_name(file: str) -> str:
    return file.replace("/", "_") + ".html"


def write_html(sources: Sources, folder: Path, top: Path = ROOT) -> None:
    """Writes an index and a page per file. Red lines were not executed; yellow lines have a branch
    that never took one of its directions."""
    folder.mkdir(parents=True, exist_ok=True)
    by_file = totals(sources)
    for file in by_file:
        text = (top / file).read_text(encoding="utf-8")
        (folder / _page_name(file)).write_text(_source_page(file, sources[file], text), encoding="utf-8")
    (folder / "index.html").write_text(_index(by_file), encoding="utf-8")
