"""Operators, large ridge and its certificate, processes, routes: against dense algebra, with mutants."""

import signal
import subprocess
import sys
import threading
import time
import tracemalloc
from dataclasses import replace
from decimal import Decimal, localcontext

import numpy as np
import pytest
from scipy.sparse.linalg import LinearOperator, aslinearoperator, cg, eigsh

import rkhs_notes as rn
from rkhs_notes import (
    Gaussian,
    LawBroken,
    Linear,
    Matern,
    Polynomial,
    Spectrum,
    ridge,
    settings,
    stream_ridge,
)
from rkhs_notes.base.errors import ConvergenceFailure
from rkhs_notes.deeper.scale import (
    KernelOperator,
    LargeFit,
    centres_for,
    certified,
    check_large_fit,
    gaussian_process_large,
    kernel_pca_large,
    recommend,
    ridge_large,
    routes,
    seconds_of,
)
from rkhs_notes.engines.solving.operators import (
    AllPoints,
    OnCentres,
    centres_of,
    independent,
    leverage_estimates,
    normal_equations,
    normal_times,
    solved,
    symmetric_times,
    tile_rows,
)

KERNELS = [
    Gaussian(0.9),
    Matern(1.5, 2.0) + 0.5 * Linear(),
    Polynomial(2) * Gaussian(3.0),
    Gaussian(1.0).normalized(),
]


def data(n=300, d=3, t=None, seed=0, dtype=float):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    y = np.sin(X @ rng.normal(size=(d, t or 1))) + 0.1 * rng.normal(size=(n, t or 1))
    return X.astype(dtype), (y if t else y[:, 0]).astype(dtype)


# ------------------------------------------------------------------ operators


@pytest.mark.second_route("KernelOperator", "the whole matrix")
@pytest.mark.parametrize("k", KERNELS, ids=str)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("mib", [64, 0.02])
def test_products_are_those_of_the_matrix(k, dtype, mib):
    X, _ = data(250, dtype=dtype)
    Y, V = X[:90] + 0.5, data(250, 2, t=3, seed=1, dtype=dtype)[1]
    whole, part = k(X), k(X, Y)
    near = dict(rtol=0, atol=2e3 * np.finfo(dtype).eps * np.abs(whole).sum(axis=1).max())
    with settings.using(block_mib=mib):
        for A, K, cols in ((KernelOperator(k, X), whole, 250), (KernelOperator(k, X, Y), part, 90)):
            assert A.shape == K.shape and A.dtype == dtype == (A @ V[:cols]).dtype
            np.testing.assert_allclose(A @ V[:cols], K @ V[:cols], **near)
            np.testing.assert_allclose(A @ V[:cols, 0], K @ V[:cols, 0], **near)
            np.testing.assert_allclose(A.T @ V, K.T @ V, **near)
            np.testing.assert_allclose(A.H @ V, K.T @ V, **near)


def test_it_is_an_operator_of_scipy():
    X, y = data()
    k = Gaussian(1.0)
    A = KernelOperator(k, X)
    assert isinstance(A, LinearOperator) and aslinearoperator(A) is A and A.T is A
    shifted = A + aslinearoperator(np.eye(300))
    solution, info = cg(shifted, y, rtol=1e-10)
    assert info == 0
    np.testing.assert_allclose(solution, ridge(k, X, y, 1.0).alpha, atol=1e-7)
    top = eigsh(A, k=2, return_eigenvectors=False)
    np.testing.assert_allclose(top, np.linalg.eigvalsh(k(X))[-2:])
    wide = KernelOperator(k, X[:40], X)
    np.testing.assert_allclose((wide @ A @ y), k(X[:40], X) @ k(X) @ y, rtol=1e-9)
    np.testing.assert_allclose(wide.rmatvec(y[:40]), k(X, X[:40]) @ y[:40], rtol=1e-9)
    assert "300 × 300" in repr(A)


def test_points_may_be_texts():
    k, words = Spectrum(2), ["banana", "bandana", "ananas", "cabana"]
    A = KernelOperator(k, words)
    np.testing.assert_allclose(A @ np.arange(4.0), k(words) @ np.arange(4.0))
    f = ridge_large(k, words, [1.0, 2.0, 3.0, 4.0], 0.5)
    np.testing.assert_allclose(
        f(words), ridge(k, words, [1.0, 2.0, 3.0, 4.0], 0.5)(words), atol=1e-5
    )
    few = ridge_large(k, words, [1.0, 2.0, 3.0, 4.0], 0.5, n_centres=3)
    assert check_large_fit(few, words, [1.0, 2.0, 3.0, 4.0]) <= few.error_bound + 1e-9


def test_centres_of_ones_own():
    X, y = data(200, 2)
    w = np.random.default_rng(5).uniform(0.2, 2, 200)
    k, Z, lam = Gaussian(0.9), np.random.default_rng(4).normal(size=(12, 2)), 0.3
    f = ridge_large(k, X, y, lam, centres=Z, weights=w, tol=1e-10)
    K = k(X, Z)  # argmin over alpha of Σ wᵢ (yᵢ − (K alpha)ᵢ)² + lam alphaᵀ k(Z) alpha
    alpha = np.linalg.solve(K.T @ (w[:, None] * K) + lam * k(Z), K.T @ (w * y))
    np.testing.assert_allclose(f(X), K @ alpha, atol=1e-7)
    assert f.n_centres == 12 and check_large_fit(f, X, y) <= f.error_bound + 1e-9
    twice = ridge_large(k, X, y, lam, centres=np.r_[Z, Z], weights=w, tol=1e-10)
    assert twice.n_centres == 12
    np.testing.assert_allclose(twice(X), f(X), atol=1e-7)
    words, own = ["banana", "bandana", "ananas", "cabana"], ["banana", "ban"]
    of_words = ridge_large(Spectrum(2), words, [1.0, 2.0, 3.0, 4.0], 0.5, centres=own)
    assert sorted(of_words.function.Z) == sorted(own)
    with rn.settings.using(result_mib=0.01), pytest.raises(MemoryError, match="fewer centres"):
        ridge_large(Gaussian(1.0), np.arange(40.0), np.ones(40), 1.0, centres=np.arange(40.0))
    with pytest.raises(ValueError, match="n_centres chooses among X"):
        ridge_large(k, X, y, lam, 5, centres=Z)
    with pytest.raises(ValueError, match="X has 2 columns, centres has 3"):
        ridge_large(k, X, y, lam, centres=np.ones((4, 3)))


