"""Kernels on graphs and trees: brute force, edge cases, laws with mutants, what is refused."""

import copy
import pickle
import subprocess
import sys
from collections import Counter, deque

import numpy as np
import pandas
import pytest
import scipy.sparse as sp

import rkhs_notes as rn
from rkhs_notes import Constant, LawBroken, check_kernel, settings
from rkhs_notes.base.errors import ConvergenceFailure
from rkhs_notes.deeper.graphs import (
    Graph,
    RandomWalk,
    ShortestPath,
    Subtree,
    WeisfeilerLehman,
    check_renumbering,
)
from rkhs_notes.engines.kernels.counts import inner, numbered
from rkhs_notes.engines.kernels.networks import growth, hops, solved, united

# ------------------------------------------------------------------ brute force


def around(g):
    found = [[] for _ in range(g.n)]
    for u, v in g.edges.tolist():
        found[u].append(v)
        found[v].append(u)
    return found


def colours(g, h):
    "Counts of colours, each written as the text of its unfolding tree"
    near, found = around(g), Counter()
    text = [repr(a) for a in g.labels]
    for r in range(h + 1):
        found.update((r, t) for t in text)
        text = [
            f"{g.labels[v]!r}[{','.join(sorted(text[u] for u in near[v]))}]" for v in range(g.n)
        ]
    return found


def triples(g):
    "Counts of (labels, length), by a search from each node"
    near, found = around(g), Counter()
    for v in range(g.n):
        length, queue = {v: 0}, deque([v])
        while queue:
            u = queue.popleft()
            for w in near[u]:
                if w not in length:
                    length[w] = length[u] + 1
                    queue.append(w)
        found.update(
            (*sorted((str(g.labels[u]), str(g.labels[v]))), r) for u, r in length.items() if u < v
        )
    return found


def product(g, h):
    "The adjacency matrix of the direct product"

    def matrix(g):
        A = np.zeros((g.n, g.n))
        for u, v in g.edges:
            A[u, v] = A[v, u] = 1
        return A

    same = [a == b for a in g.labels for b in h.labels]
    return np.kron(matrix(g), matrix(h))[np.ix_(same, same)]


def walks(g, h, decay):
    A = product(g, h)
    return np.linalg.solve(np.eye(len(A)) - decay * A, np.ones(len(A))).sum()


def common(a, b):
    return float(sum(n * b[c] for c, n in a.items()))


def fragments(s, t, decay):
    def inner(t):
        return (
            [] if isinstance(t, str) or len(t) == 1 else [t, *(p for c in t[1:] for p in inner(c))]
        )

    def delta(p, q):
        rules = [[c if isinstance(c, str) else c[0] for c in t] for t in (p, q)]
        if (
            rules[0] != rules[1]
            or isinstance(p, str)
            or isinstance(q, str)
            or len(p) == 1
            or len(q) == 1
        ):
            return 0.0
        return decay * float(np.prod([1 + delta(a, b) for a, b in zip(p[1:], q[1:], strict=True)]))

    return sum(delta(p, q) for p in inner(s) for q in inner(t))


def some_graph(rng):
    n = int(rng.integers(0, 9))
    pairs = np.argwhere(np.triu(rng.random((n, n)) < rng.random(), 1))
    return Graph(pairs, [("C", 7, ("a", 1))[i] for i in rng.integers(0, rng.integers(1, 4), n)])


def some_tree(rng, depth=4):
    if depth == 0 or depth < 4 and rng.random() < 0.3:
        return ["x", "A", ("x",), ("B",)][rng.integers(4)]
    return ("AB"[rng.integers(2)], *(some_tree(rng, depth - 1) for _ in range(rng.integers(0, 4))))


