"""Kernels on texts, sets and models: brute force, every kernel × every solver, bad input."""

import math
import tracemalloc
import warnings
from collections import Counter
from fractions import Fraction
from functools import cache
from itertools import combinations, product

import numpy as np
import pytest
from scipy.stats import multivariate_normal

import rkhs_notes as rn
from rkhs_notes import (
    Constant,
    Gaussian,
    Linear,
    NoFiniteFeatureMap,
    Precomputed,
    Tensor,
    check_kernel,
)
from rkhs_notes.base.objects import taken
from rkhs_notes.deeper.structured import (
    Blended,
    Fisher,
    GaussianMixture,
    MarkovChain,
    Mismatch,
    SetKernel,
    Spectrum,
    Subsequence,
    fisher_information,
    markov_chain,
)
from rkhs_notes.engines.features.feature_maps import check_feature_map, feature_map
from rkhs_notes.engines.kernels.bags import groups_of_bags
from rkhs_notes.engines.kernels.gram import AKernel
from rkhs_notes.kernels import Kernel
from structured_cases import CASES, CHAIN, MIXTURE, texts

# ------------------------------------------------------------------ brute force


def occurrences(text, p):
    return Counter(text[i : i + p] for i in range(len(text) - p + 1))


def by_words(s, t, p):
    ours, theirs = occurrences(s, p), occurrences(t, p)
    return sum(n * theirs[word] for word, n in ours.items())


def by_close_words(s, t, p, m, alphabet):
    def differ(u, v):
        return sum(a != b for a, b in zip(u, v, strict=True))

    def near(text, u):
        return sum(n for word, n in occurrences(text, p).items() if differ(word, u) <= m)

    return sum(near(s, u) * near(t, u) for u in map("".join, product(alphabet, repeat=p)))


def by_subsequences(s, t, p, decay):
    total = 0.0
    for i in combinations(range(len(s)), p):
        for j in combinations(range(len(t)), p):
            if all(s[a] == t[b] for a, b in zip(i, j, strict=True)):
                total += decay ** (i[-1] - i[0] + 1 + j[-1] - j[0] + 1)
    return total


def drawn(rng):
    "(kernel, definition, texts): parameters, alphabets and lengths at random, empty texts among them"
    alphabet = "acgt"[: rng.integers(1, 5)]
    p, m, decay = int(rng.integers(1, 5)), int(rng.integers(0, 4)), float(rng.uniform(0.05, 1))
    X = ["".join(rng.choice(list(alphabet), rng.integers(0, 9))) for _ in range(5)]
    return X, {
        Spectrum(p): lambda s, t: by_words(s, t, p),
        Blended(p): lambda s, t: sum(by_words(s, t, q) for q in range(1, p + 1)),
        Mismatch(p, m, alphabet): lambda s, t: by_close_words(s, t, p, m, alphabet),
        Subsequence(p, decay): lambda s, t: by_subsequences(s, t, p, decay),
    }


@pytest.mark.second_route(
    "Blended", "Mismatch", "Spectrum", "Subsequence", "the definition, word by word"
)
@pytest.mark.parametrize("seed", range(12))
def test_values_are_those_of_the_definition(seed):
    X, kernels = drawn(np.random.default_rng(seed))
    for k, definition in kernels.items():
        K = np.array([[definition(s, t) for t in X] for s in X], float)
        same = {"texts": X, "bytes": [s.encode() for s in X], "tuples": [tuple(s) for s in X]}
        for points in [X] if isinstance(k, Mismatch) else same.values():
            np.testing.assert_allclose(k(points), K, rtol=1e-12, err_msg=str(k))
            np.testing.assert_allclose(k(points, points[:2]), K[:, :2], rtol=1e-12)
            np.testing.assert_allclose(k.diag(points), K.diagonal(), rtol=1e-12)
            np.testing.assert_allclose(k.pairs(points[:3], points[2:]), K.diagonal(2), rtol=1e-12)
        check_kernel(k, X)


EDGES = {
    "nothing at all": ["", ""],
    "too short": ["a", "ac", ""],
    "one symbol": ["aaaa", "aa", "aaaaa"],
}


