"""Where the two sides of a comparison come from: a small reader of Python that never runs it.

It follows values through assignments, loops, local functions and parametrised tests, and keeps, for every
`assert`, `assert_allclose`, law and refusal, what went into each side: functions of this package, functions
of other libraries, and steps that were written out on the spot.
"""

import ast
from dataclasses import dataclass, field, replace

PACKAGE = "rkhs_notes"
NOTHING = frozenset()
SAME = {"allclose", "isclose", "array_equal", "equals", "array_equiv", "approx"}
KEEPS = {"abs", "max", "min", "norm", "sum", "mean", "all", "any", "sqrt", "ravel", "item", "float", "bool"}
REFUSES = {"raises", "expect_fail"}
NO_VALUE = {
    "isinstance",
    "issubclass",
    "type",
    "hasattr",
    "callable",
    "id",
    "len",
    "repr",
    "str",
    "dir",
    "help",
}
LOOKS = {"shape", "ndim", "dtype", "size", "__name__", "__doc__", "__module__"}


@dataclass(frozen=True)
class Flow:
    "What went into a value"

    ours: frozenset = NOTHING  # names of this package
    theirs: frozenset = NOTHING  # dotted names of other libraries
    steps: frozenset = NOTHING  # (formula, loop or a local function, where): written out on the spot
    pairs: frozenset = NOTHING  # comparisons it is made of
    parts: tuple = ()  # of a tuple, for unpacking

    def __or__(self, other):
        return union([self, other])


EMPTY = Flow()


@dataclass(frozen=True)
class Pair:
    "A comparison: equal, bound (one side is at most the other), law, holds or refused"

    how: str
    left: Flow
    right: Flow = EMPTY


@dataclass(frozen=True)
class Local:
    "A function written in the file that is read"

    node: ast.AST
    env: dict = field(compare=False, hash=False)


@dataclass(frozen=True)
class Named:
    "A module or something in it: scipy.linalg, rkhs_notes.ridge"

    dotted: str

    def flow(self):
        root, _, rest = self.dotted.partition(".")
        if root != PACKAGE:
            return Flow(theirs=frozenset([self.dotted]))
        return Flow(ours=frozenset(rest.split(".")[-1:]) if rest else NOTHING)


def union(flows):
    flows = [flow for flow in flows if flow is not EMPTY]
    if len(flows) < 2:
        return flows[0] if flows else EMPTY
    fields = ([f.ours for f in flows], [f.theirs for f in flows],
              [f.steps for f in flows], [f.pairs for f in flows])  # fmt: skip
    return Flow(*(NOTHING.union(*sets) for sets in fields))


def without_pairs(flow):
    return Flow(flow.ours, flow.theirs, flow.steps) if flow.pairs or flow.parts else flow


