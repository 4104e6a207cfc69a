"""What sees differences of features has the same value, and as many digits, wherever the data lie.

The reference for data far from 0 is exact: the statistic of the rounded data less the offset where a
translation of the points leaves it as it is, and rational arithmetic on the rounded data elsewhere.
"""

import importlib
import inspect
from fractions import Fraction
from functools import reduce

import numpy as np
import pytest

import rkhs_notes as rn
from rkhs_notes import Brownian, Constant, Gaussian, Laplace, Linear, Matern, Polynomial, Tensor
from rkhs_notes.apps.estimators import StreamingKernelRidge
from rkhs_notes.base.points import taken_of
from rkhs_notes.deeper.streams import StreamingMeans, StreamingRidge, check_merge, stream_ridge
from rkhs_notes.deeper.zoo import Bilinear, FiniteRank
from rkhs_notes.engines.kernels.composites import Anova
from rkhs_notes.engines.kernels.forms import as_apart
from rkhs_notes.engines.kernels.gram import Around, distance_matrix
from rkhs_notes.engines.testing.discrepancies import DistanceInduced

OFFSETS = [1e3, 1e6, 1e9]
draws = np.random.default_rng(0)
X0 = draws.normal(size=(24, 2))
Y0 = 1.2 * X0[::-1] * draws.choice([-1, 1], (24, 1)) + 0.4
Z0 = draws.normal(size=(24, 1))
W, V = draws.uniform(0.5, 2, size=(2, 24))
A = np.array([[2.0, 0.5], [0.5, 1.0]])

STILL = [  # a translation of the points changes no centred feature
    Linear(),
    Gaussian(1.0),
    Laplace(1.0),
    Matern(1.5),
    DistanceInduced(),
    Bilinear(A),
    Linear().on([1]),
    Brownian(-10.0).on([0]),
    3 * Linear() + Constant(1e9),
    Linear() + Gaussian(0.5),
    Polynomial(1, 2.0),
    FiniteRank([1.0, 2.0], [lambda X: X[:, 0], lambda X: X[:, 0] - X[:, 1]]),
]
MOVED = {  # the others, with their value from the exact xᵀy of all columns and of each
    "Polynomial(2)": (Polynomial(2), lambda S, parts: (S + 1) * (S + 1)),
    "Linear() ** 3": (Linear() ** 3, lambda S, parts: S * S * S),
    "Product": ((Linear() + Constant(1)) * (2 * Linear()), lambda S, parts: (S + 1) * S * 2),
    "Tensor": (
        Tensor(Linear(), Polynomial(2)),
        lambda S, parts: parts[0] * (parts[1] + 1) * (parts[1] + 1),
    ),
    "Anova": (Anova(Linear(), 2, up_to=True), lambda S, parts: (parts[0] + 1) * (parts[1] + 1)),
    "On": (Polynomial(2).on([1]), lambda S, parts: (parts[1] + 1) * (parts[1] + 1)),
}


def rng():
    return np.random.default_rng(5)


def measures(X, Y):
    return rn.Measure(X, W), rn.Measure(Y, V)


def weighted(name):
    return lambda k, X, Y: getattr(rn, name)(k, *measures(X, Y))


def found(name, **options):
    "(statistic, p-value) of a test of two samples"

    def test(k, X, Y):
        result = getattr(rn, name)(k, X, Y, n_permutations=99, rng=rng(), **options)
        return [result.statistic, result.pvalue]

    return test


def hsic_found(name, **options):
    def test(k, X, Y):
        kernels, samples = ((k, k), (X, Y)) if name == "hsic_test" else (([k, k],), ([X, Y],))
        result = getattr(rn, name)(*kernels, *samples, n_permutations=99, rng=rng(), **options)
        return [result.statistic, result.pvalue]

    return test


def of_conditions(k, X, Y):
    result = rn.conditional_independence_test(Gaussian(1.0), k, k, Z0, Y, X, rng(), lam=0.1)
    return result.statistic if k.is_shift_invariant else 0.0  # kx · kz is another kernel far from 0


def of_covariance(k, X, Y):
    return rn.generalized_covariance_test(k, Y, Y[:, :1], X, rng(), lam=0.1).statistic


def of_witness(k, X, Y):
    f = rn.witness(k, X, Y)
    return [np.mean(f(X)) - np.mean(f(Y)), f.norm()]