@pytest.mark.parametrize("edge", EDGES)
def test_edges(edge):
    X = EDGES[edge]
    for k, definition in {
        Spectrum(3): lambda s, t: by_words(s, t, 3),
        Spectrum(10**9): lambda s, t: 0.0,
        Blended(3): lambda s, t: sum(by_words(s, t, q) for q in (1, 2, 3)),
        Mismatch(3, 1): lambda s, t: by_close_words(s, t, 3, 1, "acgt"),
        Subsequence(3, 0.5): lambda s, t: by_subsequences(s, t, 3, 0.5),
        Subsequence(4, 1e-9): lambda s, t: by_subsequences(s, t, 4, 1e-9),
    }.items():
        K = np.array([[definition(s, t) for t in X] for s in X], float)
        np.testing.assert_allclose(k(X), K, rtol=1e-12, err_msg=str(k))
        np.testing.assert_allclose(k.diag(X), K.diagonal(), rtol=1e-12)
        check_kernel(k, X)
        check_kernel(k.normalized(), X)


def test_long_words_and_long_texts():
    "Words whose numbers outgrow 64 bits; subsequences in slabs; letters beyond 16 bits"
    rng = np.random.default_rng(0)
    one = "".join(rng.choice(list("αβγ𝔊tea"), 300))
    X = [one, one[:200] + one, one[150:], "".join(rng.choice(list("αβγ"), 100))]
    for p in (1, 7, 40, 120):
        K = [[by_words(s, t, p) for t in X] for s in X]
        np.testing.assert_array_equal(Spectrum(p)(X), K)
    count = Subsequence(2, 1.0)(X)  # Σ over pairs of letters of how often they stand in this order
    before = [Counter(pair for i, b in enumerate(s) for pair in product(s[:i], b)) for s in X]
    assert count[0, 3] == sum(n * before[3][pair] for pair, n in before[0].items())


def test_memory_stays_sparse():
    rng = np.random.default_rng(0)
    X = ["".join(row) for row in rng.choice(list("acgt"), size=(400, 100))]
    phi = Spectrum(8).feature_map(X)(X)
    assert phi.nnz <= 400 * 93 and phi.data.nbytes + phi.indices.nbytes < 20 * phi.nnz
    np.testing.assert_allclose((phi @ phi.T).toarray(), Spectrum(8)(X))


# ------------------------------------------------------------------ every kernel × every solver


class Bare(Kernel):
    "A kernel of which nothing is known but _gram and _points"

    k: AKernel

    def _points(self, X, name):
        return self.k.points(X, name)

    def _gram(self, X, Y, xp):
        return self.k._gram(X, Y, xp)


def seen(f, Z):
    "The values of a function and its norm"
    return np.append(np.ravel(f(Z)), f.norm())


n, m = 18, 5
U = np.random.default_rng(1).normal(size=(n, 1))
Y = np.sin(3 * U[:, 0]) + np.arange(n) % 2
LABELS, THREE = np.arange(n) % 2, np.arange(n) % 3
NUMBERS = Gaussian(1.0)

