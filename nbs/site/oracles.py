"""The page of second routes: what each public name is compared with, and where that runs.

Nothing here is kept by hand. A name has a second route where a test or a cell compares two sides, the name
went into one of them and not into the other (flow.py follows them), and what went only into the other is
something of its own: another library, quadrature, a loop or a formula written out on the spot, a known
number, another function of the package. Failing that, a law that characterises it, or a refusal.
"""

import ast
import re
from collections import Counter, defaultdict
from dataclasses import dataclass
from functools import cache

from cells import NBS, ROOT, read, split, switched_off
from flow import PACKAGE, Local, Reader, is_test
from statements import parsed

# what a name of another library begins with, and the route it is: the first that fits
LIBRARIES = {
    "mpmath": "mpmath",
    "fractions": "exact fractions",
    "scipy.integrate": "quadrature",
    "numpy.polynomial": "quadrature",
    "numpy.trapezoid": "quadrature",
    "scipy.sparse.linalg": "SciPy",
    "scipy.sparse.csgraph": "SciPy",
    "scipy.sparse": None,  # containers, like those below
    "scipy": "SciPy",
    "sklearn.datasets": None,
    "sklearn": "scikit-learn",
    "networkx": "networkx",
    "pandas": "pandas",
    "polars": "polars",
    "dask": "Dask",
    "torch": "PyTorch",
    "jax": "JAX",
    "numpy.linalg": "NumPy",
    "numpy.fft": "NumPy",
    "itertools": "brute force",
    "hashlib": "hash",
}
ORDER = [
    *dict.fromkeys(filter(None, LIBRARIES.values())),
    "brute force",
    "by hand",
    "known value",
    "another route",
    "law",
    "bound",
    "refused",
]
CROWD = 3  # other public names on the same side of a comparison, at most, if it shall speak for one of them
SHAPES = set(
    "array asarray zeros ones empty arange linspace c_ r_ newaxis reshape concatenate stack vstack hstack eye"
    " full float64 float32 ndarray inf nan pi testing random errstate copy repeat tile meshgrid column_stack"
    " zeros_like ones_like full_like ascontiguousarray asfortranarray atleast_2d isfinite isnan".split()
)
NUMERIC = {"numpy", "math", "cmath", "collections", "statistics"}


@dataclass(frozen=True)
class Route:
    "A second route of one name"

    kind: str  # of ORDER
    by: tuple  # names on the other side
    where: tuple  # (file, test or heading, anchor)
    company: frozenset = frozenset()  # other public names on the same side

    def key(self):
        return (len(self.company) > CROWD, ORDER.index(self.kind), len(self.company), self.where)

    def settles(self):
        "Is it a second route, and of few names at once? Bounds alone and refusals alone are none"
        return self.kind in ORDER[: ORDER.index("bound")] and len(self.company) <= CROWD


@cache
def modules():
    "{module: its syntax} of the package, without answer keys"
    files = sorted((ROOT / PACKAGE).glob("[!_]*.py"))
    return {f.stem: ast.parse(f.read_text("utf-8")) for f in files if not f.stem.startswith("answers_")}


@cache
def definitions(tree):
    "{name: node} of the functions and classes of a module"
    return {n.name: n for n in tree.body if isinstance(n, (ast.FunctionDef, ast.ClassDef))}


def exported(tree):
    "The names in __all__"
    lists = [n.value for n in tree.body
             if isinstance(n, ast.Assign) and getattr(n.targets[0], "id", "") == "__all__"]  # fmt: skip
    return set(ast.literal_eval(lists[0])) if lists else set()


@cache
def public():
    "{name: module} of all functions and classes that readers may call"
    return {
        name: module
        for module, tree in modules().items()
        for name in definitions(tree)
        if name in exported(tree)
    }


@cache
def makes():
    "{function or class: public classes of which it gives an object, itself or by what it returns}"
    nodes = {name: node for tree in modules().values() for name, node in definitions(tree).items()}
    said = {name: returned(node) if isinstance(node, ast.FunctionDef) else set(bases(node))
            for name, node in nodes.items()}  # fmt: skip
    classes = {name for name in public() if isinstance(nodes[name], ast.ClassDef)}
    found = {}
    for name, now in said.items():
        while not now >= (
            more := set().union(*(said.get(n, ()) for n in now - public().keys() | now & classes))
        ):
            now = now | more
        found[name] = now & classes
    return found


def bases(node):
    return [getattr(base, "id", "") for base in getattr(node, "bases", ())]