class Reader:
    "Reads one file; `found` lists (where, Pair) of every comparison that a failing value would break"

    def __init__(self, file="", sibling=lambda module: {}, makes=None):
        self.file, self.sibling, self.makes = file, sibling, makes or {}
        self.exports = False  # what is defined belongs to the package
        self.found, self.where, self.stack = [], "", []

    # values

    def resolve(self, node, env):
        "What a name or a dotted name stands for"
        if isinstance(node, ast.Name):
            return env.get(node.id, EMPTY)
        if isinstance(node, ast.Attribute) and isinstance(base := self.resolve(node.value, env), Named):
            return Named(f"{base.dotted}.{node.attr}")
        return None

    def named(self, target):
        "The flow of something imported, with the classes that a function of ours returns"
        flow = target.flow()
        return replace(flow, ours=flow.ours.union(*(self.makes.get(name, ()) for name in flow.ours)))

    def value(self, node, env):
        "The flow of an expression"
        method = getattr(self, f"value_{type(node).__name__}", None)
        if method:
            return method(node, env)
        return union(self.value(child, env) for child in ast.iter_child_nodes(node) if is_value(child))

    def value_Name(self, node, env):
        target = self.resolve(node, env)
        if isinstance(target, Local):
            return self.inline(target, [], {})
        return self.named(target) if isinstance(target, Named) else target

    def value_Attribute(self, node, env):
        if node.attr in LOOKS:
            return EMPTY
        target = self.resolve(node, env)
        if isinstance(target, Named):
            return self.named(target)
        return self.value(node.value, env)

    def value_Tuple(self, node, env):
        parts = tuple(self.value(item, env) for item in node.elts)
        return replace(union(parts), parts=parts)

    value_List = value_Tuple

    def value_Subscript(self, node, env):
        base, index = self.value(node.value, env), node.slice
        if base.parts and isinstance(index, ast.Constant) and isinstance(index.value, int):
            if -len(base.parts) <= index.value < len(base.parts):
                return base.parts[index.value]
        return replace(base, parts=()) | without_pairs(self.value(index, env))

    def value_BinOp(self, node, env):
        left, right = self.value(node.left, env), self.value(node.right, env)
        flow = left | right | self.step("formula", node)
        if isinstance(node.op, ast.Sub):
            return replace(flow, pairs=frozenset([Pair("equal", without_pairs(left), without_pairs(right))]))
        return flow

    def value_UnaryOp(self, node, env):
        flow = self.value(node.operand, env)
        if not isinstance(node.op, ast.Not):
            return flow
        return replace(flow, pairs=frozenset(replace(pair, how="bound") for pair in flow.pairs), parts=())

    def value_Compare(self, node, env):
        nodes = (node.left, *node.comparators)
        sides = [self.value(side, env) for side in nodes]
        pairs = set()
        for op, left, right in zip(node.ops, sides, sides[1:], strict=False):
            how = "equal" if isinstance(op, (ast.Eq, ast.Is, ast.In)) else "bound"
            pairs.add(Pair(how, without_pairs(left), without_pairs(right)))
            if ast.dump(nodes[0]) == ast.dump(nodes[-1]):
                return without_pairs(union(sides))  # a thing compared with itself
            small = left if isinstance(op, (ast.Lt, ast.LtE)) else right
            if isinstance(op, (ast.Lt, ast.LtE, ast.Gt, ast.GtE, ast.Eq)):
                pairs |= small.pairs
            if isinstance(op, ast.Eq):
                pairs |= left.pairs
        return replace(union(sides), pairs=frozenset(pairs), parts=())

    def value_Lambda(self, node, env):
        return self.value(node.body, {**env, **{a.arg: EMPTY for a in arguments(node)}})

    def value_NamedExpr(self, node, env):
        env[node.target.id] = flow = self.value(node.value, env)
        return flow

    def comprehension(self, node, env):
        inner = dict(env)
        for loop in node.generators:
            self.bind_each(loop.target, loop.iter, inner)
        elements = [node.key, node.value] if isinstance(node, ast.DictComp) else [node.elt]
        return union(self.value(item, inner) for item in elements) | self.step("loop", node)

    value_ListComp = value_SetComp = value_GeneratorExp = value_DictComp = comprehension

    def value_Call(self, node, env):
        name = getattr(node.func, "attr", getattr(node.func, "id", ""))
        if name in NO_VALUE and isinstance(node.func, ast.Name):
            return EMPTY
        args = [self.value(getattr(a, "value", a) if isinstance(a, ast.Starred) else a, env)
                for a in node.args]  # fmt: skip
        keywords = {word.arg: self.value(word.value, env) for word in node.keywords}
        target = self.resolve(node.func, env)
        if isinstance(target, Local):
            return self.inline(target, args, keywords)
        if isinstance(target, Named):
            name = target.dotted.split(".")[-1]
        given = union([*args, *keywords.values()])
        if isinstance(target, Named):
            flow = self.named(target) | given
        else:
            flow = self.value(node.func, env) | given
        if name in SAME and len(args) + isinstance(node.func, ast.Attribute) > 1 and name != "approx":
            two = args[:2] if len(args) > 1 else [self.value(node.func.value, env), args[0]]
            return replace(flow, pairs=frozenset([Pair("equal", *map(without_pairs, two))]), parts=())
        if name.startswith("assert_") and len(args) > 1 and ast.dump(node.args[0]) != ast.dump(node.args[1]):
            how = "bound" if "less" in name else "equal"
            self.record(Pair(how, without_pairs(args[0]), without_pairs(args[1])))
        elif name.startswith("check_") and isinstance(target, Named) and target.dotted.startswith(PACKAGE):
            self.record(Pair("law", without_pairs(flow), Flow(ours=frozenset([name]))))
        return flow if name in KEEPS else without_pairs(flow)

    def step(self, what, node):
        return Flow(steps=frozenset([(what, (self.file, node.lineno, node.col_offset))]))

    def inline(self, function, args, keywords):
        "The flow of a call of a local function: its body is read with these arguments"
        node = function.node
        if node in self.stack or len(self.stack) > 6:
            return union([*args, *keywords.values()])
        names = [a.arg for a in arguments(node)]
        env = {**function.env, **dict.fromkeys(names, EMPTY)}
        spec = node.args
        for arg, default in zip(reversed(spec.args), reversed(spec.defaults), strict=False):
            env[arg.arg] = self.value(default, function.env)
        positional = [a.arg for a in (*spec.posonlyargs, *spec.args)]
        env |= dict(zip(positional, args, strict=False)) | {k: v for k, v in keywords.items() if k in names}
        if spec.vararg:
            env[spec.vararg.arg] = union(args[len(positional) :])
        self.stack.append(node)
        short = isinstance(node, ast.Lambda)
        returned = [self.value(node.body, env)] if short else self.run(node.body, env)
        self.stack.pop()
        parts = [flow.parts for flow in returned]
        returned = [*returned, self.decorated(function)]
        flow = union(returned) | (EMPTY if short else self.step(f"`{node.name}`", node))
        return replace(flow, parts=parts[0]) if len(parts) == 1 else flow

    def decorated(self, function):
        "What a local function's decorators add, pytest's apart"
        marks = getattr(function.node, "decorator_list", [])
        flow = union(self.value(mark, function.env) for mark in marks)
        return Flow(ours=flow.ours)

    # statements

    def record(self, pair):
        self.found.append((self.where, pair))

    def bind(self, target, flow, env):
        "Assignment: flow to the names in target"
        if isinstance(target, (ast.Tuple, ast.List)):
            known = getattr(flow, "parts", ())
            parts = known if len(known) == len(target.elts) else [flow] * len(target.elts)
            for item, part in zip(target.elts, parts, strict=True):
                self.bind(item, part, env)
        elif isinstance(target, ast.Starred):
            self.bind(target.value, flow, env)
        elif isinstance(target, ast.Name):
            env[target.id] = flow
        elif not isinstance(flow, Flow):
            pass
        elif isinstance(target, (ast.Subscript, ast.Attribute)) and isinstance(
            root := rooted(target), ast.Name
        ):
            if isinstance(old := env.get(root.id), Flow):
                env[root.id] = old | flow

    def bind_each(self, target, iterable, env):
        "A loop's variables; zip and enumerate hand out one by one"
        call = getattr(getattr(iterable, "func", None), "id", "")
        if call == "enumerate" and isinstance(target, ast.Tuple) and len(target.elts) == 2:
            self.bind(target.elts[0], EMPTY, env)
            return self.bind_each(target.elts[1], iterable.args[0], env)
        if call == "zip" and isinstance(target, ast.Tuple) and len(target.elts) == len(iterable.args):
            for item, source in zip(target.elts, iterable.args, strict=True):
                self.bind_each(item, source, env)
            return None
        flow = self.value(iterable, env)
        return self.bind(target, columns(flow), env)

    def run(self, body, env):
        "Reads statements; the flows of what they return"
        returned = []
        for node in body:
            method = getattr(self, f"run_{type(node).__name__}", None)
            if method:
                returned += method(node, env) or []
            else:
                for child in ast.iter_child_nodes(node):
                    if is_value(child):
                        self.value(child, env)
                for name in ("body", "orelse", "finalbody"):
                    returned += self.run(getattr(node, name, []), env)
                for handler in getattr(node, "handlers", []):
                    returned += self.run(handler.body, env)
        return returned

    def run_Import(self, node, env):
        for alias in node.names:
            full = alias.name if alias.asname else alias.name.split(".")[0]
            env[alias.asname or full] = Named(full)

    def run_ImportFrom(self, node, env):
        module = node.module or ""
        if node.level:
            module = f"{PACKAGE}.{module}".rstrip(".")
        near = self.sibling(module)
        for alias in node.names:
            there = Named(f"{module}.{alias.name}")
            env[alias.asname or alias.name] = near.get(alias.name, there) if near else there

    def run_FunctionDef(self, node, env):
        env[node.name] = Named(f"{PACKAGE}.{node.name}") if self.exports else Local(node, env)

    def run_ClassDef(self, node, env):
        if self.exports:
            env[node.name] = Named(f"{PACKAGE}.{node.name}")
            return
        bases = union(self.value(base, env) for base in node.bases)
        inner = dict(env)
        flows = self.run(node.body, inner)
        methods = [inner[f.name] for f in node.body if isinstance(f, ast.FunctionDef) and f.name in inner]
        bodies = [self.inline(m, [], {}) for m in methods if isinstance(m, Local) and not is_test(m.node)]
        env[node.name] = union([bases, *flows, *bodies])

    def run_Assign(self, node, env):
        if isinstance(node.value, ast.Lambda) and isinstance(node.targets[0], ast.Name):
            env[node.targets[0].id] = Local(node.value, env)
            return
        known = self.resolve(node.value, env)
        flow = known if isinstance(known, (Local, Named)) else self.value(node.value, env)
        for target in node.targets:
            self.bind(target, flow, env)

    def run_AnnAssign(self, node, env):
        if node.value:
            self.bind(node.target, self.value(node.value, env), env)

    def run_AugAssign(self, node, env):
        flow = self.value(node.target, env) | self.value(node.value, env) | self.step("formula", node)
        self.bind(node.target, without_pairs(flow), env)

    def run_Return(self, node, env):
        return [self.value(node.value, env)] if node.value else []

    def run_For(self, node, env):
        self.bind_each(node.target, node.iter, env)
        before = dict(env)
        returned = self.run([*node.body, *node.orelse], env)
        for name in {name for name in env if env[name] is not before.get(name)}:
            if isinstance(env[name], Flow):
                env[name] = replace(env[name] | self.step("loop", node), parts=env[name].parts)
        return returned

    def run_With(self, node, env):
        contexts = [item.context_expr for item in node.items]
        calls = [getattr(c, "func", None) for c in contexts]
        flows = [self.value(context, env) for context in contexts]
        for item, flow in zip(node.items, flows, strict=True):
            if item.optional_vars:
                self.bind(item.optional_vars, flow, env)
        if not any(getattr(f, "attr", getattr(f, "id", "")) in REFUSES for f in calls):
            return self.run(node.body, env)
        outside, self.found = self.found, []
        before = dict(env)
        returned = self.run(node.body, env)
        tried = [self.value(s.value, env) for s in node.body if isinstance(s, (ast.Expr, ast.Assign))]
        changed = [v for name, v in env.items() if v is not before.get(name) and isinstance(v, Flow)]
        self.found = outside
        self.record(Pair("refused", without_pairs(union([*flows, *tried, *changed, *returned]))))
        return returned

    def run_Assert(self, node, env):
        if self.narrows(node.test, env):
            return
        flow = self.value(node.test, env)
        truth = isinstance(node.test, (ast.Call, ast.BoolOp, ast.UnaryOp, ast.Name))
        for pair in flow.pairs or [Pair("holds", without_pairs(flow))] * truth:
            self.record(pair)

    def narrows(self, test, env):
        "assert isinstance(x, A): what is compared below is an A"
        if not isinstance(test, ast.Call) or getattr(test.func, "id", "") != "isinstance":
            return False
        if isinstance(test.args[0], ast.Name):
            kind = without_pairs(self.value(test.args[1], env))
            env[test.args[0].id] = self.value(test.args[0], env) | kind
        return True

    def run_Expr(self, node, env):
        self.value(node.value, env)

    # a test

    def test(self, node, env):
        "Reads a test with the values that it is parametrised over"
        inner = dict(env)
        for a in arguments(node):
            fixture = env.get(a.arg)
            inner[a.arg] = self.inline(fixture, [], {}) if isinstance(fixture, Local) else EMPTY
        for mark in node.decorator_list:
            if isinstance(mark, ast.Call) and getattr(mark.func, "attr", "") == "parametrize":
                names = ast.literal_eval(mark.args[0])
                names = [n.strip() for n in names.split(",")] if isinstance(names, str) else list(names)
                flow = columns(self.value(mark.args[1], env))
                parts = flow.parts if len(flow.parts) == len(names) > 1 else [flow] * len(names)
                inner |= dict(zip(names, parts, strict=True))
        self.run(node.body, inner)


def arguments(node):
    spec = node.args
    return [*spec.posonlyargs, *spec.args, *spec.kwonlyargs, *filter(None, [spec.vararg, spec.kwarg])]


def rooted(node):
    "a of a.b[c].d"
    while isinstance(node, (ast.Subscript, ast.Attribute)):
        node = node.value
    return node


def columns(flow):
    "Of a list of tuples, the union of each column"
    widths = {len(part.parts) for part in flow.parts}
    if len(widths) == 1 and widths != {0}:
        parts = tuple(map(union, zip(*(part.parts for part in flow.parts), strict=True)))
        return replace(flow, parts=parts)
    return replace(flow, parts=())


def is_value(node):
    return isinstance(node, (ast.expr, ast.keyword, ast.FormattedValue, ast.Starred))


def is_test(node):
    return getattr(node, "name", "").startswith("test_")