def test_an_operator_keeps_no_matrix():
    X = data(6000, 3)[0]
    A, v = KernelOperator(Gaussian(1.0), X), np.ones(6000)
    tracemalloc.start()
    A @ v
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 40 * 2**20 < 8 * 6000**2 / 6


def test_the_same_bits_at_every_call():
    X, y = data(2500)
    A, B = KernelOperator(Gaussian(1.0), X), KernelOperator(Gaussian(1.0), X[:400])
    assert (A @ y == A @ y).all() and (B @ y[:400] == B @ y[:400]).all()
    assert (
        ridge_large(A.k, X, y, 0.1, 50, rng=3)(X) == ridge_large(A.k, X, y, 0.1, 50, rng=3)(X)
    ).all()


NO_VECTORS = [np.ones(3), np.ones((3, 300)), "text", [np.nan] * 300, None, np.ones((300, 1, 1))]


def test_the_diagonal_of_a_product_is_exact():
    X, k = data(80)[0], Linear().normalized()
    assert (symmetric_times(k, k.points(X), np.eye(80)).diagonal() == 1).all()


def test_points_of_another_library():
    import array_api_strict

    X, y = data(20)
    there = array_api_strict.asarray(X)
    np.testing.assert_allclose(KernelOperator(Gaussian(1.0), there) @ y, Gaussian(1.0)(X) @ y)
    f = ridge_large(Gaussian(1.0), there, array_api_strict.asarray(y), 1.0, 5, rng=0)
    np.testing.assert_allclose(np.asarray(f(X)), ridge_large(Gaussian(1.0), X, y, 1.0, 5, rng=0)(X))


def test_tiles_keep_to_the_cache_and_to_the_budget():
    X = data(10)[0]
    for k in KERNELS:
        for mib in (1, 64, 10_000):
            with settings.using(block_mib=mib):
                tile = 8 * 1000 * tile_rows(k, X, 1000)
                assert tile <= 3.2 * 2**20 and tile * k._blocks() <= mib * 2**20 / 4


@pytest.mark.parametrize("bad", NO_VECTORS)
def test_what_is_no_vector_is_refused(bad):
    with pytest.raises((TypeError, ValueError), match="V"):
        KernelOperator(Gaussian(1.0), data()[0]) @ bad


# ------------------------------------------------------------------ sums over rows


@pytest.mark.parametrize("mib", [64, 0.05])
def test_sums_over_rows(mib):
    X, y = data(400, t=2)
    k, Z = Gaussian(1.0), X[:30]
    w, A = np.random.default_rng(1).uniform(size=400), data(30, t=2)[1]
    K = k(X, Z)
    marked = k.points(X), k.points(Z)
    with settings.using(block_mib=mib):
        for weights in (None, w):
            W = np.ones(400) if weights is None else w
            S, c = normal_equations(k, *marked, y, weights)
            np.testing.assert_allclose(S, (K.T * W) @ K, rtol=1e-10)
            np.testing.assert_allclose(c, (K.T * W) @ y, rtol=1e-9, atol=1e-10)
            np.testing.assert_allclose(
                normal_times(k, *marked, A, weights), S @ A, rtol=1e-9, atol=1e-9
            )
        np.testing.assert_allclose(
            symmetric_times(k, marked[0], y), k(X) @ y, rtol=1e-10, atol=1e-10
        )


def test_repeated_centres_are_dropped():
    X = data(60)[0]
    k = Gaussian(1.0)
    Z, L = independent(k, k.points(np.concatenate([X, X, X + 1e-10])))
    assert len(Z) == 60
    np.testing.assert_allclose(L.L @ L.L.T, k(Z), atol=1e-12)
    f = ridge_large(k, np.concatenate([X, X]), np.ones(120), 0.1, n_centres=120)
    g = ridge(k, np.concatenate([X, X]), np.ones(120), 0.1)
    assert f.n_centres == 60 and f.function.distance(g) < 1e-6
    for near, kept in ((1e-8, 60), (1e-5, 120)):  # over σ and squared: below eps^0.75, or above
        for scale in (1e-20, 1.0, 1e20):
            c = scale * Gaussian(0.1)
            assert len(independent(c, c.points(np.concatenate([X, X + near])))[0]) == kept


def test_leverage_estimates_are_never_too_small():
    X = data(300)[0]
    k = Gaussian(0.7)
    exact = rn.leverage_scores(k, X, 0.3)
    for s in (20, 100, 300):
        found = leverage_estimates(k, k.points(X), s, 0.3, np.random.default_rng(s))
        assert (found >= exact - 1e-9).all() and found.max() <= 1
    np.testing.assert_allclose(found, exact, atol=1e-10)


# ------------------------------------------------------------------ ridge