def whole(k, X, K):
    "k(X), k(X, Y), the diagonal and pairs, against a matrix"
    np.testing.assert_allclose(k(X), K, rtol=1e-10, atol=1e-12, err_msg=str(k))
    np.testing.assert_allclose(k(X, X[2:]), K[:, 2:], rtol=1e-10, atol=1e-12, err_msg=str(k))
    np.testing.assert_allclose(k.diag(X), K.diagonal(), rtol=1e-10)
    np.testing.assert_allclose(k.pairs(X[:-2], X[2:]), K.diagonal(2), rtol=1e-10, atol=1e-12)


@pytest.mark.second_route(
    "Graph",
    "RandomWalk",
    "ShortestPath",
    "WeisfeilerLehman",
    "brute force over all nodes, paths and walks",
)
@pytest.mark.parametrize("seed", range(20))
def test_graphs_against_brute_force(seed):
    rng = np.random.default_rng(seed)
    X, h = [some_graph(rng) for _ in range(7)], int(rng.integers(0, 5))
    decay = 0.95 / max(1.0, *(growth(g, 0) for g in X))
    found = [(colours(g, h), triples(g)) for g in X]
    pairs = [[(common(a[0], b[0]), common(a[1], b[1])) for b in found] for a in found]
    by_colour, by_path = np.moveaxis(np.array(pairs), 2, 0)
    for k, K in [
        (WeisfeilerLehman(h), by_colour),
        (ShortestPath(), by_path),
        (RandomWalk(decay), np.array([[walks(g, h, decay) for h in X] for g in X])),
    ]:
        whole(k, X, K)
        check_kernel(k, X)
        check_renumbering(k, X, rng)
        with settings.using(block_mib=1e-3):
            np.testing.assert_allclose(k(X), K, rtol=1e-10, atol=1e-12)


def test_values_of_a_function_at_its_own_graphs_against_brute_force():
    "Tiles of a matrix whose rows and columns are alike, with its diagonal"
    rng = np.random.default_rng(3)
    X = [some_graph(rng) for _ in range(6)]
    decay = 0.5 / max(1.0, *(growth(g, 0) for g in X))
    K = np.array([[walks(g, h, decay) for h in X] for g in X])
    f, alpha = rn.RKHSFunction(RandomWalk(decay), X, np.arange(1.0, 7)), np.arange(1.0, 7)
    np.testing.assert_allclose(f(X), K @ alpha, rtol=1e-10)
    np.testing.assert_allclose(RandomWalk(decay)(X, list(X)), K, rtol=1e-10)


@pytest.mark.second_route("Subtree", "brute force over all fragments")
@pytest.mark.parametrize("seed", range(20))
def test_trees_against_brute_force(seed):
    rng = np.random.default_rng(seed)
    X, decay = [some_tree(rng) for _ in range(7)], float(rng.uniform(0.1, 1))
    K = np.array([[fragments(s, t, decay) for t in X] for s in X])
    whole(Subtree(decay), X, K)
    check_kernel(Subtree(decay), X)
    with settings.using(block_mib=1e-4):
        np.testing.assert_allclose(Subtree(decay)(X), K, rtol=1e-10)


@pytest.mark.parametrize("mib", [1e-3, 1e-2, 1.0])
def test_tiles_of_trees_against_brute_force(mib):
    "A function, whose tiles are rectangles, and forests that are cut in halves"
    rng = np.random.default_rng(5)
    X = [some_tree(rng) for _ in range(24)]
    K, alpha = np.array([[fragments(s, t, 0.4) for t in X] for s in X]), rng.normal(size=24)
    with settings.using(block_mib=mib):
        np.testing.assert_allclose(Subtree(0.4)(X), K, rtol=1e-12)
        np.testing.assert_allclose(Subtree(0.4)(X[:9], X[5:]), K[:9, 5:], rtol=1e-12)
        for Y in (X, X[3:20]):
            f = rn.RKHSFunction(Subtree(0.4), X, alpha)
            np.testing.assert_allclose(
                f(Y), (K @ alpha)[[X.index(t) for t in Y]], atol=1e-12 * K.max()
            )


