"""A model in Promela, for Spin: a variable for each cell, and a C function for each guard, step and property.

The text is meant for comparison and not for reading. States and steps of Spin are the states and steps of the model,
one to one. One more state precedes the initial states, with a step to each of them.

By default `pan` stops with an assertion in the first state that violates a property. With -DBFS -DCOUNT it finishes the
level of the violation instead, and prints its counts in lines that begin with `counted`. -DMOST_DEPTH=N and
-DMOST_STATES=N stop it after the level that reaches this limit.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from insync.model import Model
from insync.model.domains.layout import Cell
from insync.model.expressions.graph import GROUND, Node, Op
from insync.model.tracing.program import BoundAction, Program
from insync.properties.invariants import TYPE_OK
from insync.properties.registry import judge
from insync.runtime.errors import UserError

__all__ = ["C_FUNCTIONS", "C_TEXT", "MOST_INITIALS", "CText", "promela_files", "promela_text"]


MOST_INITIALS = 2_000
"""The most initial states that are written: each is an option of its own in an `if`."""

_COUNTING = """\
#ifdef COUNT
#ifndef MOST_DEPTH
#define MOST_DEPTH 99999
#endif
#ifndef MOST_STATES
#define MOST_STATES 1000000000
#endif
extern long depth;
extern void wrapup(void);
static State looked_at;
static long looked, level;
static void print_counted(void) {
  long k;
  printf("counted levels");
  for (k = 1; k <= level; k++) printf(" %ld", levels[k]);
  printf("\\ncounted outside");
  for (k = 1; k <= level; k++) printf(" %ld", outside_of[k]);
  printf("\\ncounted steps");
  for (k = 0; k < ACTIONS; k++) printf(" %ld", steps[k]);
  printf("\\ncounted failing");
  for (k = 0; k < PROPERTIES; k++) printf(" %ld", failing[k]);
  printf("\\n");
}
static void stop(char *why) { printf("counted until %s\\n", why); wrapup(); }
static void next_level(void) {
  long k;
  for (k = 0; k < PROPERTIES; k++) if (failing[k]) stop("violation");
  if (level >= MOST_DEPTH || level >= DEPTHS - 1) stop("depth");
  if (looked >= MOST_STATES) stop("states");
  level = depth;
}
static int violated(void) {
  long k;
  if (!looked) atexit(print_counted);
  else if (!memcmp(&looked_at, &now, sizeof(State))) return 0;  /* pan tries a state without steps twice */
  memcpy(&looked_at, &now, sizeof(State));
  if (depth > level) next_level();
  looked++;
  if (outside()) outside_of[depth]++; else levels[depth]++;
  for (k = 0; k < PROPERTIES; k++) if (!failing[k] && !holds(k)) failing[k] = depth;
  return 0;
}
#else
static int violated(void) {
  long k;
  for (k = 0; k < PROPERTIES; k++) if (!holds(k)) { printf("violated: %s\\n", names[k]); return 1; }
  return 0;
}
#endif
"""

_LONGEST = 40_000  # characters in one piece of C: below Spin's limit

_ESCAPED = re.compile("^#", re.MULTILINE)  # hides directives of the C preprocessor from the one that Spin runs first


def promela_files(model: Model, properties: Sequence[str], name: str) -> dict[str, str]:
    """Return one file with a model and the named properties in Promela."""
    return {f"{name}.pml": promela_text(model, judge(model, properties).conditions)}


def promela_text(model: Model, properties: Mapping[str, Node]) -> str:
    """Return a model in Promela.

    Args:
        model: the model under its bounds.
        properties: the conditions on states to check, by name; type_ok is always checked, after them.

    Raises:
        UserError: the model has more than `MOST_INITIALS` initial states.
    """
    return _Promela(model.program, properties).text(model)


@dataclass(slots=True)
class _Variables:
    """The declarations of cells, and the C expression that reads each."""

    declared: list[str]
    read: dict[int, str]

    @classmethod
    def of(cls, cells: Sequence[Cell]) -> _Variables:
        declared, read, taken = [], {}, set[str]()
        for cell in cells:
            if cell.size == 1:
                continue
            name = _name(cell.path, taken)
            comment = f"  /* {_comment(cell.path)}: 0 to {cell.size - 1} */"
            kind = "byte" if cell.size <= 2**8 else "int"
            wide = cell.size > 2**31
            declared.append((f'c_state "long long {name}" "Global" "0"' if wide else f"{kind} {name};") + comment)
            read[cell.number] = f"now.{name}"
        return cls(declared, read)


class _Promela:
    def __init__(self, program: Program, properties: Mapping[str, Node]) -> None:
        self.program, self.properties = program, properties
        self.variables = _Variables.of(program.schema.cells)

    def text(self, model: Model) -> str:
        """Return the whole file."""
        chosen = ", ".join(f"{name}={value}" for name, value in model.identity.items())
        head = [f"/* {_comment(model.name)} ({_comment(chosen)}), as insync traced it. */"]
        parts = [*head, *self.variables.declared, "", self._constants(), _code(C_FUNCTIONS), *self._functions()]
        return "\n".join([*parts, *self._process()]) + "\n"

    def _constants(self) -> str:
        names = [*self.properties, TYPE_OK]
        sizes = {"ACTIONS": len(self.program.actions), "PROPERTIES": len(names), "DEPTHS": 100_000}
        lines = [f"\\#define {name} {value}" for name, value in sizes.items()]
        lines += [f"\\#define GUARD_{number} guard_{number}()" for number in range(len(self.program.actions))]
        lines.append("\\#define VIOLATED violated()")
        written = ", ".join(f'"{name}"' for name in names)
        lines.append(f"static char *names[] = {{ {written} }};")
        lines.append("static long levels[DEPTHS], outside_of[DEPTHS], steps[ACTIONS + 1], failing[PROPERTIES];")
        return _code("\n".join(lines))

    def _functions(self) -> list[str]:
        parts = [self._start(number, codes) for number, codes in enumerate(self._initials())]
        for number, action in enumerate(self.program.actions):
            parts.append(self._guard(number, action))
            parts.append(self._step(number, action))
        for number, node in enumerate(self.properties.values()):
            body = CText(self.variables.read)
            body.require([node], "return 0;")
            parts.append(_function(f"int property_{number}(void)", [*body.lines, "return 1;"]))
        parts += [*self._type_ok(), self._outside()]
        cases = [f"case {number}: return property_{number}();" for number in range(len(self.properties) + 1)]
        parts.append(_function("int holds(long k)", ["switch (k) {", *cases, "}", "return 1;"]))
        return [*parts, _code(_ESCAPED.sub(r"\\#", _COUNTING))]

    def _initials(self) -> list[tuple[int, ...]]:
        initials = self.program.initials
        if len(initials) > MOST_INITIALS:
            message = (
                f"This model has {len(initials)} initial states, and Promela can have {MOST_INITIALS} here; choose "
                f"smaller bounds."
            )
            raise UserError(message)
        return list(initials)

    def _start(self, number: int, codes: tuple[int, ...]) -> str:
        read = self.variables.read
        lines = [f"{read[cell]} = {code};" for cell, code in enumerate(codes) if cell in read]
        return _function(f"void start_{number}(void)", lines)

    def _guard(self, number: int, action: BoundAction) -> str:
        """Return the guard with the run-time checks. Where a check fails there is no step, and type_ok fails."""
        body = CText(self.variables.read)
        body.require([*action.guard, *(check.node for check in action.checks)], "return 0;")
        return _function(f"int guard_{number}(void)", [*body.lines, "return 1;"])

    def _step(self, number: int, action: BoundAction) -> str:
        """Return the step. All values are computed before the first assignment."""
        body, read = CText(self.variables.read), self.variables.read
        updates = [(read[cell], body.value(node)) for cell, node in action.updates if cell in read]
        lines = [*body.lines, *(f"{cell} = {text};" for cell, text in updates), f"steps[{number}]++;"]
        return _function(f"void step_{number}(void)", lines)

    def _type_ok(self) -> list[str]:
        """Return type_ok: no enabled action assigns a value outside a field's domain. Each action has a function."""
        parts, calls = [], []
        for number, action in enumerate(self.program.actions):
            if action.checks:
                body = CText(self.variables.read)
                body.require(action.guard, "return 0;")
                body.require([check.node for check in action.checks], "return 1;")
                parts.append(_function(f"int refused_{number}(void)", [*body.lines, "return 0;"]))
                calls.append(f"if (refused_{number}()) return 0;")
        return [*parts, _function(f"int property_{len(self.properties)}(void)", [*calls, "return 1;"])]

    def _outside(self) -> str:
        """Return the function `outside`: whether a state violates `within`, so that no step is taken from it."""
        body = CText(self.variables.read)
        body.require(self.program.within, "return 1;")
        return _function("int outside(void)", [*body.lines, "return 0;"])

    def _process(self) -> list[str]:
        starts = [f"  :: d_step {{ c_code {{ start_{number}(); }} }}" for number in range(len(self._initials()))]
        steps = [
            f"  :: d_step {{ c_expr {{ GUARD_{number} }} -> c_code {{ step_{number}(); }} }}  "
            f"/* {_comment(str(action))}: {_comment(action.label)} */"
            for number, action in enumerate(self.program.actions)
        ]
        check = "  :: d_step { c_expr { VIOLATED } -> assert(false) }"
        return ["active proctype model() {", "  if", *starts, "  fi;", "end:", "  do", check, *steps, "  od", "}"]