def dense(k, X, y, Z, lam, w=None):
    "The best function of the sections at Z, by a singular value decomposition of its features"
    root = np.ones((len(X), 1)) if w is None else np.sqrt(w)[:, None]
    L = np.linalg.cholesky(k(Z))
    U, s, Vt = np.linalg.svd(root * np.linalg.solve(L, k(Z, X)).T, full_matrices=False)
    b = Vt.T @ ((s / (s**2 + lam))[:, None] * (U.T @ (root * y.reshape(len(X), -1))))
    return rn.RKHSFunction(k, Z, np.linalg.solve(L.T, b).reshape(-1, *y.shape[1:]))


@pytest.mark.parametrize("k", KERNELS, ids=str)
@pytest.mark.parametrize("lam", [1e-3, 1.0])
def test_all_points_is_ridge_within_its_bound(k, lam):
    X, y = data(250)
    f, g = ridge_large(k, X, y, lam), ridge(k, X, y, lam)
    assert f.function.distance(g) <= f.error_bound * (1 + 1e-6) + 1e-9 * g.norm()
    assert f.error_bound <= 1.01e-6 * g.norm() and f.residual < 1
    assert check_large_fit(f, X, y) <= 1.01 * f.error_bound + 1e-9 * g.norm()


@pytest.mark.second_route("LargeFit", "ridge_large", "a singular value decomposition")
@pytest.mark.parametrize("sample", [None, 120])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("t", [None, 2])
@pytest.mark.parametrize("width, lam", [(0.7, 0.1), (4.0, 1e-3)])
def test_centres_are_least_squares_within_their_bound(sample, weighted, t, width, lam):
    X, y = data(400, t=t)
    k, w = Gaussian(width), np.random.default_rng(1).uniform(0.1, 3, 400) if weighted else None
    f = ridge_large(k, X, y, lam, n_centres=40, rng=2, sample=sample, weights=w)
    g = dense(k, X, y, f.function.Z, lam, w)
    distance = np.max(f.function.distance(g))
    assert distance <= np.max(f.error_bound) + 1e-6 * np.max(g.norm())
    assert ("rows" in f.method) == (sample is not None) and f.n_centres == len(f.function.Z) <= 40
    check_large_fit(f, X, y)


@pytest.mark.parametrize("m", [None, 30])
def test_of_several_targets_the_largest_is_certified(m):
    X, y = data(100)
    y, k = y[:, None] * [1.0, 1e3], Gaussian(1.0)
    f = ridge_large(k, X, y, 0.1, m, rng=0, tol=1e-4)
    found, *each = (
        certified(fit, X, of, np.ones(100))[0].max()
        for fit, of in [(f, y)] + [(replace(f, function=f.function[j]), y[:, j]) for j in (0, 1)]
    )
    assert check_large_fit(f, X, y) == found == pytest.approx(max(each), rel=0.1)
    assert max(each) > 100 * min(each)


@pytest.mark.parametrize("t", [None, 3])
def test_weights_are_repetitions(t):
    X, y = data(150, t=t)
    k, times = Gaussian(1.0), np.arange(150) % 3
    again = np.repeat(np.arange(150), times)
    for m in (None, 150):
        heavy = ridge_large(k, X, y, 0.2, n_centres=m, weights=times.astype(float), tol=1e-9)
        many = ridge(k, X[again], y[again], 0.2)
        np.testing.assert_allclose(heavy(X), many(X), atol=1e-7)
        check_large_fit(heavy, X, y)


@pytest.mark.parametrize("rule", ["rpcholesky", "uniform", "leverage"])
def test_centres_by_every_rule(rule):
    X, y = data(500)
    k = Gaussian(1.5)
    f, g = ridge_large(k, X, y, 0.1, 200, rng=1, centres=rule), ridge(k, X, y, 0.1)
    assert np.abs(f(X) - g(X)).max() < 0.1 * np.abs(g(X)).max()
    assert {tuple(z) for z in f.function.Z} <= {tuple(x) for x in X}
    everyone = ridge_large(k, X, y, 0.1, 500, centres=rule)
    assert everyone.function.distance(g) < 1e-4 * g.norm()


SHARES = {"uniform": (0.01, 0.1), "rpcholesky": (0.1, 0.3), "leverage": (0.6, 1)}


@pytest.mark.parametrize("rule", SHARES)
def test_each_rule_chooses_as_it_says(rule):
    "950 points in a heap, 50 far from all: their share among 10 centres, over 40 draws"
    rng, (low, high) = np.random.default_rng(0), SHARES[rule]
    X = np.concatenate([0.01 * rng.normal(size=(950, 2)), rng.uniform(-1e3, 1e3, (50, 2))])
    k = Gaussian(1.0)
    alone = [centres_of(k, k.points(X), 10, 0.1, np.random.default_rng(i), rule) for i in range(40)]
    fits = [ridge_large(k, X, X[:, 0], 0.1, 10, rng=i, centres=rule) for i in range(40)]
    for found in (alone, [f.function.Z for f in fits]):
        assert low < np.mean(np.abs(np.concatenate(found)).max(axis=1) > 1) < high


def test_the_rank_of_the_preconditioner_keeps_to_the_memory():
    X, y = data(400)
    with settings.using(result_mib=0.25):  # a tenth of it are 10 columns of 400 numbers
        f = ridge_large(Gaussian(0.5), X, y, 1.0, rng=0)
    assert int(f.method.rpartition(" ")[2]) <= 0.25 * 2**20 / 8 / (8 * 400)
    assert int(ridge_large(Gaussian(0.5), X, y, 1.0, rng=0).method.rpartition(" ")[2]) > 50


def test_more_draws_than_fit_are_refused_with_their_size():
    X, y = data(50)
    process = gaussian_process_large(Gaussian(0.5), X, y, 0.1, 4, n_features=10, rng=0)
    with pytest.raises(MemoryError, match=r"\(1000000000, 50\) takes 373 GiB.*fewer functions"):
        process.sample(X, 10**9)
    with pytest.raises(MemoryError, match=r"\(50, 1000000000\) takes 373 GiB.*fewer paths"):
        gaussian_process_large(Gaussian(0.5), X, y, 0.1, 10**9, n_features=10, rng=0)


