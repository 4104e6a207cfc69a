"""Kernels on graphs and trees against plain Python.

Graphs are of the size of MUTAG's molecules: 188 of them, and 2000. The plain peers are what one
writes first: colours by a dictionary, counts as dictionaries; the recursion of Collins and Duffy
with the nodes of each production looked up. On the larger set plain Python compares a tenth of all
rows with everyone, and so do we in that race.
"""

from collections import Counter, defaultdict
from functools import partial

import numpy as np
from runner import Race, main

from rkhs_notes.deeper.graphs import Graph, Subtree, WeisfeilerLehman

OURS, PLAIN, ROUNDS = "rkhs_notes", "dictionaries in Python", 4


def rows(quick):
    """Functions that make one race each.

    Parameters
    ----------
    quick : bool     60 and 300 graphs, 30 trees instead of 188 and 2000, 150

    Returns
    -------
    list of functions without arguments
    """
    few, many, trees = (60, 300, 30) if quick else (188, 2000, 150)
    return [
        partial(colours, few, few),
        partial(colours, many, many // 10),
        partial(fragments, trees),
    ]


def molecules(n):
    "Graphs with rings and branches, 12 to 24 nodes, mostly one label"
    rng = np.random.default_rng(0)
    found = []
    for _ in range(n):
        size = int(rng.integers(12, 25))
        edges = {(i, i + 1) for i in range(5)} | {(0, 5)}
        edges |= {(int(rng.integers(v)), v) for v in range(6, size)}
        edges |= {(v, v + 5) for v in rng.integers(6, size, 2).tolist() if v + 5 < size}
        found.append(Graph(sorted(edges), rng.choice(list("CCCCCCCNOO"), size)))
    return found


def counted(g, names):
    around = [[] for _ in range(g.n)]
    for u, v in g.edges.tolist():
        around[u].append(v)
        around[v].append(u)
    colour = [names.setdefault(("label", a), len(names)) for a in g.labels]
    found = Counter(colour)
    for r in range(ROUNDS):
        colour = [
            names.setdefault((r, c, *sorted([colour[u] for u in near])), len(names))
            for c, near in zip(colour, around, strict=True)
        ]
        found.update(colour)
    return found


def by_dictionaries(graphs, n):
    names = {}
    counts = [counted(g, names) for g in graphs]
    return [[sum(c * b[a] for a, c in x.items() if a in b) for b in counts] for x in counts[:n]]


def colours(n, rows):
    graphs = molecules(n)
    k = WeisfeilerLehman(ROUNDS)
    return Race(
        title=f"Weisfeiler-Lehman, h = {ROUNDS}, {rows} × {n} graphs",
        contenders={
            OURS: lambda: k(graphs) if rows == n else k(graphs[:rows], graphs),
            PLAIN: lambda: by_dictionaries(graphs, rows),
        },
        agree=np.testing.assert_array_equal,
        repeats=5,
    )


def parsed(n):
    "Sentences of a small grammar, 20 to 60 nodes"
    rng = np.random.default_rng(1)

    def phrase(kind, depth):
        if kind in "DNVP":
            return (kind, f"{kind.lower()}{rng.integers(12)}")
        rules = {"S": [("NP", "VP")], "NP": [("D", "N"), ("NP", "PP"), ("D", "N", "PP")],
                 "VP": [("V", "NP"), ("V", "NP", "PP"), ("V", "S")], "PP": [("P", "NP")]}[kind]  # fmt: skip
        rule = rules[rng.integers(len(rules))] if depth else rules[0]
        return (kind, *(phrase(part, max(0, depth - 1)) for part in rule))

    return [phrase("S", 5) for _ in range(n)]


def by_recursion(trees, decay):
    def rule(t):
        return (t[0], *(c if isinstance(c, str) else c[0] for c in t[1:]))

    def nodes(t):
        return [t, *(p for c in t[1:] if not isinstance(c, str) for p in nodes(c))]

    def delta(p, q):
        value = decay
        for a, b in zip(p[1:], q[1:], strict=True):
            if not isinstance(a, str) and not isinstance(b, str) and rule(a) == rule(b):
                value *= 1 + delta(a, b)
        return value

    by_rule = []
    for t in trees:
        found = defaultdict(list)
        for p in nodes(t):
            found[rule(p)].append(p)
        by_rule.append(found)
    return [
        [
            sum(delta(p, q) for r, many in s.items() if r in t for p in many for q in t[r])
            for t in by_rule
        ]
        for s in by_rule
    ]


def fragments(n):
    trees = parsed(n)
    return Race(
        title=f"fragments of {n} parse trees",
        contenders={
            OURS: lambda: Subtree(0.5)(trees),
            "recursion in Python": lambda: by_recursion(trees, 0.5),
        },
        agree=partial(np.testing.assert_allclose, rtol=1e-10),
        repeats=5,
    )


if __name__ == "__main__":
    main(__file__, rows)