SOLVERS = {
    "ridge": lambda k, X, Z: seen(rn.ridge(k, X, Y, 0.3), Z),
    "ridge, offset": lambda k, X, Z: rn.ridge(k, X, Y, 0.3, offset=True)(Z),
    "ridge_path": lambda k, X, Z: rn.ridge_path(k, X, Y).loo,
    "minimize_risk": lambda k, X, Z: rn.minimize_risk(k, X, Y, rn.huber(0.5), 0.3, tol=1e-10)(Z),
    "gaussian_process": lambda k, X, Z: np.concatenate(
        [(g := rn.gaussian_process(k, X, Y, 0.2)).mean(Z), g.var(Z)]
    ),
    "gp_classification": lambda k, X, Z: rn.gp_classification(k, X, LABELS).probability(Z),
    "svc": lambda k, X, Z: rn.svc(k, X, LABELS, 0.3, tol=1e-9).decision(Z),
    "svr": lambda k, X, Z: rn.svr(k, X, Y, 0.3, tol=1e-9)(Z),
    "nu_svc": lambda k, X, Z: rn.nu_svc(k, X, LABELS, 0.95, tol=1e-9).decision(Z),
    "one_class": lambda k, X, Z: rn.one_class(k, X, 0.3, tol=1e-9).decision(Z),
    "svc_multiclass": lambda k, X, Z: rn.svc_multiclass(k, X, THREE, 0.3, tol=1e-9).predict(Z),
    "kernel_sgd": lambda k, X, Z: rn.kernel_sgd(k, X, 2.0 * LABELS - 1, steps=50, step_size=0.01)(
        Z
    ),
    "kernel_pca": lambda k, X, Z: (t := rn.kernel_pca(k, X, 2).transform(Z)) @ t.T,
    "kernel_cca": lambda k, X, Z: rn.kernel_cca(k, NUMBERS, X, U, 0.5, 2).correlations,
    "kernel_mutual_information": lambda k, X, Z: rn.kernel_mutual_information(
        [k, NUMBERS], [X, U], 0.5
    ),
    "mean_embedding": lambda k, X, Z: seen(rn.mean_embedding(k, X), Z),
    "compress": lambda k, X, Z: seen(rn.ridge(k, X, Y, 0.3).compress(1e-12), Z),
    "herding": lambda k, X, Z: k(rn.herding(k, X, 4), Z),
    "witness": lambda k, X, Z: seen(rn.witness(k, X, Z), Z),
    "mmd2_u": lambda k, X, Z: rn.mmd2_u(k, X, Z),
    "mmd_test": lambda k, X, Z: [(t := rn.mmd_test(k, X, Z, 99, rng=0)).statistic, t.pvalue],
    "mmd_test, spectral": lambda k, X, Z: rn.mmd_test(k, X, Z, 99, null="spectral", rng=0).pvalue,
    "mmd_test_aggregated": lambda k, X, Z: (
        rn.mmd_test_aggregated([k, 2 * k], X, Z, 99, rng=0).pvalue
    ),
    "hsic": lambda k, X, Z: rn.hsic(k, NUMBERS, X, U),
    "hsic_test": lambda k, X, Z: rn.hsic_test(k, NUMBERS, X, U, 99, rng=0).pvalue,
    "interpolate": lambda k, X, Z: rn.RKHS(k).power_function(X)(Z),
    "mercer_expansion": lambda k, X, Z: (
        rn.mercer_expansion(k, rn.empirical(k.points(X)), 3).eigenvalues
    ),
    "nystrom_features": lambda k, X, Z: (f := rn.nystrom_features(k, X, n))(Z) @ f(X).T,
    "median": lambda k, X, Z: rn.median_bandwidth(X, k=k),
    "distance": lambda k, X, Z: k.distance(X, Z),
    "cosines": lambda k, X, Z: rn.ridge(k.normalized(), X, Y, 0.3)(Z),
}
LOOSE = {"svc": 1e-4, "svr": 1e-4, "nu_svc": 1e-4, "one_class": 1e-4, "minimize_risk": 1e-4}


def rows(X, part):
    return taken(X, part) if isinstance(X, np.ndarray) else X[part]


@cache
def split_points(case):
    "(X, Z, their Gram matrix) of a case"
    k, draw = CASES[case]
    points = draw(np.random.default_rng(3), n + m)
    return rows(points, slice(0, n)), rows(points, slice(n, None)), k(points)


@cache
def by_row_numbers(case, solver):
    "What a solver makes of the Gram matrix alone"
    return SOLVERS[solver](Precomputed(split_points(case)[2]), np.arange(n), np.arange(n, n + m))


KINDS = (  # one case for each kind of points: of a bare kernel solvers see nothing else
    "spectrum", "spectrum of bytes", "spectrum of tuples", "text and number", "set", "set of texts",
    "fisher, mixture", "colours", "fragments", "graph and number",
)  # fmt: skip


@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize("case, bare", [*product(CASES, [False]), *product(KINDS, [True])])
def test_every_kernel_in_every_solver(case, bare, solver):
    "The same numbers as for row numbers of the Gram matrix"
    k, (X, Z, _) = CASES[case][0], split_points(case)
    ours, theirs = SOLVERS[solver](Bare(k) if bare else k, X, Z), by_row_numbers(case, solver)
    size = max(1.0, np.abs(np.asarray(theirs, float)).max())
    np.testing.assert_allclose(ours, theirs, atol=LOOSE.get(solver, 1e-6) * size)