# ------------------------------------------------------------------ edges

EMPTY, ONE, APART = Graph([], []), Graph([], "C"), Graph([], "CCN")
KERNELS = [WeisfeilerLehman(3), ShortestPath(), RandomWalk(0.1)]


@pytest.mark.parametrize("k", KERNELS, ids=str)
def test_graphs_without_edges(k):
    assert (k([EMPTY, EMPTY]) == 0).all() and k([EMPTY], [ONE]).shape == (1, 1)
    K = k([EMPTY, ONE, APART])
    rounds = {WeisfeilerLehman: 4, ShortestPath: 0, RandomWalk: 1}[type(k)]
    np.testing.assert_allclose(K, rounds * np.array([[0, 0, 0], [0, 1, 2], [0, 2, 5]]))
    check_kernel(k + Constant(1), [EMPTY, ONE, APART])
    np.testing.assert_allclose(k.normalized()([EMPTY, ONE])[0], 0)


def test_parts_of_a_graph_do_not_meet():
    "Two triangles and a hexagon have equal colours and walks; distances tell them apart"
    hexagon = Graph([(i, (i + 1) % 6) for i in range(6)], "C" * 6)
    triangles = Graph([(0, 1), (1, 2), (0, 2), (3, 4), (4, 5), (3, 5)], "C" * 6)
    for k in (WeisfeilerLehman(9), RandomWalk(0.2)):
        assert k.distance([hexagon], [triangles])[0, 0] < 1e-6
    assert ShortestPath()([hexagon, triangles]).tolist() == [[81.0, 36.0], [36.0, 36.0]]


def test_large_and_small_graphs_agree_on_distances():
    rng = np.random.default_rng(0)
    line = Graph([(i, i + 1) for i in range(99)], rng.choice(list("CN"), 100))
    small = [some_graph(rng) for _ in range(30)]
    X = [line, *small]
    found = [triples(g) for g in X]
    np.testing.assert_allclose(ShortestPath()(X), [[common(a, b) for b in found] for a in found])
    with settings.using(block_mib=1e-3):
        assert hops(X).shape[1] == hops(small).shape[1] + 4950


def test_a_hub_has_more_neighbours_than_a_number_has_digits():
    star = Graph([(0, i) for i in range(1, 400)], [0, *(i % 7 for i in range(1, 400))])
    other = Graph([(0, i) for i in range(1, 399)], [0, *(i % 7 for i in range(1, 399))])
    for g, h in ((star, star), (star, other)):
        assert WeisfeilerLehman(3)([g], [h])[0, 0] == common(colours(g, 3), colours(h, 3))


def test_deep_and_wide_trees():
    deep, height = "x", 1500
    for _ in range(height):
        deep = ("A", deep)
    i = np.arange(height)  # Δ(i, j) = ½ + … + ½^(min(i, j)), for i = j one term more at the bottom
    upper = (1 - 0.5 ** np.minimum(i[1:, None], i[1:])).sum() + (0.5 ** (i[1:] + 1)).sum()
    assert Subtree(0.5)([deep])[0, 0] == pytest.approx(upper + 0.5, rel=1e-12)
    wide = ("A", *("x" for _ in range(500)))
    assert Subtree(0.5)([wide, ("A", "x")]).tolist() == [[0.5, 0.0], [0.0, 0.5]]
    twins = ("A", ("B", "x"), ("B", "x"))
    assert Subtree()([twins]).tolist() == [[4.0 + 4.0]]


def test_leaves_are_labels():
    assert Subtree()([("A", "x"), ("A", ("x",))]).tolist() == [[1, 1], [1, 1]]
    assert Subtree()([("A",), ("B",)]).tolist() == [[0, 0], [0, 0]]