def of_components(k, X, Y):
    found = rn.kernel_pca(k, X, 1)
    return [found.eigenvalues[0], found.trace, found.residual(X[:1])[0]]


def of_coordinates(k, X, Y):
    return rn.kernel_pca(k, X, 1).transform(X)


def of_mixture(k, X, Y):
    terms = getattr(rn.align([k, Gaussian(3.0)], X, Z0[:, 0]), "terms", [k])
    return [len(terms), getattr(terms[0], "scale", 1.0)]


def of_correlations(k, X, Y):
    found = rn.kernel_cca(k, k, X, Y, 0.1, rng=rng())
    return [found.correlations[0], np.sum(found.transform_x(X) * found.transform_y(Y))]


# every public function whose value is a sum of Gram entries, or made of them: (k, X, Y) ↦ numbers
STATISTICS = {
    "mmd2_v": [lambda k, X, Y: rn.mmd2_v(k, X, Y), weighted("mmd2_v")],
    "mmd2_u": [lambda k, X, Y: rn.mmd2_u(k, X, Y)],
    "mmd2_u1": [lambda k, X, Y: rn.mmd2_u1(k, X, Y)],
    "mmd2_block": [lambda k, X, Y: rn.mmd2_block(k, X, Y, 6)],
    "mmd2_linear": [lambda k, X, Y: rn.mmd2_linear(k, X, Y)],
    "mmd2_incomplete": [lambda k, X, Y: rn.mmd2_incomplete(k, X, Y)],
    "mmd2_features": [
        lambda k, X, Y: (
            [rn.mmd2_features(lambda A: A, X, Y, u) for u in (False, True)]
            + [rn.mmd2_features(lambda A: A, *measures(X, Y))]
        )
    ],
    "mean_embedding": [lambda k, X, Y: (rn.mean_embedding(k, X) - rn.mean_embedding(k, Y)).norm()],
    "witness": [of_witness],
    "mmd_test": [
        *(
            found("mmd_test", statistic=s)
            for s in ("u", "v", "u1", "linear", "block", "incomplete")
        ),
        *(found("mmd_test", null=null) for null in ("gamma", "spectral")),
        lambda k, X, Y: found("mmd_test", statistic="v")(k, *measures(X, Y)),
        lambda k, X, Y: found("mmd_test", statistic="v")(Linear().feature_map(2), X, Y),
        lambda k, X, Y: found("mmd_test", statistic="v")(Linear().feature_map(2), *measures(X, Y))[
            0
        ],
    ],
    "mmd_test_aggregated": [lambda k, X, Y: found("mmd_test_aggregated")([k, Gaussian(2.0)], X, Y)],
    "mmd_test_split": [lambda k, X, Y: found("mmd_test_split")([k, Gaussian(2.0)], X, Y)],
    "hsic": [lambda k, X, Y: rn.hsic(k, k, X, Y), lambda k, X, Y: rn.hsic(k, Gaussian(1.0), X, Z0)],
    "hsic_u": [lambda k, X, Y: rn.hsic_u(k, k, X, Y)],
    "hsic_test": [
        hsic_found("hsic_test", null=null) for null in ("permutation", "cyclic", "gamma")
    ],
    "dhsic": [lambda k, X, Y: rn.dhsic([k, k], [X, Y])],
    "dhsic_test": [hsic_found("dhsic_test")],
    "conditional_independence_test": [of_conditions],
    "generalized_covariance_test": [of_covariance],
    "kernel_pca": [of_components, of_coordinates],
    "kernel_cca": [of_correlations],
    "kernel_mutual_information": [
        lambda k, X, Y: rn.kernel_mutual_information([k, k], [X, Y], 0.1)
    ],
    "kernel_generalized_variance": [
        lambda k, X, Y: rn.kernel_generalized_variance([k, k], [X, Y], 0.1)
    ],
    "align": [of_mixture],
    "gaussian_grid": [lambda k, X, Y: [one.bandwidth for one in rn.gaussian_grid(X, Y)]],
}
BESIDE = {  # why a public function of these modules is in no row
    "mmd2_gaussians": "takes means and covariances; sees their difference",
    "herding": "picks points; with a kernel that is not shift-invariant another offset picks others",
    "mmd2_threshold": "a bound, takes no data",
    "mmd_detectable": "a bound, takes no data",
    "center": "takes a matrix as it is",
    "center_cross": "takes matrices as they are",
    "alignment": "takes matrices: equal ones have 1, others are refused when their digits are gone; below",
    "kde": "evaluates a Gaussian at differences of points",
    "kernel_ica": "searches; its contrast is kernel_generalized_variance",
    "amari_distance": "takes matrices, no points",
    "pca_primal": "takes the singular values of centred rows; below",
}
MODULES = (
    "discrepancies two_samples dependence kpca principal correlations unmixing metrics".split()
)