# ------------------------------------------------------------------ features


BOTH = Spectrum(2).normalized() + 2 * Spectrum(1) * Blended(2) ** 2


MAPPED = [Spectrum(3), Blended(2), BOTH, Mismatch(2, 1), 3 * Mismatch(2, 0).normalized()]


@pytest.mark.parametrize("k", MAPPED, ids=str)
@pytest.mark.parametrize("kind", [str, str.encode, tuple], ids=["text", "bytes", "tuple"])
def test_columns_of_some_texts(k, kind):
    "The map made for some texts gives k between these and any others (Proposition 13.3)"
    fixed = "Mismatch" in str(k)
    known, other = (
        list(map(str if fixed else kind, texts(np.random.default_rng(i), 8))) for i in (0, 1)
    )
    phi = k.feature_map(None if fixed else known)
    check_feature_map(phi, k, known)
    np.testing.assert_allclose((phi(other) @ phi(known).T).toarray(), k(other, known), rtol=1e-12)
    assert phi.dim == phi(other).shape[1] and "ℝ^" in repr(phi)


def test_columns_of_pairs_and_bags():
    rng = np.random.default_rng(0)
    pairs = list(zip(texts(rng, 9), rng.normal(size=9), strict=True))
    k = Tensor(Spectrum(2), Linear() + rn.Constant(1))
    F = k.feature_map(pairs)(pairs)
    np.testing.assert_allclose((F @ F.T).toarray(), k(pairs))
    bags = [texts(rng, 3), texts(rng, 1), ["acgt", "", "ac"]]
    k = SetKernel(Spectrum(1))
    check_feature_map(feature_map(k, k.points(bags)), k, k.points(bags))
    plane = [rng.normal(size=(i, 2)) for i in (1, 4, 2)]
    check_feature_map(SetKernel(Linear()).feature_map(2), SetKernel(Linear()), plane)
    for k in (Spectrum(2), Subsequence(2, 0.5), 2 * Blended(2)):
        with pytest.raises(NoFiniteFeatureMap):
            k.feature_map()


# ------------------------------------------------------------------ bags, pairs, models


def test_pairs_are_a_tuple_of_samples_or_a_list():
    rng = np.random.default_rng(0)
    X, U = texts(rng, 6), rng.normal(size=(6, 2))
    k = Tensor(Spectrum(2), Gaussian(1.0))
    K = Spectrum(2)(X) * Gaussian(1.0)(U)
    np.testing.assert_allclose(k((X, U)), K)
    np.testing.assert_allclose(k(list(zip(X, U, strict=True))), K)
    np.testing.assert_allclose(k(k.points((X, U)), (X[:2], U[:2])), K[:, :2])
    bags = [rng.normal(size=(3, 2)) for _ in range(6)]
    both = Tensor(SetKernel(Gaussian(1.0)), Spectrum(1))
    np.testing.assert_allclose(both((bags, X)), SetKernel(Gaussian(1.0))(bags) * Spectrum(1)(X))
    for bad in ((X, U[:2]), X, [("a", 1.0, 2.0)], (X, X)):
        with pytest.raises((TypeError, ValueError)):
            k(bad)


def test_diagonals_of_many_bags_are_those_of_each_alone():
    rng = np.random.default_rng(0)
    bags = [rng.normal(size=(m, 2)) for m in (*rng.integers(1, 40, 60), 400, 1, 1)]
    groups, k = groups_of_bags(bags, bags), SetKernel(Gaussian(1.0))
    assert len(groups) > 5 and [i for some in groups for i in range(*some.indices(99))] == list(
        range(63)
    )
    np.testing.assert_allclose(k.diag(bags), [k([bag])[0, 0] for bag in bags], rtol=1e-12)


def test_kernels_of_bags_are_summed_up_in_blocks_of_members():
    "2000 members: their Gram matrix alone takes 31 MiB"
    draw = np.random.default_rng(0)
    bags, k = [draw.normal(size=(20, 2)) for _ in range(100)], SetKernel(Gaussian(1.0))
    whole = k(bags)
    with rn.settings.using(block_mib=1):
        tracemalloc.start()
        in_blocks = k(bags)
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
    assert peak < 4 * 2**20
    np.testing.assert_allclose(in_blocks, whole, rtol=1e-12)