def test_features_of_certain_graphs_count_the_parts_they_know():
    rng = np.random.default_rng(8)
    known, new = [some_graph(rng) for _ in range(8)], [some_graph(rng) for _ in range(30)]
    new += [Graph(g.edges, [("new", a) for a in g.labels], g.n) for g in new[:5]]
    for k in (WeisfeilerLehman(2), ShortestPath()):
        phi = k.feature_map(known)
        F, G = (phi(X).toarray() for X in (known, new))
        assert F.shape[1] == G.shape[1] == phi.dim and not G[30:].any()
        np.testing.assert_array_equal(F @ F.T, k(known))
        np.testing.assert_array_equal(G @ F.T, k(new, known))
        np.testing.assert_array_equal(np.vstack([phi([g]).toarray() for g in new]), G)
        seen = [
            np.flatnonzero(row) for row in F
        ]  # columns stand in the order in which graphs show them
        assert np.array_equal(seen[0], np.arange(len(seen[0])))


def test_rare_and_frequent_parts_are_counted_alike():
    rng = np.random.default_rng(9)
    F, G = (rng.poisson(np.r_[np.full(40, 0.01), np.full(10, 2.0)], (n, 50)) for n in (70, 90))
    np.testing.assert_array_equal(inner(sp.csr_matrix(F * 1.0), sp.csr_matrix(G * 1.0)), F @ G.T)
    rare = ((F > 0).sum(axis=0) * (G > 0).sum(axis=0))[:40]
    assert (rare == 1).any() and (rare > 1).any()


@pytest.mark.parametrize("codes", [[5, 3, 5, 9], [10**9, 7, 10**9, 10**9 + 1], []])
def test_codes_are_numbered_from_0_in_their_order(codes):
    again = sorted(set(codes))
    assert numbered(np.array(codes, dtype=int)).tolist() == [again.index(c) for c in codes]


def test_large_graphs_in_parts_and_in_any_order_of_their_nodes():
    rng = np.random.default_rng(1)
    order = rng.permutation(90)
    edges = [(order[i], order[i + 1]) for i in range(89) if i != 60] + [(order[0], order[30])]
    g = Graph(edges, rng.choice(list("CN"), 90))
    assert ShortestPath()([g])[0, 0] == common(triples(g), triples(g))
    assert hops([g]).shape[1] == sum(triples(g).values())


def test_the_growth_of_a_large_wheel():
    "1 + √n is the largest eigenvalue of a hub and n nodes on the rim, and 1 − √n the least"
    rim = [(i, i % 399 + 1) for i in range(1, 400)]
    wheel = Graph([(0, i) for i in range(1, 400)] + rim, "C" * 400)
    assert growth(wheel, 1e9) == 399.0**2
    assert growth(wheel, 1000.0) == pytest.approx((1 + 400**0.5) ** 2)


# ------------------------------------------------------------------ the walks' domain


def test_the_limit_of_the_decay():
    rng = np.random.default_rng(3)
    for _ in range(10):
        g = some_graph(rng)
        A = product(g, g)
        if not A.any():
            continue
        rho = np.linalg.eigvalsh(A)[-1]
        assert growth(g, 0.0) == pytest.approx(rho)
        RandomWalk(0.999 / rho)([ONE, g])
        with pytest.raises(
            ValueError, match=rf"decay = .* < {1 / rho:g}: the walks of X\[1\] grow"
        ):
            RandomWalk(1.001 / rho)([ONE, g])
    with pytest.raises(ValueError, match=r"Y\[0\]"):
        RandomWalk(1)([ONE], [Graph([(0, 1)], "CC")])


def test_near_the_limit_walks_are_still_right():
    g = Graph([(i, (i + 1) % 12) for i in range(12)] + [(0, 6)], "CN" * 6)
    for share in (0.9, 0.999, 1 - 1e-6):
        decay = share / growth(g, 0)
        assert RandomWalk(decay)([g])[0, 0] == pytest.approx(walks(g, g, decay), rel=1e-8)