def public_functions():
    for module in MODULES:
        home = importlib.import_module(f"rkhs_notes.{module}")
        for name in home.__all__:
            if not inspect.isclass(getattr(home, name)) and not name.startswith("check_"):
                yield name


def test_every_public_statistic_has_a_row():
    "A new function of these modules gets a row, or a reason"
    names = set(public_functions())
    assert names - STATISTICS.keys() - BESIDE.keys() == set()
    assert (STATISTICS.keys() | BESIDE.keys()) - names == set()


def miss(value, wanted):
    "How far numbers are off, relative to the largest of them"
    return np.abs(np.subtract(value, wanted)).max() / (np.abs(wanted).max() + 1e-2)


@pytest.mark.parametrize("name", STATISTICS)
@pytest.mark.parametrize("k", STILL, ids=str)
def test_a_translation_of_the_points_changes_no_statistic(k, name):
    for statistic in STATISTICS[name]:
        for c in OFFSETS:
            X, Y = X0 + c, Y0 + c  # rounded; subtracting c again is exact
            value, wanted = statistic(k, X, Y), statistic(k, X - c, Y - c)
            assert miss(value, wanted) < (1e-9 if c < 1e9 else 2e-6), (c, value, wanted)


def exact_points(X):
    return np.array([[Fraction(float(x)) for x in row] for row in X], dtype=object)


def exact_gram(value, X, Y):
    X, Y = exact_points(X), exact_points(Y)
    parts = [np.multiply.outer(X[:, i], Y[:, i]) for i in range(X.shape[1])]
    return value(sum(parts), parts)


def off_mean(K):
    n = len(K)
    return (K.sum() - np.trace(K)) / (n * (n - 1))


def exact(value, X, Y):
    "The statistics by their definitions in rational numbers"
    K, L, C, n = (*(exact_gram(value, P, Q) for P, Q in ((X, X), (Y, Y), (X, Y))), Fraction(len(X)))
    u = off_mean(K) + off_mean(L)
    w, v = (exact_points(S[:, None])[:, 0] for S in (W, V))
    pairs, other = np.multiply.outer(w, w), np.multiply.outer(v, v)
    pairs, other = (P - np.diag(np.diag(P)) for P in (pairs, other))
    U = (pairs * K).sum() / pairs.sum() + (other * L).sum() / other.sum()
    both = np.multiply.outer(w, v)
    H = [np.eye(len(X), dtype=int) * Fraction(1) - 1 / n] * 2
    return {
        "v": (K.sum() + L.sum() - 2 * C.sum()) / n**2,
        "u": u - 2 * C.sum() / n**2,
        "u1": u - 2 * off_mean(C),
        "weighted u": U - 2 * (both * C).sum() / both.sum(),
        "hsic": ((H[0] @ K @ H[0]) * (H[1] @ L @ H[1])).sum() / n**2,
        "dhsic": (K * L * K.T).sum() / n**2
        + (K.sum() / n**2) ** 2 * L.sum() / n**2
        - 2 * (K.sum(axis=1) * L.sum(axis=1) * K.sum(axis=1)).sum() / n**4,
        "distance": K[0, 0] + L[1, 1] - 2 * C[0, 1],
    }


