# SPDX-License-Identifier: Apache-2.0
"""Reads assignments of pointers, and calls through them, from C sources by libclang."""

from collections.abc import Callable, Iterable
from pathlib import Path

from clang.cindex import Cursor, CursorKind, Diagnostic, Index, LinkageKind, TranslationUnit, Type, TypeKind

from tessera.bench.machine import BenchError
from tessera.verify.points_to import ANY, NOTHING, Atom, Call, Facts, Values

_FUNCTIONS = (TypeKind.FUNCTIONPROTO, TypeKind.FUNCTIONNOPROTO)
_ARRAYS = (TypeKind.CONSTANTARRAY, TypeKind.INCOMPLETEARRAY, TypeKind.VARIABLEARRAY)
_PLACES = (*_ARRAYS, TypeKind.RECORD)  # an expression of this type stands for its address
_POINTERS = (TypeKind.POINTER, *_FUNCTIONS, *_ARRAYS)  # an expression of this type can be a pointer's value
_WRAPPED = (CursorKind.UNEXPOSED_EXPR, CursorKind.PAREN_EXPR, CursorKind.CSTYLE_CAST_EXPR)


def _kind(cursor: Cursor) -> TypeKind:
    return cursor.type.get_canonical().kind


def _expressions(cursor: Cursor) -> list[Cursor]:
    return [child for child in cursor.get_children() if child.kind.is_expression()]


def _unwrapped(cursor: Cursor) -> Cursor:
    """Returns the expression without parentheses and casts."""
    while cursor.kind in _WRAPPED and (inner := _expressions(cursor)):
        cursor = inner[-1]
    return cursor


def _is_constant(of: Type) -> bool:
    while of.kind in _ARRAYS:
        of = of.element_type.get_canonical()
    return bool(of.is_const_qualified())


