"""Lays out the rooms: moves notebooks, modules, tests and the website's scripts to their folders, once.

python rooms.py      in the root of a clean checkout

It moved this repository once and is kept in its history. PLAN says where each notebook goes; CUTS which of them become several, and with which cell each part begins.
Imports, links and former names follow. What it cannot know (globs, lists in tests) is mended by hand after.
"""

import ast
import copy
import json
import re
import subprocess
import symtable
import textwrap
from collections import defaultdict
from pathlib import Path

import nbformat

ROOT = Path.cwd()
NBS = ROOT / "nbs"

PLAN = {
    "deeper": """01a_zoo 01b_metrics 03a_interpolation 05a_processes 07a_machines 08a_cca 09a_grids_landmarks
        11a_two_samples 13_structured 13a_graphs 14_scale 14a_streams 15_dependence 15a_conditioning 15b_stein
        16_generalization 16a_rates""",
    "base": "A_errors B_settings C_arrays C_contracts D_datasets E_plots",
    "engines/kernels": "S_gram S_forms S_algebra S_entries S_laws S_bessel S_strings S_counts S_trees S_networks",
    "engines/functions": "S_functions S_series S_splines S_preimages S_fits",
    "engines/features": """S_maps S_sketches S_pairs S_fourier S_frequencies S_normals S_grids S_bounds
        S_unbiased""",
    "engines/solving": """S_systems S_lowrank S_spectra S_operators S_convex S_multipliers S_paths S_steps
        S_search S_views""",
    "engines/machines": "S_smo S_subsets S_support S_tall S_wide S_relevance S_separation",
    "engines/testing": "S_resampling S_samples S_swaps S_smoothers S_turns S_unexplained",
    "engines/data": "S_stored S_sums S_tables S_pictures",
    "apps": "S_play S_diagnoses V_exercises W_classroom W_comparison W_estimators X_cli Y_package",
    "answers": """V_answers_00 V_answers_01 V_answers_01a V_answers_01b V_answers_02 V_answers_03 V_answers_04
        V_answers_05 V_answers_05a V_answers_06 V_answers_07 V_answers_08 V_answers_09 V_answers_09a
        V_answers_10 V_answers_11 V_answers_12 V_answers_13 V_answers_13a V_answers_14 V_answers_14a
        V_answers_15 V_answers_15a V_answers_15b V_answers_16 V_answers_16a""",
}