def test_a_product_that_is_another_at_every_call_is_never_certified():
    "The residual of the recursion falls as if nothing were wrong; that of the system does not"

    class Shaken:
        b = np.ones(30)
        P = staticmethod(lambda r: r)
        norm = staticmethod(lambda x, r: np.linalg.norm(x))
        bound = staticmethod(np.linalg.norm)
        rng, calls = np.random.default_rng(0), 0

        def A(self, x):
            self.calls += 1
            return x * np.linspace(1, 3, 30) + 1e-4 * self.rng.normal(size=30)

    problem = Shaken()
    with pytest.raises(ConvergenceFailure, match="after 60 steps .* is known up to [^ ]*e-0[1-4],"):
        solved(problem, 1e-4, 60)
    assert 60 < problem.calls <= 60 + 25  # and few products are spent on looking twice


def test_a_target_of_zeros_is_not_looked_at_twice_while_another_waits():
    "One product a step, and one more at the end"

    class Pair:
        b = np.stack([np.zeros(30), np.ones(30)], axis=1)
        P = staticmethod(lambda r: r)
        norm = staticmethod(lambda x, r: np.linalg.norm(x, axis=0))
        bound = staticmethod(lambda r: np.linalg.norm(r, axis=0))
        calls = 0

        def A(self, x):
            self.calls += 1
            return x * np.linspace(1, 3, 30)[:, None]

    problem = Pair()
    steps = solved(problem, 1e-9, 60)[-1]
    assert 5 < steps < 30 and problem.calls == steps + 1


def test_single_precision_points():
    X, y = data(400, dtype=np.float32)
    k = Gaussian(1.0)
    g = ridge(k, X.astype(float), y.astype(float), 0.5)
    for m in (None, 400):
        np.testing.assert_allclose(ridge_large(k, X, y, 0.5, m)(X), g(X.astype(float)), atol=1e-3)


def test_bounds_on_values():
    X, y = data()
    k = Gaussian(1.0)
    rough, g = ridge_large(k, X, y, 0.01, tol=0.3), ridge(k, X, y, 0.01)
    assert 1e-9 < np.abs(rough(X) - g(X)).max() <= rough.error_bound


# what attains each bound: an eigenvalue of √W K √W that equals lam, and a section at a point without weight
ATTAINED = {
    "all points": (None, [1.0, 5.0], [1.0, 1.0], 0),
    "all points, with weights": (None, [0.5, 5.0], [2.0, 3.0], 0),
    "centres": (2, [1.0, 5.0], [1.0, 0.0], 1),
    "centres, with weights": (2, [1.0, 5.0], [3.0, 0.0], 1),
}


@pytest.mark.parametrize("case", ATTAINED)
def test_the_bounds_are_attained(case):
    "Neither 1/(2 √lam) nor 1/lam can be improved, and the law refuses what is a twentieth too small"
    m, K, w, along = ATTAINED[case]
    w, y, lam, X = np.array(w), np.array([1.0, 0.0]), 1.0, [0, 1]
    k = rn.Precomputed(np.diag(K))
    exact = np.linalg.solve(w[:, None] * np.diag(K) + lam * np.eye(2), w * y)
    rough = rn.RKHSFunction(k, X, exact + 0.01 * np.eye(2)[along])
    distance = rough.distance(rn.RKHSFunction(k, X, exact))
    fit = LargeFit(rough, lam, m, distance, 0.0, 1, "by hand", w)
    assert certified(fit, k.points(X), y, w)[0] == pytest.approx(distance, rel=1e-12)
    assert check_large_fit(fit, X, y) == pytest.approx(distance, rel=1e-12)
    with pytest.raises(LawBroken, match="error_bound"):
        check_large_fit(replace(fit, error_bound=distance / 1.05), X, y)
    points, rng = k.points(X), np.random.default_rng(0)
    problem = (
        AllPoints(k, points, y, lam, w, rng)
        if m is None
        else OnCentres(k, points, points, y, lam, w)
    )
    order = [0, 1] if m is None else np.ravel(problem.Z).astype(int)  # of the pivots
    x = rough.alpha / problem.root if m is None else (np.sqrt(K) * rough.alpha)[order]
    np.testing.assert_allclose(problem.expansion(x)[1], rough.alpha[order])
    assert problem.bound(problem.b - problem.A(x)) == pytest.approx(distance, rel=1e-12)
    assert problem.norm(x, problem.b - problem.A(x)) == pytest.approx(rough.norm(), rel=1e-12)


@pytest.mark.parametrize("seed", range(8))
def test_no_error_is_above_its_bound(seed):
    "Perturbed solutions of many problems, several targets, weights of which some are 0"
    rng = np.random.default_rng(seed)
    X, y = data(60, t=3, seed=seed)
    lam, k, w = (
        10 ** rng.uniform(-3, 1),
        Gaussian(rng.uniform(0.3, 3)),
        rng.integers(0, 4, 60) * 1.0,
    )
    some = w > 0
    scaled = np.sqrt(w[some]) * k(X[some]) * np.sqrt(w[some])[:, None] + lam * np.eye(some.sum())
    alpha = np.zeros((60, 3))
    root = np.sqrt(w[some])[:, None]
    alpha[some] = root * np.linalg.solve(scaled, root * y[some])
    Z = X[:15]
    for m, exact in ((None, rn.RKHSFunction(k, X, alpha)), (15, dense(k, X, y, Z, lam, w))):
        for size in 10.0 ** -np.arange(1, 6):
            push = size * rng.normal(size=exact.alpha.shape) * (some[:, None] if m is None else 1)
            f = rn.RKHSFunction(k, exact.Z, exact.alpha + push)
            fit = LargeFit(f, lam, m, np.inf, 0.0, 1, "by hand", w)
            bound, noise = certified(fit, X, y, w)
            assert (f.distance(exact) <= bound + noise).all() and (noise < 0.1 * bound).all()


