# SPDX-License-Identifier: Apache-2.0
"""
Mutants of C source, from a small set of operators over tree-sitter's syntax tree. All mutants of a file are compiled at
once: schemata() writes each behind `mutant_on(number)`, so that a test run selects a mutant without a compiler.
"""

import argparse
import json
import os
import re
import shlex
import subprocess
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import tree_sitter_c
from tree_sitter import Language, Node, Parser

PARSER = Parser(Language(tree_sitter_c.language()))
ATTRIBUTES = re.compile(rb"\b(OWN_SYMBOL|COMPONENT_DEFAULT)\b")  # macros that tree-sitter would take for types
COMPARE = {"<": "<=", "<=": "<", ">": ">=", ">=": ">", "==": "!=", "!=": "=="}
LOGIC = {"&&": "||", "||": "&&"}
ARITHMETIC = {"+": "-", "-": "+"}
RIGHT_DROPPED = ("&", "|", "+", "-")
# Constant expressions, and what is not evaluated.
CONSTANT = {
    "sizeof_expression",
    "offsetof_expression",
    "array_declarator",
    "gnu_asm_expression",
    "static_assert_declaration",
}
CONDITIONS = {"identifier", "call_expression", "field_expression", "unary_expression", "subscript_expression"}


@dataclass(frozen=True)
class Mutant:
    """A change of a function: `new` instead of the code of `node`, an expression, or a statement that is removed
    (`new` is empty) or changes places with `after`, a call or an `if`."""

    function: str
    operator: str
    node: Node
    new: str
    after: Node | None = None
    ordinal: int = 1

    @property
    def key(self) -> str:
        """Names the mutant by what it changes, so that it keeps its name where code moves."""
        again = f" #{self.ordinal}" if self.ordinal > 1 else ""
        return f"{self.function}: {self.operator}: {code(self.node)} -> {self.new or 'nothing'}{again}"


def leaves(node: Node) -> Iterator[Node]:
    if node.type in ("string_literal", "char_literal") or node.child_count == 0:
        yield node
    else:
        for child in node.children:
            yield from leaves(child)


def text_of(node: Node) -> str:
    return (node.text or b"").decode()


def code(node: Node) -> str:
    """The code of a node in one line, without comments; a space where the source has white space."""
    words: list[str] = []
    end = node.start_byte
    for leaf in leaves(node):
        if leaf.type != "comment":
            words.append(" " if leaf.start_byte > end and words else "")
            words.append(text_of(leaf))
        end = leaf.end_byte
    return "".join(words)


def field(node: Node, name: str) -> Node:
    child = node.child_by_field_name(name)
    assert child is not None, f"{node.type} has no {name}"
    return child


def joined(node: Node, operator: str) -> str:
    """The operands of `node` with another operator; in brackets, where it would bind them differently."""
    sides = [field(node, name) for name in ("left", "right")]
    left, right = (f"({code(side)})" if side.type == "binary_expression" else code(side) for side in sides)
    return f"{left} {operator} {right}"


def of_binary(node: Node) -> Iterator[tuple[str, str]]:
    operator = text_of(field(node, "operator"))
    left, right = field(node, "left"), field(node, "right")
    if operator in COMPARE:
        yield "compare", f"{code(left)} {COMPARE[operator]} {code(right)}"
        if right.type == "number_literal":
            yield "number", f"{code(left)} {operator} {code(right)} + 1"
    if operator in LOGIC:
        yield "logic", joined(node, LOGIC[operator])
        yield "drop", code(left)
        yield "drop", code(right)
    if operator in ARITHMETIC:
        yield "arithmetic", joined(node, ARITHMETIC[operator])
    if operator in RIGHT_DROPPED:
        yield "drop", code(left)


def negated(condition: Node) -> Iterator[tuple[str, str]]:
    """A condition without an operator of of_binary()."""
    if condition.type in CONDITIONS:
        yield "negate", f"!({code(condition)})"


def of_return(value: Node) -> Iterator[tuple[str, str]]:
    """Another constant."""
    words = code(value)
    if words in ("true", "false"):
        yield "return", "false" if words == "true" else "true"
    elif words != "NULL" and value.type not in ("compound_literal_expression", "initializer_list"):
        yield "return", "1" if words in ("0", "0U") else "0"


def expression_changes(node: Node) -> Iterator[tuple[str, str]]:
    """The operators that apply to an expression, with the new code."""
    parent = node.parent
    if node.type == "binary_expression":
        yield from of_binary(node)
    if parent is None:
        return
    if parent.type == "return_statement" and node.is_named:
        yield from of_return(node)
    within = parent if parent.type != "parenthesized_expression" else parent.parent
    if within is not None and within.child_by_field_name("condition") in (node, parent):
        yield from negated(node)


def is_statement(node: Node | None, *types: str) -> bool:
    """A statement of an expression of one of the types."""
    if node is None or node.type != "expression_statement" or not node.named_children:
        return False
    return node.named_children[0].type in types


def statement_changes(node: Node) -> Iterator[tuple[str, str, Node | None]]:
    """The operators that apply to a statement, with the new code, and the statement that changes places with it."""
    after = node.next_named_sibling
    while after is not None and after.type == "comment":
        after = after.next_named_sibling
    if is_statement(node, "call_expression"):
        yield "call", "", None
        if after is not None and (after.type == "if_statement" or is_statement(after, "call_expression")):
            yield "swap", f"{code(after)} {code(node)}", after
    elif is_statement(node, "assignment_expression", "update_expression"):
        yield "assign", "", None