def test_a_constant_stands_before_or_after_a_kernel_of_bags():
    k = SetKernel(Gaussian(1.0))
    bags = list(np.random.default_rng(1).normal(size=(3, 4, 2)))  # of one size: no array of points
    for joined in (2.0 * k, Constant(2.0) * k, k * Constant(2.0)):
        np.testing.assert_allclose(joined(bags), 2 * k(bags), rtol=1e-15)
    for joined in (Constant(2.0) + k, k + Constant(2.0)):
        np.testing.assert_allclose(joined(bags), 2 + k(bags), rtol=1e-15)


@pytest.mark.second_route("SetKernel", "the maximum mean discrepancy")
def test_the_distance_of_bags_is_their_mmd():
    rng = np.random.default_rng(0)
    bags = [rng.normal(size=(i, 2)) for i in (1, 3, 5)]
    k = Gaussian(0.7)
    D = SetKernel(k).distance(bags) ** 2
    np.testing.assert_allclose(D, [[rn.mmd2_v(k, P, Q) for Q in bags] for P in bags], atol=1e-12)
    with rn.settings.using(block_mib=1e-4):
        np.testing.assert_allclose(SetKernel(k)(bags * 4), np.tile(SetKernel(k)(bags), (4, 4)))
    np.testing.assert_allclose(SetKernel(k)(np.stack([bags[1]] * 2))[0, 1], k(bags[1]).mean())


def test_words_whose_numbers_are_beyond_64_bits_stay_different():
    "Five symbols of 65 536: the first would be lost"
    letters = "".join(map(chr, range(0x20000, 0x20000 + 2**16)))
    ending = letters[-4:]
    X = [letters, letters[1] + ending, letters[2] + ending]
    np.testing.assert_array_equal(Spectrum(5)(X)[1:, 1:], np.eye(2))


def test_counts_beyond_the_whole_numbers_of_float32_are_exact():
    m, n = 5001, 5003  # whose product is odd and above 2^24
    assert Spectrum(1)(["a" * m, "a" * n])[0, 1] == m * n


def test_long_texts_under_a_strong_decay_are_within_the_floats():
    "decay^(−400) is not; the value is, by the steps that pairs take"
    rng, k = np.random.default_rng(0), Subsequence(2, 0.1)
    X, Y = texts(rng, 3, 200, 210), texts(rng, 3, 200, 210)
    np.testing.assert_allclose(k(X, Y).diagonal(), k.pairs(X, Y), rtol=1e-12)
    assert (k.pairs(X, Y) > 0).all()


def test_counts_beyond_the_floats_under_weights_that_are_not():
    "p places of n that span s, with both ends: comb(s − 2, p − 2) of them, at n − s + 1 places"
    n, p, decay = 540, 250, Fraction(9, 10)
    spans = range(p, n + 1)
    once = sum((n - s + 1) * math.comb(s - 2, p - 2) * decay**s for s in spans)
    got = Subsequence(p, 0.9)(["a" * n], ["a" * n, "b" * n])
    np.testing.assert_allclose(got, [[float(once**2), 0.0]], rtol=1e-10)


@pytest.mark.second_route("MarkovChain", "markov_chain", "steps, counted by hand")
def test_scores_or_steps_of_a_chain_are_shares_with_the_prior_added():
    "a→a once, a→b once in aab; from b nothing is known"
    for prior in (0.5, 2.0):
        step = markov_chain(["aab"], "ab", prior).step
        np.testing.assert_allclose(step, [[0.5, 0.5], [0.5, 0.5]])
        step = markov_chain(["aab", "ab"], "ab", prior).step
        np.testing.assert_allclose(step[0], np.array([1 + prior, 2 + prior]) / (3 + 2 * prior))


