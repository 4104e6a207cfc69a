"""Faults that a machine makes from the syntax tree of a module: what could stand where."""

import ast
import copy
from typing import NamedTuple

COMPARED = {
    ast.Lt: [ast.LtE, ast.GtE],
    ast.LtE: [ast.Lt, ast.Gt],
    ast.Gt: [ast.GtE, ast.LtE],
    ast.GtE: [ast.Gt, ast.Lt],
    ast.Eq: [ast.NotEq],
    ast.NotEq: [ast.Eq],
    ast.Is: [ast.IsNot],
    ast.IsNot: [ast.Is],
    ast.In: [ast.NotIn],
    ast.NotIn: [ast.In],
}
COMPUTED = {ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.Div, ast.Div: ast.Mult}
COMPUTED |= {ast.FloorDiv: ast.Div, ast.Pow: ast.Mult}
NAMES = "min max, minimum maximum, argmin argmax, any all, floor ceil, float64 float32"
NAMES = {a: b for pair in NAMES.split(", ") for a, b in (pair.split(), pair.split()[::-1])}
SYMMETRIC = "add multiply max min maximum minimum hypot isinstance allclose isclose".split()
SILENT = ["doc", "strict"]  # arguments that change no answer: a text, and a guard of our own loops
AXES = {"0": "1", "1": "0", "-1": "-2", "-2": "-1"}


class Fault(NamedTuple):
    owner: str  # the outermost function or class
    statement: int  # the line where the statement begins
    line: int
    operator: str
    old: str
    new: str
    span: tuple  # line, column, last line, its column, as ast has them


def like(node, **fields):
    "A copy of a node with other fields"
    node = copy.copy(node)
    vars(node).update(fields)
    return node


def of_constant(value):
    if isinstance(value, bool):
        yield "truth", ast.Constant(not value)
    elif isinstance(value, int):
        yield "constant", ast.Constant(value + 1)
        if value > 1:
            yield "constant", ast.Constant(1000 * value)
    elif isinstance(value, float):
        yield from (("constant", ast.Constant(value * c or 1.0)) for c in (1000, 0.001))


def of_call(node):
    for word in node.keywords:
        if word.arg and word.arg not in SILENT:
            yield "keyword", like(node, keywords=[w for w in node.keywords if w is not word])
    first, name = node.args[:2], ast.unparse(node.func).split(".")[-1]
    alike = len(first) == 2 and type(first[0]) is type(first[1])
    if alike and isinstance(first[0], (ast.Name, ast.Attribute)) and name not in SYMMETRIC:
        yield "swapped", like(node, args=[*first[::-1], *node.args[2:]])


def of_expression(node):
    "(operator, another expression), for each that could stand in its place"
    match node:
        case ast.Compare(ops=[op]):
            yield from (("comparison", like(node, ops=[other()])) for other in COMPARED[type(op)])
        case ast.BinOp(op=op) if type(op) in COMPUTED:
            yield "arithmetic", like(node, op=COMPUTED[type(op)]())
        case ast.UnaryOp(op=ast.USub() | ast.Not(), operand=operand):
            yield "truth" if isinstance(node.op, ast.Not) else "arithmetic", operand
        case ast.BoolOp(op=op):
            yield "truth", like(node, op=ast.Or() if isinstance(op, ast.And) else ast.And())
        case ast.Constant(value=value):
            yield from of_constant(value)
        case ast.Name(id=name, ctx=ast.Load()) if name in NAMES:
            yield "name", like(node, id=NAMES[name])
        case ast.Attribute(attr=name, ctx=ast.Load()) if name in NAMES:
            yield "name", like(node, attr=NAMES[name])
        case ast.Call():
            yield from of_call(node)


def of_statement(node, bound):
    "The operator that takes a statement away, if all names stay bound"
    match node:
        case ast.Expr(value=ast.Call()) | ast.AugAssign():
            return "statement"
        case ast.Assign(targets=[ast.Attribute() | ast.Subscript()]):
            return "statement"
        case ast.Assign(targets=[ast.Name(id=name)]) if name in bound:
            return "statement"
        case ast.Raise():
            return "exception"


def words(lines, span):
    "What stands at a span of some lines of bytes"
    first, start, last, end = span
    if first == last:
        return lines[first - 1][start:end].decode()
    return b" ".join(
        [lines[first - 1][start:], *lines[first : last - 1], lines[last - 1][:end]]
    ).decode()


class Finder(ast.NodeVisitor):
    "Walks through a module and gathers its faults"

    def __init__(self, source):
        self.lines, self.found = source.encode().splitlines(), []
        self.owner, self.statement, self.bound = "", 0, set()
        self.visit(ast.parse(source))

    def add(self, operator, node, new):
        span = node.lineno, node.col_offset, node.end_lineno, node.end_col_offset
        old = words(self.lines, span)
        self.found.append(Fault(self.owner, self.statement, node.lineno, operator, old, new, span))

    def visit(self, node):
        if isinstance(node, ast.stmt):
            self.statement = node.lineno
            if operator := of_statement(node, self.bound):
                self.add(operator, node, "pass")
        if isinstance(node, ast.expr):
            for operator, other in of_expression(node):
                self.add(operator, node, f"({ast.unparse(other)})")
        if isinstance(node, (ast.If, ast.IfExp)):
            for always in ("True", "False"):
                self.add("branch", node.test, always)
        super().visit(node)

    def visit_keyword(self, node):
        text = ast.unparse(node.value)
        if node.arg == "axis" and text in AXES:
            self.add("axis", node.value, AXES[text])
        if node.arg not in SILENT:
            self.generic_visit(node)

    def visit_FunctionDef(self, node):
        outer = self.owner, self.bound
        self.owner = self.owner or node.name
        self.bound = {a.arg for a in ast.walk(node.args) if isinstance(a, ast.arg)}
        for part in (*node.decorator_list, *node.args.defaults, *node.args.kw_defaults, *node.body):
            if part is not None:  # an argument without a default
                self.visit(part)
        self.owner, self.bound = outer

    def visit_ClassDef(self, node):
        outer, self.owner = self.owner, self.owner or node.name
        self.generic_visit(node)
        self.owner = outer

    def visit_Assign(self, node):
        self.generic_visit(node)
        self.bound |= {n.id for n in ast.walk(node) if isinstance(n, ast.Name)}

    def visit_AnnAssign(self, node):
        if node.value:  # what an annotation says, nobody runs
            self.visit(node.value)

    def visit_JoinedStr(self, node):
        "Python 3.11 does not know where the parts of a formatted text stand"


def planted(source, span, new):
    "The source with the fault"
    lines = source.encode().splitlines(keepends=True)
    first, start, last, end = span
    lines[first - 1 : last] = [lines[first - 1][:start] + new.encode() + lines[last - 1][end:]]
    return b"".join(lines).decode()