def test_walks_that_floats_cannot_sum_are_refused():
    "A share of 1 − 1e-15 of the limit: conditions of 1e15 on a line of a thousand nodes"
    A, rho = sp.diags_array([np.ones(999)] * 2, offsets=[1, -1]).tocsr(), 2 * np.cos(np.pi / 1001)
    with pytest.raises(ConvergenceFailure, match="too near the limit of convergence"):
        solved(np.zeros(1000, int), A, (1 - 1e-15) / rho, 1)


def test_labels_are_not_needed_where_all_nodes_are_alike():
    rng = np.random.default_rng(5)
    X = [some_graph(rng) for _ in range(6)]
    alike, bare = [Graph(g.edges, ["a"] * g.n) for g in X], [Graph(g.edges, n=g.n) for g in X]
    for k in (ShortestPath(), RandomWalk(0.01)):
        np.testing.assert_allclose(k(bare), k(alike))
    assert Graph([(0, 4)]).n == 5 and Graph([]).n == 0


# ------------------------------------------------------------------ laws and mutants


class Unsorted(WeisfeilerLehman):
    def occurrences(self, graphs):
        names, found = {}, [(0, 0)][:0]
        for i, g in enumerate(graphs):
            near, colour = around(g), list(g.labels)
            for r in range(self.h + 1):
                found += [(i, names.setdefault((r, c), len(names))) for c in colour]
                colour = [(c, *(colour[u] for u in near[v])) for v, c in enumerate(colour)]
        return np.array(found).reshape(-1, 2).T


class Numbered(ShortestPath):
    def _gram(self, X, Y, xp):
        return np.array([[float(g.edges.sum() * h.edges.sum()) for h in Y] for g in X])


@pytest.mark.second_route("check_renumbering", "impostors refused")
@pytest.mark.parametrize(
    "mutant", [Unsorted(2), Numbered(), Numbered() + WeisfeilerLehman(1)], ids=str
)
def test_what_depends_on_the_numbers_of_nodes_is_refused(mutant):
    rng = np.random.default_rng(0)
    X = [some_graph(rng) for _ in range(9)]
    with pytest.raises(LawBroken, match="order of nodes"):
        check_renumbering(mutant, X)


class Leaning(ShortestPath):
    "Correct, but for a preference for graphs whose node 0 has a label"

    by = 0.0

    def _gram(self, X, Y, xp):
        first = [np.array([g.labels[0] == "C" for g in graphs], float) for graphs in (X, Y)]
        return super()._gram(X, Y, xp) + self.by * np.outer(*first)


def test_renumbering_refuses_three_times_its_tolerance(monkeypatch):
    rng = np.random.default_rng(0)
    X = [Graph([(0, 1), (1, 2)], labels) for labels in ("CCO", "COO", "OCO", "OOC")]
    size = ShortestPath().diag(X).max()
    monkeypatch.setattr(Leaning, "by", 0.3e-9 * size)
    check_renumbering(Leaning(), X, rng)
    monkeypatch.setattr(Leaning, "by", 3e-9 * size)
    with pytest.raises(LawBroken, match="order of nodes"):
        check_renumbering(Leaning(), X, rng)


def test_mutants_are_other_kernels():
    "Each slip changes the value of one small example, which is computed by hand"
    path = Graph([(0, 1), (1, 2)], "CCO")
    assert WeisfeilerLehman(1)([path])[0, 0] == 4 + 1 + 3  # not 5 · 2: rounds are counted apart
    assert ShortestPath()([path])[0, 0] == 3  # CC at 1, CO at 1, CO at 2: unordered pairs, once
    two = Graph([(0, 1)], "CC")
    assert RandomWalk(0.1)([two])[0, 0] == pytest.approx(4 / 0.9)  # 4 nodes, 4 · decay, …
    tree = ("S", ("A", "x"), ("B", "x"))
    assert Subtree(0.5)([tree])[0, 0] == 0.5 * 1.5**2 + 0.5 + 0.5