# old notebook: [(room, name, title, [what its cells begin with])]; a run of cells begins with the text before
# the cell that defines the name, or with a heading, and ends where another begins; "" is the top of the page
CUTS = {
    "C_arrays": [
        ("base", "arrays", "", ["", "# guarded"]),
        ("base", "objects", "Points that are no arrays", ["## Points that are no arrays"]),
        ("base", "distances", "Squared distances, with all their digits", ["## Squared distances, with all their digits", "#| checked: sqdist is the definition"]),
        ("base", "blocks", "Blocks, cores and the size of a result", ["# row_blocks", "## All cores, and no more"]),
        ("base", "factors", "A positive definite matrix, factored once", ["## A positive definite matrix, factored once"]),
    ],
    "C_contracts": [
        ("base", "words", "The words of signatures", [""]),
        ("base", "points", "Points and their marks", ["### Marks"]),
        ("base", "contracts", "Contracts", ["## A call", "## Fuzzing from the signature", "Marks end with the call"]),
        ("base", "values", "Values", ["## A value", "A value is checked once"]),
    ],
    "S_algebra": [
        ("engines/kernels", "simplify", "Simplify", ["## Simplify"]),
        ("engines/kernels", "algebra", "", ["", "## In use"]),
    ],
    "S_strings": [
        ("engines/kernels", "strings", "", ["", "# The words at work"]),
        ("engines/kernels", "bags", "Bags, and models that give their score", ["## Means over bags"]),
    ],
    "S_maps": [
        ("engines/features", "maps", "", ["", "## Features and Gram matrices"]),
        ("engines/features", "monomials", "All monomials", ["## All products"]),
    ],
    "S_convex": [
        ("engines/solving", "losses", "Losses", ["## Losses"]),
        ("engines/solving", "convex", "", ["", "## Two algorithms"]),
    ],
    "S_spectra": [
        ("engines/solving", "gram_operators", "The operator behind a sample", ["## The operator behind a sample"]),
        ("engines/solving", "spectra", "", ["", "## Block Lanczos with thick restarts"]),
    ],
    "S_steps": [
        ("engines/solving", "steps", "", [""]),
        ("engines/solving", "timing", "The clock of a machine", ["## The clock"]),
    ],
    "S_smo": [
        ("engines/machines", "boxes", "One problem for all machines",
         ["## One problem for all machines", "# _into_distances"]),
        ("engines/machines", "pair_steps", "Two at a time: one step", ["# _ascend"]),
        ("engines/machines", "smo", "", ["", "## Two at a time", "# one_of_many"]),
    ],
    "S_subsets": [
        ("engines/machines", "libsvm", "Pair steps by libsvm", ["## Pair steps by libsvm"]),
        ("engines/machines", "subsets", "", ["", "## A part that grows"]),
    ],
    "S_support": [
        ("engines/machines", "prices", "Prices", ["## Prices"]),
        ("engines/machines", "support", "", ["", "## Before the run"]),
    ],
    "S_samples": [
        ("engines/testing", "samples", "", [""]),
        ("engines/testing", "pools", "Two samples in one pool", ["## The pool"]),
    ],
    "S_diagnoses": [
        ("apps", "slips", "Slips that have a name", ["## A case"]),
        ("apps", "diagnoses", "", ["", "## The solution of another problem"]),
    ],
}


def sh(*command):
    subprocess.run(list(map(str, command)), cwd=ROOT, check=True)


def bare(stem):
    "S_gram is gram, V_answers_01 is answers_01; a chapter keeps its number"
    return stem if stem[0].isdigit() or stem == "index" else stem.partition("_")[2]


def directives_and_body(source):
    lines, head = source.splitlines(), []
    while lines and re.match(r"#\|", lines[0]):
        head.append(lines.pop(0))
    return head, "\n".join(lines)


def is_export(cell):
    return cell.cell_type == "code" and any(
        re.match(r"#\|\s*exporti?\b", line) for line in directives_and_body(cell.source)[0]
    )


def plain(source):
    "Code without directives' effect and magics, on the same lines"
    return re.sub(r"(?m)^(\s*)[%!].*$", r"\1pass", source)


def parsed(source):
    try:
        return ast.parse(plain(source))
    except SyntaxError:
        return None


def defined(cells):
    "Names that exported cells define at the top"
    found = []
    for cell in cells:
        if is_export(cell):
            table = symtable.symtable(plain(cell.source), "cell", "exec")
            found += [o.get_name() for o in table.get_symbols() if o.is_assigned() and not o.is_imported()
                      or o.is_namespace()]
    return list(dict.fromkeys(found))


def read_globally(cells):
    "Names of the module that code reads, in whatever scope"
    found = set()

    def walk(table):
        for o in table.get_symbols():
            if o.is_referenced() and (table.get_type() == "module" or o.is_global()):
                found.add(o.get_name())
        for child in table.get_children():
            walk(child)

    for cell in cells:
        if parsed(cell.source):
            walk(symtable.symtable(plain(cell.source), "cell", "exec"))
    return found