@pytest.mark.second_route("Fisher", "fisher_information", "the rank that NumPy counts")
def test_scores_of_the_chain_are_centred_counts():
    rng = np.random.default_rng(0)
    X = texts(rng, 20, 20, 40)
    chain = markov_chain(X, prior=0.5)
    S = chain.score(X).reshape(20, 4, 4)
    np.testing.assert_allclose(S.sum(axis=2), 0, atol=1e-12)
    centred = chain.steps_of(X) - S
    counts = Mismatch(2, 0).feature_map()(X).toarray()
    np.testing.assert_allclose((S + centred).reshape(20, 16), counts)
    information = fisher_information(chain, X)
    assert np.isclose(
        Fisher(chain, information).diag(X).mean(), np.linalg.matrix_rank(information, tol=1e-9)
    )
    check_kernel(Fisher(chain, information), X)
    assert Fisher(chain) == Fisher(MarkovChain("acgt", chain.step)) and hash(Fisher(chain))


class Turned:
    "A chain in other parameters"

    def __init__(self, chain, J):
        self.points, self.score = chain.points, lambda X: chain.score(X) @ J


def test_a_singular_information_forgets_the_parameters_of_its_own_points_only():
    rng = np.random.default_rng(1)
    X = texts(rng, 30, 30, 60)
    chain, J = markov_chain(X, prior=0.5), rng.normal(size=(16, 16))
    models = chain, Turned(chain, J)
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # rank 12: all that a score can have
        whole = [Fisher(m, fisher_information(m, X))(X[:9]) for m in models]
        few = [Fisher(m, fisher_information(m, X[:5])) for m in models]
        inside = [k(X[:5]) for k in few]
    np.testing.assert_allclose(*whole, atol=1e-6)
    np.testing.assert_allclose(*inside, atol=1e-6)
    with pytest.warns(
        RuntimeWarning, match="4 of 4 scores leave the range of the information, of rank 5"
    ):
        outside = [k(X[5:9]) for k in few]
    assert np.abs(outside[0] - outside[1]).max() > 0.1


@pytest.mark.second_route("GaussianMixture", "finite differences of SciPy's density")
def test_scores_of_a_mixture_are_slopes_of_its_density():
    weights, means, widths = (
        np.array([1.0, 2.0]),
        np.array([[0.0, 0.5], [1.0, 2.0]]),
        np.array([1.0, 0.5]),
    )
    X, step = np.random.default_rng(1).normal(size=(6, 2)), 1e-5

    def log_density(logs, means):
        share = np.exp(logs) / np.exp(logs).sum()
        parts = [
            multivariate_normal(m, w**2 * np.eye(2)).pdf(X)
            for m, w in zip(means, widths, strict=True)
        ]
        return np.log(share @ parts)

    slopes, logs = [], np.log(weights)
    for move in np.eye(6) * step:
        of = [log_density(logs + s * move[:2], means + s * move[2:].reshape(2, 2)) for s in (1, -1)]
        slopes.append((of[0] - of[1]) / (2 * step))
    scores = GaussianMixture(weights, means, widths).score(X)
    np.testing.assert_allclose(scores, np.transpose(slopes), atol=1e-8)


def test_steps_of_a_chain_by_hand():
    chain = markov_chain(["aab", "ab"], "ab", prior=3.0)
    np.testing.assert_allclose(chain.step, [[4 / 9, 5 / 9], [0.5, 0.5]])


def test_the_median_distance_of_any_kernel():
    X = texts(np.random.default_rng(0), 9)
    k = Spectrum(2)
    D = k.distance(X)[np.triu_indices(9, 1)]
    assert rn.median_bandwidth(X, k=k) == np.median(D)
    assert (
        rn.median_bandwidth([0.0, 1.0, 3.0], k=Linear())
        == rn.median_bandwidth([0.0, 1.0, 3.0])
        == 2.0
    )
    with pytest.raises(TypeError, match="X"):
        rn.median_bandwidth([1.0, 2.0], k=k)


# ------------------------------------------------------------------ bad input