def of_fifty_digits(X, y, Z, alpha, lam):
    "‖f̂ − f‖ for the unit Gaussian and coefficients alpha, by the normal equations on Z (m, 1)"
    X, y, Z, alpha, lam = (np.vectorize(Decimal, otypes=[object])(v) for v in (X, y, Z, alpha, lam))
    with localcontext() as context:
        context.prec = 50
        K, S = ([[(-((a - b) ** 2) / 2).exp() for b in Z[:, 0]] for a in A[:, 0]] for A in (X, Z))
        K, S = np.array(K), np.array(S)
        M = np.column_stack([K.T @ K + lam * S, K.T @ y])
        for i in range(len(Z)):  # Gauss and Jordan
            M[i] = M[i] / M[i, i]
            for j in set(range(len(Z))) - {i}:
                M[j] = M[j] - M[j, i] * M[i]
        apart = alpha - M[:, -1]
        return float((apart @ S @ apart).sqrt())


@pytest.mark.parametrize("seed", range(6))
def test_rounding_is_in_the_bound(seed):
    "Centres near one another: rounding may exceed tol, and is told"
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(120, 1))
    y = np.sin(X[:, 0]) + 0.1 * rng.normal(size=120)
    k, lam, Z = Gaussian(1.0), 10.0, np.linspace(-0.5, 0.5, 8)[:, None] + 0.01 * seed
    fit = ridge_large(k, X, y, lam, centres=Z, tol=1e-8)
    distance = of_fifty_digits(X, y, fit.function.Z, fit.function.alpha, lam)
    assert distance <= fit.error_bound < 1e-3


@pytest.mark.parametrize("lam", [1e-2, 1e-4])
@pytest.mark.parametrize("weighted", [False, True])
def test_the_bound_of_all_points_is_true_of_float32(lam, weighted):
    "The minimiser is that of k in doubles, from coefficients by a dense solve"
    rng, n = np.random.default_rng(0), 400
    X = rng.normal(size=(n, 1)).astype(np.float32)
    y, w = (
        np.sin(3 * X[:, 0]) + rng.normal(size=n),
        rng.uniform(0.5, 2, n) if weighted else np.ones(n),
    )
    f, K = ridge_large(Gaussian(1.0), X, y, lam, weights=w), Gaussian(1.0)(X.astype(float))
    gap = f.function.alpha - np.linalg.solve(K + np.diag(lam / w), y)
    distance = np.sqrt(gap @ K @ gap)
    assert 1e-6 * f.function.norm() < distance <= f.error_bound < 100 * distance
    check_large_fit(f, X, y)
    with pytest.raises(LawBroken, match="error_bound"):
        check_large_fit(replace(f, error_bound=1e-6 * f.function.norm()), X, y)


@pytest.mark.parametrize("n, lam, seed", [(1000, 10.0, 3), (3000, 10.0, 3), (3000, 100.0, 3)])
def test_a_fit_passes_its_own_check(n, lam, seed):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 2))
    y = np.sin(X[:, 0]) + 0.1 * rng.normal(size=n)
    fit = ridge_large(Gaussian(1.0), X, y, lam, n_centres=200, rng=0)
    assert check_large_fit(fit, X, y) <= fit.error_bound < 1e-2


def test_each_target_has_its_own_bound():
    X, y = data(200, t=2)
    f = ridge_large(Gaussian(1.0), X, y * [1.0, 100.0], 0.01, 40, rng=0, tol=1e-3, sample=60)
    assert f.error_bound.shape == (2,) and f.error_bound[1] > 10 * f.error_bound[0]
    largest = check_large_fit(f, X, y * [1.0, 100.0])
    assert largest == pytest.approx(f.error_bound.max(), rel=1e-3)
    with pytest.raises(LawBroken, match="error_bound"):
        check_large_fit(replace(f, error_bound=f.error_bound / [1.0, 1.05]), X, y * [1.0, 100.0])


def test_weights_do_not_cost_steps():
    "The preconditioner is of √W K √W: of k(X) alone, the heavy points would stay for the iteration"
    rng = np.random.default_rng(0)
    X, w = rng.normal(size=(1500, 2)), np.exp(3 * rng.normal(size=1500))
    y = np.sin(X[:, 0])
    assert ridge_large(Gaussian(1.0), X, y, 1.0, weights=w, rng=0).iterations <= 3
    for sample, most in ((None, 1), (400, 10)):  # some rows stand for all, n / 400 times
        fit = ridge_large(Gaussian(1.0), X, y, 10.0, 50, rng=0, sample=sample)
        assert fit.iterations <= most and ("400 rows" in fit.method) == (sample == 400)


@pytest.mark.second_route("check_large_fit", "impostors refused")
@pytest.mark.parametrize("m", [None, 60])
def test_what_is_no_solution_is_refused(m):
    X, y = data()
    k, lam = Gaussian(1.0), 0.1
    f, rough = (ridge_large(k, X, y, lam, m, tol=tol) for tol in (1e-8, 1.0))
    check_large_fit(f, X, y)
    off = rn.RKHSFunction(k, f.function.Z, f.function.alpha * 1.001)
    mutants = [
        replace(f, lam=lam * len(X)),
        replace(f, lam=lam / 2),
        replace(f, function=off),
        replace(f, weights=np.full(len(X), 2.0)),
    ]
    if rough.error_bound > 1e-4:
        mutants.append(replace(rough, error_bound=rough.error_bound / 1e3))
    for mutant in mutants:
        with pytest.raises(LawBroken, match="error_bound"):
            check_large_fit(mutant, X, y)
    for other in ((X, y + 0.01), (X + 0.01, y)):
        with pytest.raises(LawBroken, match="error_bound"):
            check_large_fit(f, *other)