@pytest.mark.second_route("Measure", "exact fractions")
@pytest.mark.parametrize("c", [0, 10, *OFFSETS])
@pytest.mark.parametrize("name", MOVED)
def test_far_from_0_values_are_those_of_exact_arithmetic(name, c):
    k, value = MOVED[name]
    X, Y = X0[:8] + c, Y0[:8] + c
    w, v = W[:8], V[:8]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(f"{__name__}.W", w)
        patch.setattr(f"{__name__}.V", v)
        wanted = {key: float(number) for key, number in exact(value, X, Y).items()}
    values = {
        "v": rn.mmd2_v(k, X, Y),
        "u": rn.mmd2_u(k, X, Y),
        "u1": rn.mmd2_u1(k, X, Y),
        "weighted u": rn.mmd2_u(k, rn.Measure(X, w), rn.Measure(Y, v)),
        "hsic": rn.hsic(k, k, X, Y),
        "dhsic": rn.dhsic([k, k, k], [X, Y, X]),
        "distance": k.distance(X, Y)[0, 1] ** 2,
    }
    for key, number in values.items():
        assert number == pytest.approx(wanted[key], rel=1e-10), key
    assert rn.dhsic([k, k], [X, Y]) == pytest.approx(values["hsic"], rel=1e-10)
    pool = rn.mmd_test(k, rn.Measure(X, w), rn.Measure(Y, v), 19)
    assert pool.statistic == pytest.approx(wanted["weighted u"], rel=1e-10)
    assert rn.dhsic_test([k, k, k], [X, Y, X], 19).statistic == pytest.approx(
        wanted["dhsic"], rel=1e-6
    )


class Own(rn.Kernel):
    "xᵀy by a reader, who says no more than the matrix"

    def _gram(self, X, Y, xp):
        return X @ Y.T


@pytest.mark.parametrize(
    "k", [Own(), Linear().normalized(), Own() + Gaussian(1.0), 2 * Own()], ids=repr
)
def test_a_kernel_that_cannot_be_moved_is_refused_when_half_of_the_digits_go(k):
    calls = [
        lambda X, Y: rn.mmd2_v(k, X, Y),
        lambda X, Y: rn.mmd2_u(k, X, Y),
        lambda X, Y: rn.mmd2_incomplete(k, X, Y),
        lambda X, Y: rn.witness(k, X, Y),
        lambda X, Y: rn.mmd_test(k, X, Y, 19),
        lambda X, Y: rn.mmd_test(k, X, Y, 19, statistic="block"),
        lambda X, Y: rn.hsic(k, k, X, Y),
        lambda X, Y: rn.hsic_test(k, k, X, Y, 19),
        lambda X, Y: rn.dhsic(k, [X, Y, X]),
        lambda X, Y: rn.align([k], X, Y[:, 0]),
        lambda X, Y: rn.kernel_pca(k, X),
    ]
    for call in calls:
        call(X0, Y0), call(X0 + 30, Y0 + 30)
        for c in (1e6, 1e9):
            with pytest.raises(ValueError, match="more than half of the digits"):
                call(X0 + c, Y0 + c)


@pytest.mark.parametrize(
    "k", [Own(), Linear(), Polynomial(3), Gaussian(1), Linear().normalized()], ids=repr
)
def test_points_that_are_one_point_have_no_distance_wherever_they_lie(k):
    for x in (0.1, 1e6 / 3, 1e9 / 7):
        X = np.full((9, 2), x)
        scale = float(k.diag(X).max())
        assert abs(rn.mmd2_v(k, X, X[:5])) <= 1e-15 * scale
        assert rn.hsic(k, k, X, X) <= 1e-30 * scale**2


def test_scale_is_no_offset():
    "A wide bandwidth or a small unit leaves few digits at 0 too, and is answered as before"
    for k in (Gaussian(1e6), Gaussian(1.0) + Linear(), Matern(1.5, 1e7)):
        assert abs(rn.mmd2_v(k, 1e-6 * X0, 1e-6 * Y0)) < 1e-9
    near = (Linear() + Constant(1.0)).normalized()  # cannot be moved; who is not far is not refused
    assert abs(rn.mmd2_v(near, 1e-5 * X0, 1e-5 * Y0)) < 1e-9


@pytest.mark.parametrize("c", [0, *OFFSETS])
def test_the_mean_of_components_keeps_what_was_set_apart(c):
    found, mean = rn.kernel_pca(Linear(), X0 + c), (X0 + c).mean(axis=0)
    assert found.mean_norm2 == pytest.approx(float(mean @ mean), rel=1e-12)


T0 = X0 @ [1.0, -2.0] + 0.1 * Z0[:, 0]
LAMS = [0.1, 3.0]


def cut(X, y, ends=(1, 9, 10)):
    "A stream in blocks, one of them a single row, with weights"
    return [(P, z, w) for P, z, w in zip(*(np.split(A, ends) for A in (X, y, W)), strict=True)]