def _code(text: str) -> str:
    return f"c_code {{\n{text.rstrip()}\n}}"


def _function(head: str, lines: Sequence[str]) -> str:
    """Return a C function. A long one is split, with digraphs for its outer braces, which Spin would pair up."""
    whole = "\n".join([f"static {head} {{", *(f"  {line}" for line in lines), "}"])
    if len(whole) <= _LONGEST:
        return _code(whole)
    pieces, size = [[f"static {head} <%"]], 0
    for line in [*(f"  {line}" for line in lines), "%>"]:
        if size + len(line) > _LONGEST:
            pieces.append([])
            size = 0
        pieces[-1].append(line)
        size += len(line) + 1
    return "\n".join(_code("\n".join(piece)) for piece in pieces)


def _name(path: str, taken: set[str]) -> str:
    """Return a unique name for a cell; the prefix keeps it apart from the words of Promela and C."""
    stem = name = "v_" + re.sub(r"[^A-Za-z0-9]+", "_", path).strip("_")
    number = 2
    while name in taken:
        name, number = f"{stem}_{number}", number + 1
    taken.add(name)
    return name


def _comment(text: str) -> str:
    """Return a text without comment marks and line breaks, for use in a C comment."""
    return text.replace("*/", "* /").replace("/*", "/ *").replace("\n", " ")