def test_an_impossible_tolerance_says_what_is_certain():
    X, y = data()
    with pytest.raises(ConvergenceFailure, match=r"after 2 steps .* is known up to"):
        ridge_large(Gaussian(1.0), X, y, 1e-6, tol=1e-12, max_iter=2)


def test_zero_is_a_target_and_nothing_is_a_space():
    X = data(50)[0]
    for m in (None, 10):
        f = ridge_large(Gaussian(1.0), X, np.zeros(50), 0.1, m)
        assert not f(X).any() and f.error_bound == 0
        assert not ridge_large(Linear(), np.zeros((5, 2)), np.ones(5), 0.1, m)([[1.0, 2.0]]).any()


@pytest.mark.parametrize("centres", ["rpcholesky", "uniform", "leverage"])
def test_few_centres_where_the_kernel_is_0(centres):
    Z, y = np.zeros((50, 2)), np.arange(50.0)
    f = ridge_large(Linear(), Z, y, 0.1, 5, rng=0, centres=centres)
    assert not f([[1.0, 2.0]]).any() and f.error_bound == 0
    assert not gaussian_process_large(Linear(), Z, y, 0.1, n_centres=5, rng=0).mean(Z).any()
    with pytest.raises(ValueError, match="span 0 directions, too few for n_components = 1"):
        kernel_pca_large(Linear(), Z, 1)


def test_callback_and_errors_inside_it():
    X, y = data()
    seen = []
    f = ridge_large(
        Gaussian(1.0), X, y, 0.01, callback=lambda step, left: seen.append((step, left))
    )
    assert [step for step, _ in seen] == list(range(1, f.iterations + 1)) and seen[-1][1] < 1e-3

    def stop(step, left):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        ridge_large(Gaussian(1.0), X, y, 0.01, callback=stop)
    assert np.allclose(ridge_large(Gaussian(1.0), X, y, 0.01)(X), f(X))


def test_progress_is_shown_when_asked_for(capsys):
    X, y = data()
    ridge_large(Gaussian(1.0), X, y, 0.01, 50, progress=True)
    assert "normal equations" in capsys.readouterr().err
    ridge_large(Gaussian(1.0), X, y, 0.01, 50)
    assert capsys.readouterr().err == ""


def test_ctrl_c_is_heard_between_tiles():
    "A product of minutes ends within seconds of SIGINT"
    code = (
        "import numpy as np, rkhs_notes as rn\n"
        "K = rn.KernelOperator(rn.Matern(1.5, 1.0), np.random.default_rng(0).normal(size=(200_000, 8)))\n"
        "rn.arrays.n_threads()\n"  # its look for libraries calls back through C, which drops exceptions
        "print('ready', flush=True)\n"
        "K @ np.ones(200_000)\n"
    )
    run = subprocess.Popen(
        [sys.executable, "-c", code], stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )
    kill = threading.Timer(60, run.kill)
    kill.start()
    assert run.stdout.readline() == b"ready\n"
    time.sleep(0.5)
    start = time.monotonic()
    run.send_signal(signal.SIGINT)
    _, errors = run.communicate()
    kill.cancel()
    assert b"KeyboardInterrupt" in errors and time.monotonic() - start < 20


BAD = dict(lam=0, n_centres=0, tol=0, centres="best", weights=[1.0], callback=3, sample=0)


@pytest.mark.parametrize("name", BAD)
def test_bad_arguments_are_named(name):
    X, y = data(20)
    with pytest.raises((TypeError, ValueError), match=name):
        ridge_large(**(dict(k=Gaussian(1.0), X=X, y=y, lam=0.1) | {name: BAD[name]}))


def test_ill_conditioned_centres_take_the_orthonormal_basis():
    X, y = data(500, 1)
    k = Gaussian(3.0)
    problem = OnCentres(k, k.points(X), k.points(X[:100]), y, 1e-6)
    assert not problem.raw and len(problem.L) < 100
    b, bound, _, steps = solved(problem, 1e-6, 20)
    assert steps <= 3 and bound <= 1e-6 * np.linalg.norm(b)
    few = OnCentres(k, k.points(X), k.points(X[:100]), y, 1e-6, None, 300, np.random.default_rng(0))
    again = solved(few, 1e-6, 60)[0]
    assert not few.raw
    Phi = problem.basis(k(X, problem.Z))  # values agree; weights, where Φ is small, in fewer digits
    assert np.linalg.norm(Phi @ (again - b)) <= 3e-6 * np.linalg.norm(Phi @ b)
    large = rn.ridge_large(k, X, y, 1e-6, centres=X[:100], sample=300, rng=0)
    assert np.linalg.norm(again - b) <= large.error_bound
    for weights, raw in (
        (None, True),
        (np.full(500, 1e12), False),
    ):  # heavy points leave fewer digits
        easy = OnCentres(Gaussian(0.05), k.points(X), k.points(X[:20]), y, 0.1, weights)
        assert easy.raw == raw


# ------------------------------------------------------------------ processes