def merged(phi, X, y):
    parts = [StreamingRidge(phi).update(*block) for block in cut(X, y)]
    return reduce(StreamingRidge.merge, [StreamingRidge(phi), *(parts[i] for i in (2, 0, 3, 1))])


def streamed_means(phi, X, Y):
    one, other = (StreamingMeans(phi).update(P[:1]).update(P[1:]) for P in (X, Y))
    return [one.mmd2(other), one.mmd2(other, True), *one.merge(other).components(1).eigenvalues]


def of_stream(phi, X, y):
    s = merged(phi, X, y)
    fits = [s.solve(0.1, True), *s.solve(LAMS, True), stream_ridge(phi, cut(X, y), 0.1, True)]
    values = np.ravel([f(X) for f in fits]) - y[0]
    return [*s.gcv(LAMS, True), *s.leave_one_out(cut(X, y), LAMS, True), *values]


STREAMS = {
    "StreamingMeans": lambda k, X, y: streamed_means(k.feature_map(2), X[:9], X[9:]),
    "StreamingRidge": lambda k, X, y: of_stream(k.feature_map(2), X, y),
    "StreamingKernelRidge": lambda k, X, y: [
        StreamingKernelRidge(k).fit(X[:9], y[:9]).partial_fit(X[9:], y[9:]).predict(X) - y[0]
    ],
}
FINITE = [Linear(), Bilinear(A), Linear().on([1]), 3 * Linear() + Constant(1e9), Polynomial(1, 2.0)]


@pytest.mark.parametrize("name", STREAMS)
@pytest.mark.parametrize("k", FINITE, ids=str)
def test_a_translation_of_a_stream_changes_no_answer(k, name):
    "X and y are moved together"
    for c in OFFSETS:
        X, y = X0 + c, T0 + c
        value, wanted = STREAMS[name](k, X, y), STREAMS[name](k, X - c, y - c)
        assert miss(value, wanted) < (1e-8 if c < 1e9 else 1e-5), (c, value, wanted)


@pytest.mark.parametrize("c", [0, *OFFSETS])
def test_streams_with_origins_of_their_own_are_compared_where_they_are(c):
    phi, X, Y = Linear().feature_map(2), X0[:1] + c, Y0 + c
    one, other = StreamingMeans(phi).update(X), StreamingMeans(phi).update(Y)
    assert one.mmd2(other) == pytest.approx(rn.mmd2_v(Linear(), X, Y), rel=1e-6)
    assert one.merge(other)._parts(False)[0] == pytest.approx(X.T @ X + Y.T @ Y, rel=1e-14)
    assert one.mean_embedding().w == pytest.approx(X[0], rel=1e-15)


def by_rows(F, y, lam):
    "(weights, GCV, leave-one-out error) of ridge through 0, by orthogonal factors of the rows"
    root = np.sqrt(W)
    tall = np.vstack([root[:, None] * F, np.sqrt(lam) * np.eye(F.shape[1])])
    Q, R = np.linalg.qr(tall)
    w = np.linalg.solve(R, Q[:24].T @ (root * y))
    h, e = np.sum(Q[:24] ** 2, axis=1), y - F @ w
    return w, W @ e**2 / W.sum() / (1 - h.sum() / 24) ** 2, W @ (e / (1 - h)) ** 2 / W.sum()


@pytest.mark.parametrize("c", [0, *OFFSETS])
@pytest.mark.parametrize("rise", [0, 1], ids=["y near 0", "y far from 0"])
def test_a_fit_through_0_has_the_digits_of_a_solution_by_rows(c, rise):
    phi, X, y = Linear().feature_map(2), X0 + c, T0 + rise * c
    s, tol = merged(phi, X, y), 1e-9 if c < 1e9 else 1e-6
    for lam in LAMS:
        w, gcv, loo = by_rows(X, y, lam)
        for f in (s.solve(lam), s.solve([lam])[0], stream_ridge(phi, cut(X, y), lam)):
            assert miss(f.w, w) < tol
        assert s.gcv([lam])[0] == pytest.approx(gcv, rel=tol)
        assert s.leave_one_out(cut(X, y), [lam])[0] == pytest.approx(loo, rel=tol)