def returned(node):
    "Names in a function's annotation of what it returns, and those that its return statements call"
    values = [n.value for n in ast.walk(node) if isinstance(n, ast.Return) and n.value]
    called = {getattr(c.func, "id", "") for v in values for c in ast.walk(v) if isinstance(c, ast.Call)}
    return called | {n.id for n in ast.walk(node.returns or ast.Pass()) if isinstance(n, ast.Name)}


# what is read


@cache
def module_reader(file):
    "(reader, what its names stand for) of a Python file under tests/"
    reader, env = Reader(file, sibling, makes()), {}
    reader.run(ast.parse((ROOT / "tests" / file).read_text("utf-8")).body, env)
    return reader, env


def sibling(module):
    "The names of a file beside the tests, if that is what is imported"
    file = f"{module}.py"
    return module_reader(file)[1] if (ROOT / "tests" / file).exists() and module != "conftest" else {}


def compared_in_tests():
    "((file, test), pair) of every comparison in a test"
    for path in sorted((ROOT / "tests").glob("test_*.py")):
        reader, env = module_reader(path.name)
        for node in [o.node for o in env.values() if isinstance(o, Local)]:
            if is_test(node):
                reader.found, reader.where = [], (path.name, node.name)
                reader.test(node, env)
                yield from reader.found


@cache
def marked():
    """[(name, route, what is wrong with it)] of the marks @pytest.mark.oracle(name, route)

    For what works by its effects, which no reader of values sees. The test must call the name and compare.
    """
    found = []
    for path in sorted((ROOT / "tests").glob("test_*.py")):
        _, env = module_reader(path.name)
        for node in [o.node for o in env.values() if isinstance(o, Local) and is_test(o.node)]:
            for mark in node.decorator_list:
                if isinstance(mark, ast.Call) and getattr(mark.func, "attr", "") == "oracle":
                    name, kind = map(ast.literal_eval, mark.args)
                    route = Route(kind, (), (path.name, node.name))
                    found.append((name, route, refusal(name, kind, node)))
    return found


def refusal(name, kind, node):
    "Why a test does not deserve its mark, or nothing"
    nodes = list(ast.walk(node))
    calls = {getattr(n.func, "attr", getattr(n.func, "id", "")) for n in nodes if isinstance(n, ast.Call)}
    if name not in calls:
        return f"{node.name} is marked as an oracle of {name} and does not call it"
    if kind not in ORDER[: ORDER.index("bound")]:
        return f"{node.name} is marked with the route {kind!r}; routes are {', '.join(ORDER)}"
    if not any(isinstance(n, ast.Compare) for n in nodes) and not any(c.startswith("assert_") for c in calls):
        return f"{node.name} is marked as an oracle of {name} and compares nothing"
    return ""


def compared_in_notebooks(names):
    "((page, heading), pair) of every comparison in a cell, of the notebooks that mention one of the names"
    mention = re.compile(rf"\b({'|'.join(names)})\b")
    for path in sorted(NBS.glob("[!V]*.ipynb")) if names else []:
        cells = [cell for cell in read(path).cells if cell.cell_type == "code"]
        if not any(mention.search(c.source) for c in cells if "export" not in split(c.source)[0]):
            continue
        reader, env, heading = Reader(path.stem, makes=makes()), {}, path.stem
        for cell in read(path).cells:
            if cell.cell_type == "markdown":
                for match in re.finditer(r"(?m)^#+ (.+)$", cell.source):
                    heading = match[1]
            elif cell.cell_type == "code" and not switched_off(cell):
                reader.where = (path.stem, heading)
                reader.exports = "export" in split(cell.source)[0]
                reader.run(parsed(cell).body, env)
        yield from reader.found


# what it means


def outside(dotted):
    "(route, short name) of something of another library; (None, '') for containers and data"
    for prefix, route in LIBRARIES.items():
        if dotted == prefix or dotted.startswith(prefix + "."):
            return route, dotted if route else ""
    root, *rest = dotted.split(".")
    return ("by hand", dotted) if root in NUMERIC and rest and rest[0] not in SHAPES else (None, "")


def kind_of(left, right):
    "(kind, names) of what went into right and not into left"
    theirs = [outside(name) for name in sorted(right.theirs - left.theirs)]
    routes = sorted({route for route, _ in theirs if route and route != "by hand"}, key=ORDER.index)
    if routes:
        return routes[0], tuple(name for route, name in theirs if route == routes[0])[:2]
    steps = right.steps - left.steps
    helpers = tuple(sorted({what for what, _ in steps if what.startswith("`")}))
    if any(what == "loop" for what, _ in steps) and not (right.ours - left.ours):
        return "brute force", helpers
    if (steps or theirs and theirs[0][0]) and not (right.ours - left.ours):
        return "by hand", helpers
    if right.ours - left.ours:
        return "another route", tuple(f"`{name}`" for name in sorted(right.ours - left.ours))[:3]
    if not (right.ours | right.theirs) and not right.steps:
        return "known value", ()
    return "law", ()