@pytest.mark.second_route("LargeProcess", "gaussian_process_large", "the exact posterior")
def test_mean_and_variance_of_a_large_process():
    X, y = data(200, 1)
    k, noise, t = Gaussian(0.5), 0.1, np.linspace(-4, 4, 50)[:, None]
    large = gaussian_process_large(k, X, y, noise, n_samples=1500, n_features=4000, rng=1, tol=1e-5)
    small = rn.gaussian_process(k, X, y, noise)
    np.testing.assert_allclose(large(t), small(t), atol=1e-3)
    six_sigma = 6 * np.sqrt(2 / 1500)
    assert (
        np.abs(large.var(t) / small.var(t) - 1).max() < six_sigma + 0.1
    )  # and the waves' own error
    paths = large.paths(t)
    assert paths.shape == (1500, 50) and (paths == large.paths(t)).all()
    spread = np.sqrt(small.var(t).max())
    assert np.abs(np.cov(paths.T) - small.cov(t)).max() < 0.25 * spread**2
    assert "1500 paths" in repr(large) and np.array_equal(large.predict(t), large(t))


def test_weights_are_variances_of_the_noise():
    X, y = data(100, 1)
    w = np.random.default_rng(0).uniform(0.2, 4, 100)
    t = np.linspace(-2, 2, 20)
    large = gaussian_process_large(
        Gaussian(0.5), X, y, 0.2, 1500, weights=w, rng=2, tol=1e-5, n_features=4000
    )
    small = rn.gaussian_process(Gaussian(0.5), X, y, 0.2 / w)
    np.testing.assert_allclose(large(t), small(t), atol=1e-3)
    assert np.abs(large.var(t) / small.var(t) - 1).max() < 0.35


def test_centres_widen_the_band():
    X, y = data(200, 1)
    t = np.linspace(-2, 2, 30)
    few, all_points = (
        gaussian_process_large(Gaussian(0.3), X, y, 0.05, 400, m, rng=1).var(t).mean()
        for m in (5, None)
    )
    assert few > 2 * all_points


# ------------------------------------------------------------------ routes


def peak_mib(work):
    tracemalloc.start()
    try:
        work()
        return tracemalloc.get_traced_memory()[1] / 2**20
    finally:
        tracemalloc.stop()


def test_the_model_knows_the_memory_of_each_route():
    n, d = 4000, 5
    X, y = data(n, d)
    with settings.using(block_mib=2):
        k, found = Gaussian(0.7), {route.name: route for route in routes(n, d)}
        m = int(found["centres"].call.partition("n_centres=")[2].rstrip(")"))
        measured = {
            "exact": peak_mib(lambda: ridge(k, X, y, 1.0)),
            "all points": peak_mib(lambda: ridge_large(k, X, y, 1.0, tol=0.5)),
            "centres": peak_mib(lambda: ridge_large(k, X, y, 1.0, m)),
            "stream": peak_mib(lambda: stream_ridge(rn.fourier_features(k, d, 2 * m), (X, y), 1.0)),
        }
    for name, peak in measured.items():
        assert 0.4 * found[name].mib <= peak <= 1.1 * found[name].mib, (name, peak, found[name].mib)


@pytest.mark.second_route("Route", "recommend", "the best of all routes, listed")
def test_routes_follow_memory_and_patience():
    order = ["exact", "all points", "centres", "stream"]

    def place(*a, **b):
        return order.index(recommend(*a, **b).name)

    sizes = [10**e for e in range(2, 9)]
    for memory in (0.5, 8, 64):
        found = [place(n, 10, memory) for n in sizes]
        assert found == sorted(found) and found[0] == 0 and found[-1] == (3 if memory < 14 else 2)
    late = recommend(10**8, 10, 64)  # nothing takes ten minutes: the quickest that fits
    assert late.seconds == min(r.seconds for r in routes(10**8, 10) if r.mib <= 64 * 1024) > 600
    assert place(30_000, 10, 4, seconds=3600) == 1 and place(30_000, 10, 64, seconds=3600) == 0
    best = recommend(10**6, 10, memory=8)
    assert "exact would take" in best.why and "n_centres=" in best.call and "\n" not in repr(best)
    for memory, seconds, lacking in (0.1, 1e9, "GiB"), (1e6, 1e-3, "minutes"):
        first = recommend(30_000, 10, memory, seconds).why.partition("; ")[0]
        assert first.startswith("exact would take") and first.endswith(lacking)
    leanest = recommend(10**9, 10**4, memory=1e-3)
    assert leanest.name == "stream" and "stream" not in leanest.why
    for n in (10**3, 10**4, 10**5, 10**7):  # nothing fits
        assert recommend(n, 10, memory=1e-3).mib == min(route.mib for route in routes(n, 10))


def test_a_route_tells_long_times_in_hours():
    told = [
        repr(rn.scale.Route("stream", "fit()", 2.0, seconds))
        for seconds in (40, 9999, 36_000, 10**7)
    ]
    assert [words.partition("MiB, ")[2] for words in told] == [
        "40 s",
        "9999 s",
        "10 h",
        "2.78e+03 h",
    ]


def test_times_fall_with_threads_and_centres_grow_with_the_root(monkeypatch):
    monkeypatch.setattr("rkhs_notes.base.blocks.n_threads", lambda: 1)
    alone = seconds_of(1e9, 1e12, 10)
    monkeypatch.setattr("rkhs_notes.base.blocks.n_threads", lambda: 4)
    assert seconds_of(1e9, 1e12, 10) == pytest.approx(alone / 4)
    assert [centres_for(n) for n in (50, 10**4, 10**9)] == [50, int(100 * np.log(10**4)), 3000]


def test_old_and_new_addresses():
    for name in ("ridge_large", "KernelOperator", "recommend"):
        assert getattr(rn, name) is getattr(rn.scale, name) and name in dir(rn)


def sphere(n=500, d=4, seed=5):
    return np.random.default_rng(seed).normal(size=(n, d))