@pytest.mark.parametrize("c", [0, *OFFSETS])
def test_parts_of_a_stream_far_from_0_are_the_whole_in_any_order(c):
    for lam in (1e-3, 1.0):
        assert (
            check_merge(Linear().feature_map(2), X0 + c, T0 + c, lam, offset=True, rng=0) <= 1e-12
        )
    features = rn.fourier_features(
        Gaussian(30.0), 2, 30, rng=1
    )  # nearly constant, nearly dependent
    assert check_merge(features, X0, T0, 1e-7, offset=True, rng=0) <= 1e-12


def test_a_stream_of_equal_rows_or_constant_features_is_answered():
    phi = Linear().feature_map(2)
    for c in (0.1, 1e6 / 3, 1e9 / 7):
        block = np.full((9, 2), c), np.full(9, c)
        s = StreamingRidge(phi).update(*block)
        assert s.gcv([0.1], True)[0] == 0 == s.leave_one_out(block, [0.1], True)[0]
        assert s.solve(0.1, True).offset == c
        assert s.solve(0.1)(block[0])[0] == pytest.approx(18 * c**3 / (18 * c**2 + 0.1), rel=1e-9)
        assert s.mmd2(StreamingRidge(phi).update(*block), True) == 0


def test_sparse_features_far_from_0_stay_sparse():
    import scipy.sparse as sp

    far = np.hstack([X0 + 1e9, (X0 > 1.0) * 5.0])
    phi = Linear().feature_map(4)
    one, other = (StreamingRidge(phi).update(F, T0) for F in (far, sp.csr_matrix(far)))
    assert one.gcv(LAMS, True) == pytest.approx(other.gcv(LAMS, True), rel=1e-9)
    assert (one._state.origin[:4] != 0).tolist() == [True, True, False, False]


STEIN = [
    Gaussian(1.0), rn.RationalQuadratic(1.0, 1.0), Matern(2.5), rn.Cauchy(1.0), rn.Mahalanobis([2.0, 0.5]),
    Matern(2.5, [2.0, 0.5]), rn.Cauchy([2.0, 0.5]),
    Gaussian(1.0).on([0]), Gaussian(1.0) + Constant(1e9), Gaussian(1.0) * rn.Cauchy(2.0), Gaussian(1.0).exp(),
]  # fmt: skip


@pytest.mark.parametrize("c", OFFSETS)
@pytest.mark.parametrize("k", STEIN, ids=str)
def test_stein_statistics_move_with_the_points_and_the_score(k, c):
    X = X0 + c

    def statistics(P, score):
        test = rn.goodness_of_fit_test(k, score, P, rng(), 99)
        both = [rn.stein_discrepancy(k, score, P, biased=biased) for biased in (False, True)]
        return [*both, test.statistic, test.pvalue]

    found, wanted = statistics(X, lambda P: c - P), statistics(X - c, lambda P: -P)
    assert miss(found, wanted) < 1e-9


@pytest.mark.second_route("stein_discrepancy", "exact fractions")
@pytest.mark.parametrize("c", [0, *OFFSETS])
def test_a_stein_discrepancy_of_a_kernel_that_sees_the_offset_is_exact(c):
    "xᵀy, by (15b.3) in rational numbers"
    X = exact_points(X0[:8] + c)
    S = Fraction(c) - X
    sides = (S * X).sum(axis=1)  # ⟨s(x), ∇ᵧ xᵀy⟩ = ⟨s(x), x⟩
    U = (S @ S.T) * (X @ X.T) + sides[:, None] + sides[None, :] + 2
    k, P = Linear(), X0[:8] + c
    assert rn.stein_discrepancy(k, lambda A: c - A, P) == pytest.approx(
        float(off_mean(U)), rel=1e-9
    )
    biased = rn.stein_discrepancy(k, lambda A: c - A, P, biased=True)
    assert biased == pytest.approx(float(U.sum() / 64), rel=1e-9)


def test_equal_matrices_are_aligned_and_lost_digits_refused():
    for c in (0, 1e4, 1e9):
        K = Linear()(X0 + c)
        assert rn.alignment(K, K) == pytest.approx(1, abs=1e-12) == rn.alignment(K, K.copy())
        with pytest.raises(ValueError, match="symmetric"):
            rn.alignment(K, K[::-1])
    far, L = Linear()(X0 + 1e6), Linear()(Y0)
    for pair in ((far, L), (L, far)):
        with pytest.raises(ValueError, match="less than half of its digits"):
            rn.alignment(*pair)
    near = rn.alignment(Linear()(X0 + 100.0), L)
    assert near == pytest.approx(rn.alignment(Linear()(X0), L), rel=1e-9)
    assert rn.alignment(np.full((24, 24), 1e18), L) == 0 == rn.alignment(0 * L, L)