class Old:
    "A notebook as it was: its cells, its module, and where its parts go"

    def __init__(self, path, room):
        self.path, self.room, self.stem = path, room, path.stem
        self.nb = nbformat.read(path, as_version=4)
        found = re.search(r"(?m)^#\|\s*default_exp:?\s*(\S+)", "\n".join(c.source for c in self.nb.cells))
        self.module = found[1] if found else None
        self.parts = self.cut()

    def cut(self):
        "[(room, name, title, [cells])]"
        cells = self.nb.cells
        if self.stem not in CUTS:
            return [(self.room, bare(self.stem), "", cells)]
        starts = {}
        for k, (*_, begins) in enumerate(CUTS[self.stem]):
            for begin in begins:
                starts[self.place(begin)] = k
        assert 0 in starts or self.place("") in starts, self.stem
        lots, now = [[] for _ in CUTS[self.stem]], starts[0]
        for i, cell in enumerate(cells):
            now = starts.get(i, now)
            lots[now].append(cell)
        return [(*part[:3], lot) for part, lot in zip(CUTS[self.stem], lots)]

    def place(self, begin):
        cells = self.nb.cells
        if not begin:
            return 0
        if begin.startswith("# ") and begin[2:].isidentifier():
            at = next(i for i, c in enumerate(cells) if is_export(c) and begin[2:] in defined([c]))
            return at - (cells[at - 1].cell_type == "markdown")
        if begin.startswith("#|"):
            return next(i for i, c in enumerate(cells) if c.cell_type == "code" and c.source.startswith(begin))
        text = begin.removeprefix("# ") if begin.startswith("# ") else begin
        found = [i for i, c in enumerate(cells) if c.cell_type == "markdown" and c.source.startswith(text)]
        assert found, (self.stem, begin)
        return found[0]


def dotted(room, name):
    module = re.sub(r"^\d+[a-z]?_", "", name)
    return ".".join(filter(None, [room.replace("/", "."), module]))


def new_path(room, name):
    return NBS / room / f"{name}.ipynb"


def collect():
    olds = []
    rooms = {stem: room for room, stems in PLAN.items() for stem in stems.split()}
    for path in sorted(NBS.glob("*.ipynb")):
        olds.append(Old(path, rooms.pop(path.stem, "")))
    assert not rooms, rooms
    return olds


class Map:
    "Where modules, names, pages and anchors went"

    def __init__(self, olds):
        self.modules, self.names, self.pages, self.anchors = {}, {}, {}, {}
        self.passed_on = {}
        for old in olds:
            first = self.main(old)
            self.pages[old.stem] = first[:2]
            if old.module and old.module != "__init__":
                self.modules[old.module] = dotted(*first[:2])
                for name, (kind, module, alias) in import_lines([c for c in old.nb.cells if is_export(c)]).items():
                    if kind == "from" and module.startswith("rkhs_notes."):
                        self.passed_on[old.module, name] = (module.split(".")[1], alias.name)
                for room, name, _, cells in old.parts:
                    for known in defined(cells):
                        self.names[old.module, known] = dotted(room, name)
            for room, name, _, cells in old.parts:
                for cell in cells:
                    if cell.cell_type == "markdown":
                        for anchor in re.findall(r'<a id="([^"]+)"', cell.source):
                            self.anchors[old.stem, anchor] = (room, name)
                        for heading in re.findall(r"(?m)^#+ +(.+)$", cell.source):
                            slug = re.sub(r"[^\w\- ]", "", heading).strip().lower().replace(" ", "-")
                            self.anchors[old.stem, slug] = (room, name)
                        for tag in re.findall(r"\\tag\{([^}]+)\}", cell.source):
                            self.anchors[old.stem, "eq-" + tag.replace(".", "-")] = (room, name)

    @staticmethod
    def main(old):
        "The part that keeps the name"
        return next((p for p in old.parts if p[1] == bare(old.stem)), old.parts[0])

    def resolve(self, old, name):
        "(new module, name there) of a name that a module had, passed on, or once had"
        if (old, name) in self.names:
            return self.names[old, name], name
        if (old, name) in self.passed_on:
            return self.resolve(*self.passed_on[old, name])
        owners = {v for (_, n), v in self.names.items() if n == name}
        if old in self.modules and len(owners) == 1 and not name.startswith("_"):
            return owners.pop(), name
        return self.modules.get(old), name


def statement(module, names, indent=""):
    "An import in lines of at most 100 columns"
    listed = ", ".join(names)
    line = f"{indent}from {module} import {listed}"
    if len(line) <= 100:
        return line
    body = textwrap.fill(listed, 96 - len(indent), break_long_words=False)
    return f"{indent}from {module} import (\n" + textwrap.indent(body, indent + "    ") + f"\n{indent})"