# ------------------------------------------------------------------ values and refusals


class Foreign:
    "As much of networkx.Graph as is read"

    def __init__(self, nodes, edges, directed=False):
        self.nodes, self.edges, self.directed = nodes, {e: {} for e in edges}, directed

    def is_directed(self):
        return self.directed

    def is_multigraph(self):
        return False

    def __iter__(self):
        return iter(self.nodes)


def test_graphs_of_networkx():
    foreign = Foreign(
        {"b": {"label": "C"}, "a": {"label": "O"}, 3: {"label": "C"}}, [("a", "b"), (3, "b")]
    )
    ours = Graph([(1, 0), (2, 0)], "COC")
    for k in KERNELS:
        np.testing.assert_allclose(k([foreign, ours]), np.full((2, 2), k([ours])[0, 0]))
    bare = Foreign({1: {}, 2: {}, 3: {}}, [(1, 2)])
    assert ShortestPath()([bare])[0, 0] == 1 and RandomWalk(0.1).diag([bare])[0] > 9
    with pytest.raises(ValueError, match="no labels"):
        WeisfeilerLehman(1)([bare])
    with pytest.raises(TypeError, match="undirected"):
        ShortestPath()([Foreign({}, [], directed=True)])
    with pytest.raises(TypeError, match="list of graphs"):
        ShortestPath()(bare)
    script = "import sys, rkhs_notes.graphs; print('networkx' in sys.modules)"
    assert (
        subprocess.run([sys.executable, "-c", script], capture_output=True, text=True).stdout
        == "False\n"
    )


def test_networkx_itself():
    nx = pytest.importorskip("networkx")
    g = nx.cycle_graph(5)
    assert ShortestPath()([g])[0, 0] == 50
    nx.set_node_attributes(g, "C", "label")
    assert WeisfeilerLehman(1)([g])[0, 0] == 50


@pytest.mark.parametrize("kernel", KERNELS, ids=str)
def test_what_a_graph_of_networkx_holds_beyond_ours_is_told(kernel):
    nx = pytest.importorskip("networkx")

    def refused(change, words, kind=ValueError):
        g = nx.path_graph(["a", "b", "c"])
        nx.set_node_attributes(g, "C", "label")
        g = change(g) or g
        with pytest.raises(kind, match=words):
            kernel([nx.Graph(), g] if "X.1" in words else [g])

    refused(
        lambda g: g.nodes["b"].pop("label") and None,
        "0.: 1 of 3 nodes have no attribute 'label', .*'b'",
    )
    refused(lambda g: g.nodes["b"].update(label=float("nan")), "0.: 1 of 3 nodes have no attribute")
    refused(
        lambda g: g.add_edge("c", "c"), "0.: the node .'c'. is joined to itself.*selfloop_edges"
    )
    refused(
        lambda g: g.edges["b", "c"].update(weight=2.5),
        "0.: the edge ...b., .c... has a weight.*one",
    )
    refused(nx.DiGraph, "undirected.*forgets directions", TypeError)
    refused(nx.MultiGraph, "single edges.*joins parallel edges", TypeError)
    refused(lambda g: g.nodes["b"].update(label=[1]), "looked up", TypeError)
    plain, ones = nx.path_graph(3), nx.path_graph(3)
    for g in (plain, ones):
        nx.set_node_attributes(g, "C", "label")
    nx.set_edge_attributes(ones, 1.0, "weight")
    assert kernel([ones])[0, 0] == kernel([plain])[0, 0]


def test_labels_of_some_nodes_are_refused_by_node():
    for gap in (None, np.nan, pandas.NA, pandas.NaT):
        with pytest.raises(ValueError, match="labels: 1 of 2 nodes have none, the first is node 1"):
            Graph([(0, 1)], ["C", gap])
    assert Graph([(0, 1)], ["nan", "C"]).labels == ("nan", "C")