def test_a_squared_norm_is_not_negative_far_from_0():
    for c in (*OFFSETS, 1e12):
        assert rn.mmd2_v(Linear(), X0 + c, X0 + c + 0.5) >= 0
        assert rn.mmd2_v(Polynomial(3), X0 + c, X0 + c) == pytest.approx(0, abs=1e-13 * c**4)


def test_a_sum_of_many_variables_keeps_its_digits_in_every_pairing():
    from rkhs_notes.engines.testing.swaps import about_mean, by_deviations, by_products

    kernels = [Gaussian(1.0), Polynomial(2), Linear(), Laplace(2.0)]
    samples = [k._marked(P) for k, P in zip(kernels, (X0, Y0, Z0, X0), strict=True)]
    orders = [rng().permutation(24) for _ in range(3)]
    for m in (2, 3, 4):
        Ks = [k(P) for k, P in zip(kernels[:m], samples, strict=False)]
        parts = [about_mean(k, P) for k, P in zip(kernels[:m], samples, strict=False)]
        wanted = by_products(Ks)(orders[: m - 1])
        assert by_deviations(parts)(orders[: m - 1]) == pytest.approx(wanted, rel=1e-9)


def test_single_precision_keeps_its_own_half():
    X, Y = (P.astype(np.float32) for P in (X0 + 1e3, Y0 + 1e3))
    wanted = rn.mmd2_v(Linear(), X.astype(float) - 1e3, Y.astype(float) - 1e3)
    assert rn.mmd2_v(Linear(), X, Y) == pytest.approx(wanted, rel=1e-5)
    near, other = (
        X - np.float32(970),
        Y - np.float32(970),
    )  # at 30 half of eight digits go, not of sixteen
    assert rn.mmd2_v(Linear(), near, other) == pytest.approx(wanted, rel=2e-6)
    with pytest.raises(ValueError, match="more than half of the digits"):
        rn.mmd2_v(Own(), X, Y)


def test_the_point_to_look_from_is_one_of_the_points():
    "Strings, pairs of objects and rows of a table are moved, or not, as points of their own kind"
    texts = ["abab", "abba", "baab", "bbaa", "abab", "aabb"]
    k = rn.Spectrum(2)
    K = k(texts)
    assert rn.hsic(k, Gaussian(1.0), texts, Z0[:6]) == pytest.approx(
        np.mean(rn.center(K) * rn.center(Gaussian(1.0)(Z0[:6])))
    )
    both = Tensor(Linear(), Linear(), split=2)
    pairs = (X0 + 1e6, Z0 + 1e6)
    one = np.hstack(pairs)
    value = rn.mmd2_v(both, pairs, taken_of(pairs, slice(0, 9)))
    assert value == pytest.approx(rn.mmd2_v(both, one, one[:9]), rel=1e-12)


PARTED = [
    *STILL,
    *(k for k, _ in MOVED.values()),
    Brownian(-1e4).on([1]) * Linear() + Constant(2.0),
]


@pytest.mark.parametrize("k", PARTED, ids=str)
def test_the_parts_that_a_kernel_sets_apart_are_the_kernel(k):
    "K + a(x) + b(y) + c, with the point to look from in the middle of the others"
    X, Y, o = X0, Y0, X0.mean(axis=0)[None]
    parts = as_apart(k._apart(X, Y, o, np))
    values = parts.K + parts.a + parts.b + parts.c
    np.testing.assert_allclose(values, k(X, Y), atol=1e-13 * np.abs(k(X, Y)).max())
    (a, c), of_Y = Around(k, o).away(X), Around(k, o).away(Y)[0]
    np.testing.assert_allclose(
        a[:, None] + of_Y + c, k(X, Y) - parts.K, atol=1e-13 * k.diag(X).max()
    )


def test_the_distance_of_two_times_of_a_path_is_that_of_its_law():
    "E (W(s) − W(t))² = |s − t|, far from where the path starts and on both sides of the middle"
    t = np.linspace(0, 1, 9)
    found = distance_matrix(Brownian(-1e6), t)
    np.testing.assert_allclose(found**2, np.abs(t[:, None] - t), atol=1e-9)