def move_imports(source, to, exported, more=()):
    "The code with its imports of this package from where the names are now"
    tree = parsed(source)
    if tree is None or "rkhs_notes" not in source:
        return source
    lines = source.split("\n")
    edits, extra = [], []
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and node.level == 0 and node.module:
            head = node.module.split(".")
            if head[0] != "rkhs_notes":
                continue
            groups = defaultdict(list)
            for alias in node.names:
                for target in more[alias.asname or alias.name] if (alias.asname or alias.name) in more and len(head) == 1 else ():
                    parent, _, name = target.rpartition(".")
                    groups[f"rkhs_notes.{parent}"].append(name)
                text = alias.name + (f" as {alias.asname}" if alias.asname else "")
                if any(t.rpartition(".")[2] == alias.asname for t in dict(more).get(alias.asname, ())):
                    continue  # nothing of it is left but what another module has now, under this name
                if len(head) == 2:
                    target, there = to.resolve(head[1], alias.name)
                    if there != alias.name and (alias.asname or alias.name) != there:
                        text = f"{there} as {alias.asname or alias.name}"
                    groups[f"rkhs_notes.{target}" if target else node.module].append(text)
                elif len(head) == 1 and exported and alias.name in to.modules:
                    target = to.modules[alias.name]
                    parent, _, name = target.rpartition(".")
                    text = name if name == alias.name and not alias.asname else (
                        f"{name} as {alias.asname or alias.name}")
                    groups[".".join(filter(None, ["rkhs_notes", parent]))].append(text)
                else:
                    groups[node.module].append(text)
            if list(groups) != [node.module]:
                edits.append((node, groups))
        elif isinstance(node, ast.Import):
            for alias in node.names:
                extra += more[alias.asname] if alias.asname in more else []
                head = alias.name.split(".")
                if head[0] == "rkhs_notes" and len(head) == 2 and head[1] in to.modules:
                    new = f"rkhs_notes.{to.modules[head[1]]}"
                    i = node.lineno - 1
                    lines[i] = lines[i].replace(f"import {alias.name} as", f"import {new} as")
    for target in extra:
        parent, _, name = target.rpartition(".")
        first = next(o for o in tree.body if isinstance(o, (ast.Import, ast.ImportFrom)))
        lines[first.lineno - 1] += f"\nfrom rkhs_notes.{parent} import {name}"
    for node, groups in sorted(edits, key=lambda e: -e[0].lineno):
        a, b = node.lineno - 1, node.end_lineno - 1
        before, after = lines[a][: node.col_offset], lines[b][node.end_col_offset :]
        same = sum(groups.values(), []) == [o.name + (f" as {o.asname}" if o.asname else "") for o in node.names]
        if len(groups) == 1 and a == b and same:
            text = lines[a][node.col_offset : node.end_col_offset]
            (module,) = groups
            text = re.sub(r"^from \S+", f"from {module}", text)
            if len(before + text) > 100:
                text = statement(module, groups[module], "").lstrip()
            lines[a : b + 1] = [before + text + after]
            continue
        if before.strip():  # after a semicolon or a colon
            text = "; ".join(f"from {m} import {', '.join(names)}" for m, names in groups.items())
            lines[a : b + 1] = [before + text + after]
        else:
            made = "\n".join(statement(m, names, before) for m, names in sorted(groups.items()))
            lines[a : b + 1] = (made + after).split("\n")
    return merged("\n".join(lines)) if edits else "\n".join(lines)