def test_walks_agree_where_colours_differ():
    hexagon = Graph([(i, (i + 1) % 6) for i in range(6)], "C" * 7)
    spider = Graph([(0, 1), (1, 2), (0, 3), (3, 4), (0, 5), (5, 6)], "C" * 7)
    for decay in (0.05, 0.1, 0.24):
        K = RandomWalk(decay)([hexagon, spider])
        np.testing.assert_allclose(K, 49 + decay * 144 / (1 - 4 * decay), rtol=1e-9)
    assert WeisfeilerLehman(1).distance([hexagon], [spider])[0, 0] > 1


def test_a_graph_is_a_value():
    g = Graph(np.array([[1, 0], [1, 2]]), np.array(["C", "N", "C"]))
    for same in (
        Graph([(2, 1), (0, 1)], ["C", "N", "C"]),
        copy.deepcopy(g),
        pickle.loads(pickle.dumps(g)),
    ):
        assert g == same and len({g, same}) == 1
    assert g != Graph([(0, 1)], "CNC") and g.labels == tuple("CNC")
    assert "\n" not in repr(g) and g.edges.tolist() == [[0, 1], [1, 2]]
    with pytest.raises(AttributeError):
        g.labels = "CCC"
    with pytest.raises(ValueError):
        g.edges[0] = 1


@pytest.mark.parametrize(
    "edges, labels, error",
    [
        ([(0, 0)], "C", ValueError),
        ([(0, 1), (1, 0)], "CC", ValueError),
        ([(0, 2)], "CC", ValueError),
        ([(0, -1)], "CC", ValueError),
        ([(0, 1.5)], "CC", ValueError),
        ([(0, 1, 2)], "CCC", ValueError),
        ([(0, 1), (0,)], "CC", ValueError),
        ("ab", "CC", ValueError),
        (3, "CC", TypeError),
        ([(0, 1)], [[1], [2]], TypeError),
        ([(0, 1)], [None, None], ValueError),
        ([(0, 1)], 7, TypeError),
    ],
)
def test_what_is_no_graph(edges, labels, error):
    with pytest.raises(error, match="edges|labels"):
        Graph(edges, labels)


def test_the_number_of_nodes_that_is_wrong_is_named():
    with pytest.raises(ValueError, match="labels make 2 nodes, and n = 5"):
        Graph([(0, 1)], "AB", 5)
    with pytest.raises(ValueError, match="edges name node 4, labels and n make 2 nodes"):
        Graph([(0, 4)], "AB", 2)
    assert Graph([(0, 1)], "AB", 2).n == 2 and Graph([(0, 1)], n=5).n == 5


TRIANGLE = Graph([(0, 1), (1, 2), (0, 2)], "CNO")


NO_GRAPHS = [TRIANGLE, None, "CNO", ["CNO"], [TRIANGLE, None], [], 3.0, np.ones((3, 2)), [1.0],
             [TRIANGLE, Graph([(0, 1)])], {"a": TRIANGLE}, [("S", "x")]]  # fmt: skip
NO_TREES = [("S", "x"), "S", ["S"], [("S", 1)], [("S", ("NP", 3.0))], [()], [("S", ())], None, 3.0,
            [["S", "x"]], [TRIANGLE], [(("S",), "x")], np.ones((2, 2)), []]  # fmt: skip


@pytest.mark.parametrize("k", KERNELS, ids=str)
@pytest.mark.parametrize("bad", NO_GRAPHS)
def test_what_is_no_list_of_graphs(k, bad):
    with pytest.raises((TypeError, ValueError), match="X|Graph"):
        k(bad)


@pytest.mark.parametrize("bad", NO_TREES)
def test_what_is_no_list_of_trees(bad):
    with pytest.raises((TypeError, ValueError), match="X"):
        Subtree()(bad)