def is_constant(node: Node) -> bool:
    """Code that is evaluated by the compiler: nothing in it may depend on a variable."""
    if node.type == "case_statement":
        return False  # its value only
    static = node.type == "declaration" and any(text_of(child) == "static" for child in node.children)
    return (
        static
        or node.type in CONSTANT
        or (node.type == "call_expression" and "static_assert" in text_of(field(node, "function")))
    )


def changes(node: Node, function: str) -> Iterator[Mutant]:
    """The mutants of a node and of what it contains."""
    if is_constant(node):
        return
    if node.is_named:
        for operator, new in expression_changes(node):
            yield Mutant(function, operator, node, new)
        for operator, new, after in statement_changes(node):
            yield Mutant(function, operator, node, new, after)
    value = node.child_by_field_name("value") if node.type == "case_statement" else None
    for child in node.children:
        if child != value:
            yield from changes(child, function)


def functions(root: Node) -> Iterator[tuple[str, Node]]:
    """The functions of a file: name and body."""
    for node in root.children:
        if node.type == "function_definition":
            name = field(node, "declarator")
            while name.type != "identifier":
                name = field(name, "declarator")
            yield text_of(name), field(node, "body")


def parse(text: str) -> Node:
    """The syntax tree of C source."""
    return PARSER.parse(ATTRIBUTES.sub(lambda found: b" " * len(found[0]), text.encode())).root_node


def mutants(root: Node) -> list[Mutant]:
    """The mutants of a file, in the order of its code."""
    found: list[Mutant] = []
    seen: Counter[str] = Counter()
    for name, body in functions(root):
        for mutant in changes(body, name):
            seen[mutant.key] += 1
            found.append(Mutant(name, mutant.operator, mutant.node, mutant.new, mutant.after, seen[mutant.key]))
    return found


class Schemata:
    """Writes a source with all its mutants, in its lines: the one that mutant_on() selects replaces its code."""

    def __init__(self, source: bytes, numbered: dict[int, Mutant]) -> None:
        self.source = source
        self.at: dict[int, list[tuple[int, str]]] = {}
        for number, mutant in numbered.items():
            if mutant.after is not None:
                self.at.setdefault(mutant.node.id, []).append((number, code(mutant.after)))
                self.at.setdefault(mutant.after.id, []).append((number, code(mutant.node)))
            else:
                self.at.setdefault(mutant.node.id, []).append((number, mutant.new))

    def inner(self, node: Node) -> str:
        """The code of a node, with the mutants in it."""
        parts: list[str] = []
        end = node.start_byte
        for child in node.children:
            parts += [self.source[end : child.start_byte].decode(), self.outer(child)]
            end = child.end_byte
        return "".join(parts) + self.source[end : node.end_byte].decode()

    def outer(self, node: Node) -> str:
        """inner() with the node's own mutants."""
        result = self.inner(node)
        for number, new in self.at.get(node.id, []):
            if node.type in ("expression_statement", "if_statement"):
                result = f"if (mutant_on({number})) {{ {new} }} else {{ {result} }}"
            else:
                result = f"(mutant_on({number}) ? ({new}) : ({result}))"
        return result


def schemata(text: str, root: Node, numbered: dict[int, Mutant]) -> str:
    source = text.encode()
    return (
        source[: root.start_byte].decode() + Schemata(source, numbered).inner(root) + source[root.end_byte :].decode()
    )


def refused(compiler: list[str], file: Path) -> set[int]:
    """The mutants that do not compile: the last one before the place of each error in its line, or the first of it."""
    done = subprocess.run(
        [*compiler, "-fsyntax-only", str(file)], capture_output=True, text=True, env={**os.environ, "LC_ALL": "C"}
    )
    lines = file.read_text(encoding="utf-8").split("\n")
    found = set()
    for line, column in re.findall(rf"^{re.escape(str(file))}:(\d+):(\d+): error:", done.stderr, flags=re.MULTILINE):
        before = lines[int(line) - 1].encode()[: int(column)].decode(errors="ignore")
        numbers = re.findall(r"mutant_on\((\d+)", before)[-1:] or re.findall(r"mutant_on\((\d+)", lines[int(line) - 1])
        found |= {int(number) for number in numbers[:1]}
    assert found or done.returncode == 0, done.stderr
    return found


def write(folder: Path, compiler: list[str], files: list[Path]) -> None:
    """Writes the files with their mutants to folder/source, and a list of the mutants, whose first number is 1."""
    names: list[str] = [""]
    for file in files:
        text = file.read_text(encoding="utf-8")
        root = parse(text)
        numbered = dict(enumerate(mutants(root), len(names)))
        names += [f"{file} {mutant.key}" for mutant in numbered.values()]
        target = folder / "source" / file
        target.parent.mkdir(parents=True, exist_ok=True)
        wrong = {0}
        while wrong:
            target.write_text(schemata(text, root, numbered), encoding="utf-8")
            wrong = refused([*compiler, "-iquote", str(file.parent)], target)
            for number in wrong:
                names[number] = ""
                del numbered[number]
    (folder / "mutants.json").write_text(json.dumps(names, indent=0), encoding="utf-8")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("files", type=Path, nargs="+")
    parser.add_argument("--compiler", required=True, help="the command that compiles one of the files")
    arguments = parser.parse_args()
    write(arguments.folder, shlex.split(arguments.compiler), arguments.files)