def company(names, name):
    "Other public names among these, without what returns its objects, or is returned by others"
    made = set().union(*(makes().get(maker, ()) for maker in names))
    makers = {maker for maker in names if name in makes().get(maker, ())}
    return frozenset(names & public().keys() - made - makers - {name})


def routes_of(where, pair):
    "(name, route) of every public name that this comparison says something about"
    left, right = pair.left, pair.right
    if pair.how == "law":
        for law in right.ours & public().keys():
            yield law, Route("law", (), where)
    for one, other in [(left, right), (right, left)] if pair.how == "equal" else []:
        apart = one.ours - other.ours
        for name in apart & public().keys():
            yield name, Route(*kind_of(one, other), where, company(apart, name))
    kinds = {"equal": "law", "law": "law", "holds": "law", "bound": "bound", "refused": "refused"}
    both = left.ours | (right.ours if pair.how != "law" else frozenset())
    by = tuple(f"`{law}`" for law in right.ours) if pair.how == "law" else ()
    for name in (both - right.ours if by else both) & public().keys():
        yield name, Route(kinds[pair.how], by, where, company(both - set(right.ours if by else ()), name))


def gathered(compared):
    "{name: its routes} from comparisons"
    found = defaultdict(set)
    for where, pair in compared:
        for name, route in routes_of(where, pair):
            found[name].add(route)
    return found


@cache
def everything():
    "{name: its routes, the most telling first} of every public name; notebooks for what the tests leave open"
    found = gathered(compared_in_tests())
    for name, route, wrong in marked():
        found[name] |= set() if wrong else {route}
    left = [name for name in public() if not any(serves(name, route) for route in found[name])]
    for name, routes in gathered(compared_in_notebooks(left)).items():
        found[name] |= routes
    return {name: sorted(found[name], key=Route.key) for name in public()}


def gaps(table):
    "Names without a second route; a law needs an impostor that it refuses as well"
    yield from (wrong for _, _, wrong in marked() if wrong)
    for name, routes in table.items():
        if not any(serves(name, route) for route in routes):
            yield f"{public()[name]}.{name} has no second route"
        if name.startswith("check_") and not any(route.kind == "refused" for route in routes):
            yield f"{public()[name]}.{name} is never shown an impostor"


def serves(name, route):
    return route.settles() or route.kind == "refused" and exception(name)


@cache
def exception(name):
    "An error is tested by being raised"
    up = bases(definitions(modules()[public()[name]])[name])
    return any(base.endswith(("Error", "Exception")) for base in up) or name == "expect_fail"


# the page

PAGE = """# Second routes

The package has {count} public functions and classes. What each of them computes is compared, in a test or
in a cell, with something that does not use it: another library, quadrature, a loop or a formula written out
on the spot, a number that is known, another function of the package; where no such thing exists, with a law
that characterises it. A law itself (`check_...`) must also refuse impostors, and an error must be raised.

The table is read off the tests and the notebooks when this page is written, by following what goes into the
two sides of each comparison; a name that lacks a second route fails the tests. Of several routes it names
the most telling one: {kinds}.

| name | module | route | against | runs in |
|---|---|---|---|---|
{rows}
"""


def runs_in(where):
    "The test, or the section of a notebook as a link"
    file, place = where
    if file.endswith(".py"):
        return f"`{file.removesuffix('.py')}::{place}`"
    return f"[{place}](../{file}.ipynb)".replace("|", "\\|")


def row(name, routes):
    best = next(route for route in routes if serves(name, route))
    kind = "raised where it should be" if best.kind == "refused" else best.kind
    if name.startswith("check_") and best.kind == "law":
        kind = "law, and impostors refused"
    by = ", ".join(o if o.startswith("`") else f"`{o}`" for o in best.by if o != f"`{name}`")
    return f"| `{name}` | {public()[name]} | {kind} | {by} | {runs_in(best.where)} |"


def page():
    "The page, as Markdown"
    table = everything()
    rows = [row(name, table[name]) for name in sorted(public(), key=lambda name: (public()[name], name))]
    counts = Counter(line.split(" | ")[2] for line in rows)
    kinds = ", ".join(f"{kind} {counts[kind]}" for kind in sorted(counts, key=counts.get, reverse=True))
    return PAGE.format(count=len(rows), kinds=kinds, rows="\n".join(rows))