def merged(source):
    "A cell of imports with one statement for each module of this package; others stay as they are"
    tree = parsed(source)
    if tree is None or not tree.body or not all(isinstance(o, (ast.Import, ast.ImportFrom)) for o in tree.body):
        return source
    if "#" in re.sub(r"(?m)^#\|.*$", "", source):
        return source
    head, theirs, ours = directives_and_body(source)[0], [], {}
    for node in tree.body:
        if isinstance(node, ast.ImportFrom) and node.module.split(".")[0] == "rkhs_notes":
            names = [o.name + (f" as {o.asname}" if o.asname else "") for o in node.names]
            ours.setdefault(node.module, []).extend(n for n in names if n not in ours.get(node.module, []))
        else:
            theirs.append(ast.get_source_segment(source, node))
    order = ["rkhs_notes", "rkhs_notes.base", "rkhs_notes.engines"]
    place = lambda m: (next((i for i, o in reversed(list(enumerate(order))) if m == o or m.startswith(o + ".") and i), 3), m)  # noqa: E731
    made = [statement(m, sorted(ours[m], key=lambda n: (not n.isupper(), not n[0].isupper(), n))) for m in sorted(ours, key=place)]
    return "\n".join([*head, *theirs, *made])


def import_lines(cells):
    "{name: (kind, module, original, node text)} of the imports at the top of cells"
    found = {}
    for cell in cells:
        tree = parsed(cell.source)
        for node in tree.body if tree else ():
            if isinstance(node, ast.Import):
                for alias in node.names:
                    found[alias.asname or alias.name.split(".")[0]] = ("import", None, alias)
            elif isinstance(node, ast.ImportFrom):
                for alias in node.names:
                    found[alias.asname or alias.name] = ("from", node.module, alias)
    return found


def move_attributes(sources, to):
    "(sources, {alias: other modules}) where `strings.as_bags` is `bags.as_bags`, if that is where it went"
    aliases = {}
    for source in sources:
        for node in ast.walk(parsed(source) or ast.Module([], [])):
            if isinstance(node, ast.ImportFrom) and node.module == "rkhs_notes":
                aliases |= {a.asname or a.name: a.name for a in node.names if a.name in to.modules}
            if isinstance(node, ast.Import):
                for a in node.names:
                    head = a.name.split(".")
                    if a.asname and len(head) == 2 and head[0] == "rkhs_notes" and head[1] in to.modules:
                        aliases[a.asname] = head[1]
    more, out = defaultdict(set), []
    for source in sources:
        lines, edits = source.split("\n"), []
        for node in ast.walk(parsed(source) or ast.Module([], [])):
            if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id in aliases:
                old = aliases[node.value.id]
                if (old, node.attr) in to.names and to.names[old, node.attr] != to.modules[old]:
                    edits.append((node.value, to.names[old, node.attr]))
                    more[node.value.id].add(to.names[old, node.attr])
        for name, target in sorted(edits, key=lambda e: (-e[0].lineno, -e[0].col_offset)):
            line = lines[name.lineno - 1].encode()
            new = target.rpartition(".")[2].encode()
            lines[name.lineno - 1] = (line[: name.col_offset] + new + line[name.end_col_offset :]).decode()
        out.append("\n".join(lines))
    return out, more


def is_import_cell(cell):
    tree = parsed(cell.source)
    return bool(tree and tree.body) and all(isinstance(o, (ast.Import, ast.ImportFrom)) for o in tree.body)


def written_imports(names, known):
    "Import statements for the names: those of others, those of this package"
    plain_, theirs, ours = set(), defaultdict(set), defaultdict(set)
    for name in names:
        kind, module, alias = known[name]
        text = alias.name + (f" as {alias.asname}" if alias.asname else "")
        if kind == "import":
            plain_.add(text)
        else:
            (ours if module.split(".")[0] == "rkhs_notes" else theirs)[module].add(text)
    first = [f"import {text}" for text in sorted(plain_)]
    first += [statement(m, sorted(n, key=str.lower)) for m, n in sorted(theirs.items())]
    second = [statement(m, sorted(n, key=str.lower)) for m, n in sorted(ours.items())]
    return first, second


