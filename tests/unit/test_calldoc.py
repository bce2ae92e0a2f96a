# SPDX-License-Identifier: Apache-2.0
"""docs/hypercalls.md, which is made from the headers in abi/: their comments say what the code does."""

import re
from pathlib import Path

import pytest
from c_headers import ROOT, evaluate

from check import ctext, repo
from tessera import calldoc

PAGE = ROOT / "docs" / "hypercalls.md"
HEADERS = sorted(path.name for path in calldoc.ABI.glob("*_abi.h"))
READ = calldoc.headers()
CALLS = {call.name: call for header in READ for section in header.sections for call in section.calls}
NUMBER = calldoc.Document(READ).number


def test_the_page_is_up_to_date() -> None:
    assert PAGE.read_text(encoding="utf-8") == calldoc.reference(), "docs/hypercalls.md is stale: run `make docs`"


def test_the_page_names_every_call_and_error() -> None:
    """With the numbers that a compiler sees."""
    rows = re.findall(
        r"^\| (-?\d+) \| ((?:HCALL|IPC)_\w+(?:, IPC_\w+)?)", PAGE.read_text(encoding="utf-8"), re.MULTILINE
    )
    documented = {name: int(number) for number, names in rows for name in names.split(", ")}
    defined = "".join((calldoc.ABI / header).read_text(encoding="utf-8") for header in HEADERS)
    names = set(re.findall(r"^#define (HCALL_\w+|IPC_ERR_\w+) ", defined, flags=re.MULTILINE))
    assert names - {"HCALL_EXTENSION", "HCALL_MAX"} == set(documented)
    assert evaluate(HEADERS, documented) == documented


class Component:
    """The functions of a component's folder, by file and name."""

    def __init__(self, folder: Path) -> None:
        files = [path for path in folder.rglob("*.[ch]") if path.is_file()]
        self.functions = {
            path: {one.name: one.body for one in ctext.functions(path.read_text(encoding="utf-8"))} for path in files
        }
        main = (folder / "component.c").read_text(encoding="utf-8")
        self.calls = dict(re.findall(r"\{(HCALL_\w+), (\w+), \w+\}", main))

    def find(self, name: str, user: Path | None = None) -> tuple[Path, str] | None:
        """The function of this name: in the file of its user, else in another one."""
        if user is not None and name in self.functions[user]:
            return user, name
        return next(((path, name) for path, those in self.functions.items() if name in those), None)

    def errors(self, name: str) -> set[str]:
        """The errors that a function, and what it calls in the component, names."""
        pending, reached, words = [self.find(name)], set(), set()
        while pending:
            here = pending.pop()
            if here is not None and here not in reached:
                reached.add(here)
                found = set(re.findall(r"\w+", self.functions[here[0]][here[1]]))
                words |= found
                pending += [self.find(word, here[0]) for word in found]
        assert reached, f"no function {name}"
        return {word for word in words if re.match(r"(HCALL|IPC)_ERR_", word)}


FOLDERS = [ROOT / name for name in ("core", *repo.components(ROOT)) if (ROOT / name / "component.c").is_file()]
COMPONENTS = [component for component in map(Component, FOLDERS) if component.calls]


def test_every_call_is_registered() -> None:
    assert {name for component in COMPONENTS for name in component.calls} == CALLS.keys()


@pytest.mark.parametrize(
    ("component", "call"),
    [pytest.param(component, call, id=call) for component in COMPONENTS for call in component.calls],
)
def test_the_header_has_the_errors_that_the_code_names(component: Component, call: str) -> None:
    documented = {NUMBER(error.name) for error in CALLS[call].errors}
    assert documented == {NUMBER(name) for name in component.errors(component.calls[call])}


@pytest.mark.parametrize(
    ("comment", "complaint"),
    [
        ("", "expected .*arguments"),
        ("/* takes a device */\n", "expected .*arguments"),
        ("/* (device)\n * - refused: never */\n", "expected .*ERROR"),
    ],
)
def test_a_call_without_a_description_is_refused(comment: str, complaint: str) -> None:
    with pytest.raises(calldoc.AbiError, match=complaint):
        calldoc.read(f"/* --- Part --- */\n{comment}#define HCALL_NEW 60\n")


def test_a_call_in_no_section_is_refused() -> None:
    with pytest.raises(calldoc.AbiError, match="HCALL_NEW"):
        calldoc.read("/* () */\n#define HCALL_NEW 60\n")