BAD = {
    "one bare text": (lambda: Spectrum(2)("acgt"), TypeError, "even of one"),
    "one bare text of a mismatch": (lambda: Mismatch(2)("acgt"), TypeError, "even of one"),
    "bare bytes": (lambda: Subsequence(2, 0.5)(b"acgt"), TypeError, "even of one"),
    "two kinds": (lambda: Spectrum(2)(["a", b"a"]), TypeError, r"X\[1\] is of type bytes"),
    "a number among texts": (lambda: Spectrum(2)(["a", 3]), TypeError, r"X\[1\] is of type int"),
    "numbers": (lambda: Blended(2)([1.0, 2.0]), TypeError, "float"),
    "a table": (lambda: Blended(2)(np.ones((3, 2))), TypeError, "ndarray"),
    "nothing": (lambda: Spectrum(2)([]), ValueError, "no point"),
    "symbols without hash": (lambda: Spectrum(2)([("a", ["b"])]), TypeError, "hashable"),
    "kinds of two samples": (
        lambda: Spectrum(1)(["a"]) @ Spectrum(1)(["a"], [3]),
        TypeError,
        r"Y\[0\]",
    ),
    "capitals": (lambda: Mismatch(2)(["ACGT"]), ValueError, "outside"),
    "alphabet twice a": (lambda: Mismatch(2, 1, "aa"), TypeError, "alphabet"),
    "too many words": (lambda: Mismatch(40, 1), ValueError, "length = 40: .* < 31, as 4.length"),
    "length 0": (lambda: Spectrum(0), ValueError, "length"),
    "decay 0": (lambda: Subsequence(2, 0.0), ValueError, "decay"),
    "decay above 1": (lambda: Subsequence(2, 1.5), ValueError, "decay"),
    "an empty bag": (
        lambda: SetKernel(Linear())([np.ones((2, 1)), np.ones((0, 1))]),
        ValueError,
        r"X\[1\]",
    ),
    "bags of two planes": (
        lambda: SetKernel(Linear())([np.ones((2, 1)), np.ones((2, 3))]),
        ValueError,
        r"X\[1\]",
    ),
    "a table of bags": (lambda: SetKernel(Linear())(np.ones((2, 3))), TypeError, "list of bags"),
    "no model": (lambda: Fisher(3.0), TypeError, "score"),
    "information of another size": (
        lambda: Fisher(CHAIN, np.eye(3))(["acgt"]),
        ValueError,
        "information",
    ),
    "indefinite information": (lambda: Fisher(CHAIN, -np.eye(16)), ValueError, "eigenvalue"),
    "rows of no probabilities": (lambda: MarkovChain("ab", np.ones((2, 2))), ValueError, "sum 1"),
    "steps of another alphabet": (
        lambda: MarkovChain("abc", np.full((2, 2), 0.5)),
        ValueError,
        "step",
    ),
    "columns of a mixture": (lambda: Fisher(MIXTURE)(np.ones((3, 3))), ValueError, "ℝ.2"),
    "the score of another symbol": (
        lambda: CHAIN.score(["acgx"]),
        ValueError,
        "holds 'x', outside",
    ),
    "the score of other points": (lambda: MIXTURE.score(np.ones((3, 3))), ValueError, "ℝ.2"),
    "mixture of two sizes": (
        lambda: GaussianMixture([1.0], [[0.0], [1.0]], [1.0]),
        ValueError,
        "means",
    ),
}


@pytest.mark.parametrize("case", BAD)
def test_bad_input(case):
    use, error, words = BAD[case]
    with pytest.raises(error, match=words):
        use()


@pytest.mark.parametrize(
    "X, Y", [(["ab"], [b"ab"]), (["ab"], [("a", "b")]), ([("a", "b")], ["ab"])]
)
def test_texts_of_two_kinds_are_refused_in_words(X, Y):
    with pytest.raises(TypeError, match=r"Y\[0\].*pass strings of one kind"):
        Spectrum(1)(X, Y)


def test_bags_of_texts_and_of_tuples_of_their_letters_are_alike():
    texts = [["ab", "bb"], ["ba"], ["aab", "b", "ab"]]
    symbols = [[tuple(text) for text in bag] for bag in texts]
    k = SetKernel(Spectrum(1))
    np.testing.assert_allclose(k(symbols), k(texts), rtol=1e-14)


def test_a_model_that_has_a_score_alone_reads_arrays():
    class Cubic:
        def score(self, X):
            return np.concatenate([X, X**3], axis=1)

    x, y = np.array([1.0, -2.0]), np.array([0.5, 3.0, 1.0])
    np.testing.assert_allclose(
        Fisher(Cubic())(x, y), np.outer(x, y) + np.outer(x, y) ** 3, rtol=1e-14
    )