# Expressions in C: one line a node, in 64-bit integers, with the evaluator's meaning.


C_FUNCTIONS = """\
typedef long long number;
static number min_(number a, number b) { return a < b ? a : b; }
static number max_(number a, number b) { return a > b ? a : b; }
static number div_(number a, number n) { return a >= 0 ? a / n : -((n - 1 - a) / n); }
static number mod_(number a, number n) { return a - n * div_(a, n); }
static number ite_(number c, number a, number b) { return c ? a : b; }
static number bit_(number i) { return i >= 0 && i <= 62 ? 1LL << i : 0; }
static number test_(number m, number i) { return i >= 0 && i <= 62 ? (m >> i) & 1 : 0; }
static number count_(number m) { return __builtin_popcountll(m); }
"""
"""Operations that C lacks or defines differently."""


def _joined(operator: str) -> Callable[..., str]:
    return lambda *texts: f"({f' {operator} '.join(texts)})"


def _called(function: str) -> Callable[..., str]:
    return lambda *texts: f"{function}({', '.join(texts)})"


def _selected(index: str, *elements: str) -> str:
    """Return a chain of comparisons for the element at an index, 0 outside."""
    text = "0"
    for place in range(len(elements) - 1, -1, -1):
        text = f"ite_(({index} == {place}), {elements[place]}, {text})"
    return text


C_TEXT: dict[Op, Callable[..., str]] = {
    Op.ADD: _joined("+"),
    Op.SUB: _joined("-"),
    Op.MUL: _joined("*"),
    Op.DIV: _called("div_"),
    Op.MOD: _called("mod_"),
    Op.MIN: _called("min_"),
    Op.MAX: _called("max_"),
    Op.EQ: _joined("=="),
    Op.LT: _joined("<"),
    Op.LE: _joined("<="),
    Op.AND: _joined("&&"),
    Op.OR: _joined("||"),
    Op.NOT: lambda a: f"(!{a})",
    Op.ITE: _called("ite_"),
    Op.SELECT: _selected,
    Op.BITAND: _joined("&"),
    Op.BITOR: _joined("|"),
    Op.BITDIFF: lambda a, b: f"({a} & ~{b})",
    Op.BIT: _called("bit_"),
    Op.TEST: _called("test_"),
    Op.COUNT: _called("count_"),
}
"""The C text of every operation but CONST and CELL, given the texts of its arguments."""

assert set(C_TEXT) == GROUND - {Op.CONST, Op.CELL}


class CText:
    """The body of a C function that reads one state; each node is computed once, in an order that its use decides.

    Args:
        variables: the C expression of each cell, by the cell's number.

    Attributes:
        lines: the lines so far.
    """

    def __init__(self, variables: Mapping[int, str]) -> None:
        self._variables = variables
        self._texts: dict[Node, str] = {}
        self._names = 0
        self.lines: list[str] = []

    def value(self, node: Node) -> str:
        """Add the lines that compute a node, and return the expression of its value."""
        stack = [node]  # not `fold`, whose order is that in which nodes were made: a text must not depend on that
        while stack:
            needed = stack[-1]
            missing = [arg for arg in needed.args if arg not in self._texts]
            if needed in self._texts or not missing:
                stack.pop()
            if needed not in self._texts and not missing:
                self._texts[needed] = self._written(needed, [self._texts[arg] for arg in needed.args])
            stack += reversed(missing)
        return self._texts[node]

    def require(self, conditions: Sequence[Node], otherwise: str) -> None:
        """Add a test for each condition in order; the first that is false runs `otherwise`."""
        for condition in conditions:
            text = self.value(condition)
            self.lines.append(f"if (!{text}) {otherwise}")

    def _written(self, node: Node, args: list[str]) -> str:
        if node.op is Op.CONST:
            value = int(node.value)
            return str(value) if abs(value) < 2**31 else f"{value}LL"
        self._names += 1
        name = f"n{self._names}"
        text = self._variables[node.cell] if node.op is Op.CELL else C_TEXT[node.op](*args)
        self.lines.append(f"number {name} = {text};")
        return name