@pytest.mark.parametrize("make, bad", [(WeisfeilerLehman, -1), (WeisfeilerLehman, 1.5), (RandomWalk, 0),
                                       (RandomWalk, np.inf), (Subtree, 0), (Subtree, "x")])  # fmt: skip
def test_parameters_out_of_range(make, bad):
    with pytest.raises((TypeError, ValueError), match="h|decay"):
        make(bad)


def test_a_file_of_graphs(tmp_path):
    "Nodes in any order, edges once or in both directions"
    y = np.array(["no", "yes", "no"])
    owner, label = np.array([2, 0, 0, 2, 0]), np.array([7, 5, 6, 8, 5])
    ends = np.array([[0, 3], [2, 1], [1, 2], [4, 2]])  # graph 0: nodes 1, 2, 4; graph 2: nodes 0, 3
    np.savez(tmp_path / "some.npz", edge_index=ends.T, graph_id=owner, node_label=label, y=y)
    with settings.using(data_dir=str(tmp_path)):
        data = rn.load("some")
    graphs = [Graph(edges, labels) for edges, labels in data.X]
    assert graphs == [Graph([(0, 1), (1, 2)], [5, 6, 5]), Graph([], []), Graph([(0, 1)], [7, 8])]
    assert (
        data.y.tolist() == [0, 1, 0]
        and data.target_names == ("no", "yes")
        and "graphs" in repr(data)
    )


def test_nodes_of_a_file_of_graphs_keep_their_order(tmp_path):
    rng = np.random.default_rng(0)
    owner, label = rng.integers(0, 3, 3000), rng.permutation(3000)
    ends = np.stack([rng.permutation(np.flatnonzero(owner == 1)) for _ in range(2)])
    np.savez(tmp_path / "some.npz", edge_index=ends, graph_id=owner, node_label=label, y=[0, 1, 0])
    with settings.using(data_dir=str(tmp_path)):
        X = rn.load("some").X
    assert [labels for _, labels in X] == [tuple(label[owner == i].tolist()) for i in range(3)]
    told = {frozenset(np.array(X[1, 1])[edge].tolist()) for edge in X[1, 0]}
    assert told == set(map(frozenset, label[ends.T].tolist())) and not len(X[0, 0])


def test_they_compose():
    rng = np.random.default_rng(1)
    X = [some_graph(rng) for _ in range(9)]
    a, b, c = WeisfeilerLehman(2), ShortestPath(), RandomWalk(0.01)
    k = 2 * a.normalized() + b * c + Constant(1)
    K = 2 * a.normalized()(X) + b(X) * c(X) + 1
    np.testing.assert_allclose(k(X), K)
    assert eval(repr(k), vars(rn) | {"WeisfeilerLehman": WeisfeilerLehman, "ShortestPath": ShortestPath,
                                     "RandomWalk": RandomWalk, "Constant": Constant}) == k  # fmt: skip
    np.testing.assert_allclose(a.gaussian_of(3.0)(X), np.exp(-(a.distance(X) ** 2) / 18))
    assert k.get_params()["k1__k__k__h"] == 2
    assert k.with_params(k1__k__k__h=0)(X).shape == (9, 9) and pickle.loads(pickle.dumps(k)) == k
    U = united(X)
    assert len(U.owner) == sum(g.n for g in X)


@pytest.mark.parametrize("k", [ShortestPath(), RandomWalk(0.1)], ids=str)
def test_graphs_with_labels_and_without_do_not_meet(k):
    labelled, bare = [Graph([(0, 1)], ["a", "b"])], [Graph([(0, 1)])]
    f = rn.ridge(k, labelled, [1.0], lam=0.1)
    for ask in (f, lambda X: k(labelled, X)):
        with pytest.raises(ValueError, match="some of these graphs have labels and others"):
            ask(bare)
    assert np.isfinite(k(bare, [Graph([], None, 1)])).all() and f(labelled) > 0
    assert k(labelled, [Graph([], None, 0)]) == 0  # without nodes: without labels that lack