@pytest.mark.second_route("LargeComponents", "kernel_pca_large", "the exact components")
@pytest.mark.parametrize("k", KERNELS, ids=str)
def test_components_on_all_points_are_the_exact_ones(k):
    X, Z = sphere(), sphere(20, seed=6)
    exact, large = rn.kernel_pca(k, X, 3, rng=0), kernel_pca_large(k, X, 3, len(X), rng=0)
    top = exact.eigenvalues[0]
    np.testing.assert_allclose(large.eigenvalues, exact.eigenvalues, atol=1e-6 * top)
    np.testing.assert_allclose(large.trace, exact.trace, rtol=1e-6)
    np.testing.assert_allclose(large.explained, exact.explained, atol=1e-6)
    np.testing.assert_allclose(
        np.abs(large.transform(Z)), np.abs(exact.transform(Z)), atol=1e-3 * top**0.5
    )
    near = dict(atol=1e-4 * float(np.max(k.diag(Z))))
    np.testing.assert_allclose(large.residual(Z), exact.residual(Z), **near)
    np.testing.assert_allclose(large.components @ large.components, np.eye(3), atol=1e-5)


@pytest.mark.parametrize("m", [5, 20, 80])
def test_eigenvalues_on_landmarks_keep_their_bound(m):
    X, k = sphere(), Gaussian(2.0)
    K = k(X)
    H = np.eye(len(X)) - 1 / len(X)
    exact = np.linalg.eigvalsh(H @ K @ H)[::-1]
    found = kernel_pca_large(k, X, 4, m, rng=1)
    gap = exact[:4] - found.eigenvalues
    assert (gap > -1e-9 * exact[0]).all() and gap.sum() < found.error_bound  # (14.12)
    Z = found.sample
    R = K - k(X, Z) @ np.linalg.solve(k(Z), k(Z, X))
    np.testing.assert_allclose(found.error_bound, np.trace(R), rtol=1e-5)
    values = found.transform(X)
    np.testing.assert_allclose(values.mean(axis=0), 0, atol=1e-8)
    np.testing.assert_allclose(values.T @ values, np.diag(found.eigenvalues), atol=1e-6 * exact[0])
    two = found.first(2)
    assert np.array_equal(two.eigenvalues, found.eigenvalues[:2])
    np.testing.assert_allclose(two.transform(X), values[:, :2], atol=1e-10)
    assert (two.residual(X) >= found.residual(X) - 1e-9).all()


def test_components_on_random_features_say_how_far_they_are():
    X, k = sphere(), Gaussian(2.0)
    phi = rn.fourier_features(k, 4, 400, rng=0)
    found, exact = kernel_pca_large(k, X, 4, phi=phi, rng=0), rn.kernel_pca(k, X, 4, rng=0)
    error = np.linalg.norm(k(X) - phi(X) @ phi(X).T)  # Frobenius
    np.testing.assert_allclose(found.error_bound, error, rtol=0.15)
    assert np.abs(found.eigenvalues - exact.eigenvalues).max() < found.error_bound
    assert found.first(1).transform(X[:3]).shape == (3, 1)
    back = found.pre_image(found.transform(X), method="ridge")
    assert back.shape == X.shape and np.linalg.norm(back - X) < np.linalg.norm(X)
    with pytest.raises(ValueError, match="at most 4"):
        kernel_pca_large(Linear(), X, 5, rng=0)
    with settings.using(result_mib=1), pytest.raises(MemoryError, match="fewer features"):
        kernel_pca_large(k, X, 4, phi=phi, rng=0)


def test_large_pca_takes_features_of_texts_which_are_sparse():
    texts = ["".join(w) for w in np.random.default_rng(0).choice(list("abc"), (40, 6))]
    k = rn.Spectrum(2)
    exact = rn.kernel_pca(k, texts, 2)
    found = kernel_pca_large(k, texts, 2, phi=k.feature_map(texts), rng=0)
    np.testing.assert_allclose(found.eigenvalues, exact.eigenvalues)
    same = np.abs(found.transform(texts)), np.abs(exact.transform(texts))
    np.testing.assert_allclose(*same, atol=1e-12)
    assert found.error_bound < 1e-12


def test_a_large_process_of_several_columns_is_that_of_each():
    X, k = sphere(200, 1), Gaussian(0.8)
    Y = np.column_stack([np.sin(X[:, 0]), np.cos(2 * X[:, 0])])
    both = gaussian_process_large(k, X, Y, 0.1, n_samples=500, rng=2, tol=1e-6)
    exact = rn.gaussian_process(k, X, Y[:, 1], 0.1)
    Z = np.linspace(-2, 2, 9)
    np.testing.assert_allclose(both(Z)[:, 1], exact(Z), atol=1e-4)
    np.testing.assert_allclose(both.cov(Z), exact.cov(Z), atol=0.25 * exact.cov(Z).max())
    np.testing.assert_allclose(np.diag(both.cov(Z)), both.var(Z))
    one = gaussian_process_large(k, X, Y[:, 1], 0.1, n_samples=500, rng=2, tol=1e-6)
    np.testing.assert_allclose(one.var(Z), both.var(Z), rtol=1e-3)
    np.testing.assert_allclose(both.paths(Z)[:, :, 1], one.paths(Z), atol=1e-3)
    drawn = both.sample(Z, 3000, rng=3)
    assert drawn.shape == (3000, 9, 2)
    np.testing.assert_allclose(drawn.mean(axis=0), both(Z), atol=0.05)
    gap = np.cov(drawn[:, :, 1].T) - both.cov(Z)
    assert np.abs(gap).max() < 0.12 * both.cov(Z).max()
    assert abs(np.corrcoef(drawn[:, 0, 0], drawn[:, 0, 1])[0, 1]) < 0.1  # columns are independent