def cut_cells(old, part, to):
    "The cells of a part of a notebook that was cut, with imports of its own"
    room, name, title, cells = part
    keep = old.main_part is part and cells[0] is old.nb.cells[0]
    all_cells = [c for p in old.parts for c in p[3]]
    tops = import_lines([c for c in all_cells if is_export(c)])
    homes = {n: dotted(p[0], p[1]) for p in old.parts for n in defined(p[3])}
    code = [c for c in cells if is_export(c) and not is_import_cell(c)]
    mine = set(defined(code))
    need = read_globally(code) - mine
    here = dotted(room, name)
    known = dict(tops)
    for n, home in homes.items():
        if home != here:
            known[n] = ("from", f"rkhs_notes.{home}", ast.alias(n))
    first, second = written_imports(sorted(need & set(known)), known)
    make = nbformat.v4.new_code_cell
    def code_cell(text, tag):
        return make(text, id=f"{name[:20].replace('_', '-')}-{tag}")
    out = []
    body = [c for c in cells if not (is_export(c) and is_import_cell(c))
            and not re.match(r"#\|\s*default_exp", c.source)]
    examples = [c for c in body if c.cell_type == "code" and not is_export(c)]
    setup = next((c for c in all_cells if c.cell_type == "code" and not is_export(c)
                  and not re.match(r"#\|", c.source) and "import" in c.source), None)
    if keep:
        out.append(body.pop(0))  # the title and what opens it
    else:
        heading = body[0].source if body and body[0].cell_type == "markdown" else ""
        text = re.sub(r"^#+ [^\n]*\n*", "", heading) if heading.startswith("#") else heading
        if heading:
            body.pop(0)
        out.append(nbformat.v4.new_markdown_cell(f"# {title}", id=f"{name[:20].replace('_', '-')}-title"))
        if text:
            body.insert(0, nbformat.v4.new_markdown_cell(text.strip(), id=f"{name[:20].replace('_', '-')}-text"))
    out.append(code_cell(f"#| default_exp {here}", "exp"))
    if first:
        out.append(code_cell("#| export\n" + "\n".join(first), "imports"))
    if second:
        out.append(code_cell("#| export\n" + "\n".join(second), "own"))
    if setup is not None and setup in body:
        body.remove(setup)
    rest = [c for c in examples if c is not setup]
    if setup is not None and rest:
        offered = import_lines([setup])
        tree = parsed(setup.source)
        others = [ast.get_source_segment(plain(setup.source), o) for o in tree.body
                  if not isinstance(o, (ast.Import, ast.ImportFrom))]
        statements = lambda c: (parsed(c.source) or ast.Module([], [])).body  # noqa: E731

        def binds(node):
            table_ = symtable.symtable(ast.unparse(node), "s", "exec")
            return {o.get_name() for o in table_.get_symbols()
                    if (o.is_assigned() or o.is_namespace()) and not o.is_imported()}

        there, at = {}, [id(c) for c in old.nb.cells]
        first = min(at.index(id(c)) for c in rest)
        for c in old.nb.cells[:first]:
            if c.cell_type == "code" and not is_export(c) and c is not setup and c not in rest:
                for node in statements(c):
                    for name_ in binds(node):
                        there[name_] = ast.get_source_segment(plain(c.source), node)
        own, missing = {n_ for o in tree.body if not isinstance(o, (ast.Import, ast.ImportFrom)) for n_ in binds(o)}, []
        for c in rest:
            for node in statements(c):
                reads = read_globally([make(ast.unparse(node))]) - binds(node) - own - mine
                missing += sorted(reads - set(missing))
                own |= binds(node)
        lent, asked = [], set()

        def lend(name_):
            if name_ in there and name_ not in offered and name_ not in known and name_ not in asked:
                asked.add(name_)
                for other in sorted(read_globally([make(there[name_])])):
                    lend(other)
                if there[name_] not in lent:
                    lent.append(there[name_])

        for name_ in missing:
            lend(name_)
        others = others + [text for text in lent if text not in others]
        wants = (read_globally(rest) | read_globally([make("\n".join(others))]) - set()) - mine - (need & set(known))
        table = known | {n: v for n, v in offered.items()}
        table = {n: v for n, v in table.items()}
        a, b = written_imports(sorted((wants & set(table))), table)
        text = "\n".join([*a, *b, *(["" ] if others else []), *others]).strip()
        if text:
            out.append(code_cell(text, "setup"))
    out += body
    return out