class Reader:
    """Reads sources one after the other, each definition in a header once."""

    def __init__(self, root: Path) -> None:
        self.facts = Facts()
        self._root = root
        self._seen: set[tuple[str, int]] = set()
        self._parameters: dict[tuple[str, int], Atom] = {}
        self._values_of: dict[CursorKind, Callable[[Cursor], Values]] = {
            CursorKind.DECL_REF_EXPR: self._name,
            CursorKind.MEMBER_REF_EXPR: self._member,
            CursorKind.ARRAY_SUBSCRIPT_EXPR: lambda cursor: self._pointed_to(cursor, _expressions(cursor)[0]),
            CursorKind.UNARY_OPERATOR: self._unary,
            CursorKind.BINARY_OPERATOR: self._binary,
            CursorKind.CONDITIONAL_OPERATOR: self._conditional,
            CursorKind.CALL_EXPR: self._returned,
        }

    def read(self, unit: TranslationUnit) -> None:
        for cursor in unit.cursor.get_children():
            if cursor.kind not in (CursorKind.FUNCTION_DECL, CursorKind.VAR_DECL):
                continue
            place = self._place(cursor)
            if cursor.is_definition() and place not in self._seen:
                self._seen.add(place)
                self._definition(cursor)

    # --- names ---

    def _place(self, cursor: Cursor) -> tuple[str, int]:
        return self._file(cursor.location.file.name), cursor.location.offset

    def _file(self, name: str) -> str:
        return name.removeprefix(f"{self._root}/")

    def _thing(self, kind: str, declaration: Cursor) -> Atom:
        """Returns the atom of a variable or of a function."""
        file, offset = self._place(declaration)
        if declaration.kind == CursorKind.PARM_DECL:
            return self._parameters.get((file, offset), ANY)
        owner = "" if declaration.linkage == LinkageKind.EXTERNAL else file
        if owner and declaration.semantic_parent.kind == CursorKind.FUNCTION_DECL:
            owner = f"{file}:{offset}"
        return Atom(kind, owner, declaration.spelling)

    def _field(self, kind: str, declaration: Cursor) -> Atom:
        file, offset = self._place(declaration.semantic_parent)
        return Atom(kind, f"{file}:{offset}", declaration.spelling)

    # --- definitions and statements ---

    def _definition(self, cursor: Cursor) -> None:
        name = self._thing("fn", cursor)
        if cursor.kind == CursorKind.FUNCTION_DECL:
            for number, parameter in enumerate(cursor.get_arguments()):
                slot = Atom("param", name.owner, name.name, number)
                self._parameters[self._place(parameter)] = slot
                self.facts.parameters.add(slot)
        statements: dict[CursorKind, Callable[[Cursor], None]] = {
            CursorKind.VAR_DECL: self._variable,
            CursorKind.COMPOUND_LITERAL_EXPR: lambda at: self._initialize(_expressions(at)[-1], at.type, None, None),
            CursorKind.BINARY_OPERATOR: self._assignment,
            CursorKind.CALL_EXPR: self._call,
            CursorKind.RETURN_STMT: lambda at: self._return(name._replace(kind="ret"), at),
        }
        for inner in cursor.walk_preorder():
            if inner.kind in statements:
                statements[inner.kind](inner)

    def _store(self, slot: Atom, value: Cursor) -> None:
        if _kind(value) in _POINTERS and (values := self._value(value)):
            self.facts.holds[slot] |= values

    def _return(self, slot: Atom, cursor: Cursor) -> None:
        for value in _expressions(cursor):
            self._store(slot, value)

    def _variable(self, cursor: Cursor) -> None:
        values = _expressions(cursor)  # sizes of arrays, and the initializer, if any
        of = cursor.type.get_canonical()
        if values and of.kind in (TypeKind.POINTER, *_PLACES):
            constant = self._thing("at", cursor) if _is_constant(of) else None
            self._initialize(values[-1], of, self._thing("var", cursor), constant)

    def _assignment(self, cursor: Cursor) -> None:
        left, right = _expressions(cursor)
        if _kind(left) == _kind(cursor) == TypeKind.POINTER:  # no comparison
            for slot in self._value(left) - {ANY}:
                self._store(slot, right)

    def _call(self, cursor: Cursor) -> None:
        function, *given = cursor.get_children()
        arguments = tuple(self._value(one) if _kind(one) in (*_POINTERS, *_PLACES) else NOTHING for one in given)
        callee = self._value(function)
        if len(callee) != 1 or any(atom.kind != "fn" for atom in callee):
            member = _unwrapped(function)
            bases = _expressions(member) if member.kind == CursorKind.MEMBER_REF_EXPR else []
            base = self._value(bases[0]) if bases else NOTHING
            first, last = cursor.extent.start, function.extent.end.line
            self.facts.calls.add(Call(self._file(first.file.name), first.line, last, callee, base, arguments))
            return
        for one in callee:
            self.facts.called.add(one)
            for number, values in enumerate(arguments):
                self.facts.holds[Atom("param", one.owner, one.name, number)] |= values

    # --- initializers ---

    def _initialize(self, value: Cursor, of: Type, slot: Atom | None, constant: Atom | None) -> None:
        """`value` initializes `slot` (or an object without a name), which is of type `of` and part of
        the variable at `constant`, if it is a constant one."""
        of = of.get_canonical()
        if value.kind != CursorKind.INIT_LIST_EXPR:
            if slot is not None and of.kind == TypeKind.POINTER:
                self._keep(slot, constant, value)
        elif of.kind == TypeKind.RECORD:
            self._fields(value, of, constant)
        else:
            for child in value.get_children():
                parts = _expressions(child) if child.kind == CursorKind.UNEXPOSED_EXPR else []
                is_designated = len(parts) == 2  # the index, and the value
                element = of.element_type if of.kind in _ARRAYS else of
                self._initialize(parts[1] if is_designated else child, element, slot, constant)

    def _fields(self, value: Cursor, of: Type, constant: Atom | None) -> None:
        fields = list(of.get_fields())
        place = 0
        for child in value.get_children():
            parts = list(child.get_children()) if child.kind == CursorKind.UNEXPOSED_EXPR else []
            names = [part.referenced for part in parts if part.kind == CursorKind.MEMBER_REF]
            if names:
                place = fields.index(names[0]) if names[0] in fields else place
            target = names[-1] if names else fields[place]
            self._initialize(parts[-1] if names else child, target.type, self._field("field", target), constant)
            place += 1

    def _keep(self, slot: Atom, constant: Atom | None, value: Cursor) -> None:
        values = self._value(value)
        if constant is not None and slot.kind == "field":
            self.facts.constants[constant, slot] |= values
        elif values:
            self.facts.holds[slot] |= values

    # --- expressions ---

    def _value(self, cursor: Cursor) -> Values:
        """Returns what a pointer holds, or the address of a function, an array or a structure."""
        cursor = _unwrapped(cursor)
        if cursor.kind in (CursorKind.INTEGER_LITERAL, CursorKind.STRING_LITERAL):  # NULL, for one
            return NOTHING
        known = cursor.kind in self._values_of and _kind(cursor) in (*_POINTERS, TypeKind.RECORD)
        return self._values_of[cursor.kind](cursor) if known else Values({ANY})

    def _name(self, cursor: Cursor) -> Values:
        declaration = cursor.referenced
        if declaration.kind == CursorKind.FUNCTION_DECL:
            return Values({self._thing("fn", declaration)})
        if declaration.kind not in (CursorKind.VAR_DECL, CursorKind.PARM_DECL):
            return Values({ANY})
        return Values({self._thing("at" if _kind(cursor) in _PLACES else "var", declaration)})

    def _member(self, cursor: Cursor) -> Values:
        return Values({self._field("atfield" if _kind(cursor) in _PLACES else "field", cursor.referenced)})

    def _pointed_to(self, cursor: Cursor, pointer: Cursor) -> Values:
        """Returns the value of `cursor`, which is what `pointer` points to."""
        values = self._value(pointer)
        return Values(one.behind() for one in values) if _kind(cursor) == TypeKind.POINTER else values

    def _unary(self, cursor: Cursor) -> Values:
        (operand,) = _expressions(cursor)
        inner, outer = operand.type.get_canonical(), cursor.type.get_canonical()
        if inner.kind == TypeKind.POINTER and inner.get_pointee().get_canonical() == outer:
            return self._pointed_to(cursor, operand)
        if outer.kind == inner.kind == TypeKind.POINTER and outer.get_pointee().get_canonical() == inner:
            return Values(one.address() for one in self._value(operand))
        return self._value(operand)  # the address of a function or a structure; ++ and --

    def _binary(self, cursor: Cursor) -> Values:
        """Returns the value of an assignment, or of a pointer and a number."""
        left, right = _expressions(cursor)
        if _kind(right) in _POINTERS:
            return self._value(right)
        return self._value(left) if _kind(left) in _POINTERS else Values({ANY})

    def _conditional(self, cursor: Cursor) -> Values:
        _, left, right = _expressions(cursor)
        return self._value(left) | self._value(right)

    def _returned(self, cursor: Cursor) -> Values:
        callee = self._value(next(cursor.get_children()))
        return Values(one._replace(kind="ret") if one.kind == "fn" else ANY for one in callee)


def read_facts(sources: Iterable[tuple[str, list[str]]], root: Path) -> Facts:
    """Reads C files below `root`, each with the options of its compiler."""
    index, reader = Index.create(), Reader(root)
    for source, options in sources:
        unit = index.parse(source, [*options, "-w", f"-working-directory={root}"])
        wrong = [str(one) for one in unit.diagnostics if one.severity >= Diagnostic.Error]
        if wrong:
            raise BenchError(f"{source}: clang cannot read it: {wrong[0]}")
        reader.read(unit)
    return reader.facts