def relink(text, here, to, old=None):
    "Markdown with the links of a page that stands in the folder `here` (from nbs/)"
    depth = len([p for p in here.split("/") if p])

    def relative(room, name):
        a = [p for p in here.split("/") if p]
        b = [p for p in room.split("/") if p]
        while a and b and a[0] == b[0]:
            a.pop(0), b.pop(0)
        return "/".join([".."] * len(a) + b + [f"{name}.ipynb"])

    def page(match):
        stem, anchor = match[2], match[3] or ""
        if stem not in to.pages:
            return match[0]
        place = to.anchors.get((stem, anchor.lstrip("#").lower())) or to.pages[stem]
        return f"{match[1]}{relative(*place)}{anchor}"

    def own(match):
        place = to.anchors.get((old.stem, match[1].lower())) if old else None
        if place and place != old.current:
            return f"]({relative(*place)}#{match[1]})"
        return match[0]

    if old and len(old.parts) > 1:
        text = re.sub(r"\]\(#([^)]+)\)", own, text)
    text = re.sub(r"(\]\(|href=\")([A-Za-z0-9_]+)\.ipynb(#[^)\"]*)?", page, text)
    if depth:
        text = re.sub(r"(\]\(|src=\")(images/|front/)", rf"\1{'../' * depth}\2", text)
    return text


def main():
    olds = collect()
    to = Map(olds)
    for old in olds:
        old.main_part = to.main(old)
    for old in olds:
        made = []
        for part in old.parts:
            room, name, title, _ = part
            old.current = (room, name)
            if len(old.parts) > 1:
                cells = cut_cells(old, part, to)
            else:
                cells = part[3]
            nb = nbformat.v4.new_notebook(metadata=old.nb.metadata, cells=[nbformat.from_dict(copy.deepcopy(dict(c))) for c in cells])
            nb.nbformat_minor = old.nb.nbformat_minor
            code = [cell for cell in nb.cells if cell.cell_type == "code"]
            moved, more = move_attributes([cell.source for cell in code], to)
            for cell, source in zip(code, moved):
                cell.source = source
            for i, cell in enumerate(nb.cells):
                if cell.cell_type == "markdown":
                    cell.source = relink(cell.source, room, to, old)
                    if i == 0 and not old.stem[0].isdigit():
                        cell.source = re.sub(r"^# [A-Z] · ", "# ", cell.source)
                else:
                    cell.source = move_imports(cell.source, to, is_export(cell), more)
                    if old.module and old.module != "__init__":
                        cell.source = re.sub(r"(?m)^#\|\s*default_exp:?\s*\S+$", f"#| default_exp {dotted(room, name)}", cell.source)
            made.append((part, nb))
        for part, nb in made:
            path = new_path(*part[:2])
            path.parent.mkdir(parents=True, exist_ok=True)
            if part is old.main_part and path != old.path:
                sh("git", "mv", old.path, path)
            nbformat.write(nb, path)
    return olds, to


def move_code(to):
    "Imports in plain Python, mutants and links in plain text"
    for folder in ("tests", "benchmarks", "e2e", "nbs/site"):
        for path in sorted((ROOT / folder).glob("*.py")):
            text = path.read_text("utf-8")
            (new,), more = move_attributes([text], to)
            new = move_imports(new, to, False, more)
            new = re.sub(r"([\"'])rkhs_notes\.([a-z_0-9]+)(?=[.\"'\\])",
                         lambda m: f"{m[1]}rkhs_notes.{to.modules.get(m[2], m[2])}", new)
            if new != text:
                path.write_text(new, "utf-8")
    begin = NBS / "front" / "begin.md"
    text = begin.read_text("utf-8")
    begin.write_text(re.sub(r"\]\(\.\./([A-Za-z0-9_]+)\.ipynb", lambda m: f"](../{'/'.join(filter(None, [to.pages[m[1]][0], to.pages[m[1]][1]]))}.ipynb", text), "utf-8")


if __name__ == "__main__":
    olds, to = main()
    move_code(to)
