"""Random kernels of the algebra, four operations deep, in every solver: each answer must satisfy what defines
it, and must be that of the same solver on the bare Gram matrix, which knows nothing of the expression."""

import numpy as np
import pytest

import rkhs_notes as rn
from rkhs_notes.base.errors import NotPositiveDefinite
from rkhs_notes.deeper.zoo import Cauchy, Laplace, Matern, Periodic, Precomputed, RationalQuadratic
from rkhs_notes.kernels import Constant, Gaussian, Linear, Polynomial

LEAVES = (
    Gaussian, Laplace, Cauchy, lambda r: Matern(1.5, r), lambda r: Linear(),
    lambda r: RationalQuadratic(r, 1.0), lambda r: Periodic(3.0, r), lambda r: Polynomial(2, offset=r),
    Constant,
)  # fmt: skip
OPERATIONS = (
    lambda k, other, r: k + other, lambda k, other, r: k * other, lambda k, other, r: r * k,
    lambda k, other, r: k**2, lambda k, other, r: (k + Constant(0.1)).normalized(),
    lambda k, other, r: k.on(lambda X: np.tanh(X)), lambda k, other, r: k.on([0]) + other.on([1]),
    lambda k, other, r: (k + Constant(0.1)).normalized().exp(), lambda k, other, r: k.gaussian_of(1 + r),
    lambda k, other, r: k.conjugate(lambda X: 1 + X[:, 0] ** 2), lambda k, other, r: k.simplify(),
)  # fmt: skip


def drawn_kernel(rng, depth=4):
    "An expression of at most this many operations on top of each other"
    few = LEAVES if depth else LEAVES[:-1]  # with a constant alone there is nothing to solve
    leaf = few[rng.integers(len(few))](rng.uniform(0.5, 2))
    if depth == 0:
        return leaf
    operation = OPERATIONS[rng.integers(len(OPERATIONS))]
    return operation(drawn_kernel(rng, depth - 1), leaf, rng.uniform(0.5, 2))


class Data:
    "Twelve points of the plane with two repeated, labels and measurements"

    def __init__(self, rng):
        self.X = rng.uniform(-1, 1, (12, 2))
        self.X[-1] = self.X[0]
        self.labels = np.where(np.arange(12) % 2, 1.0, -1.0)
        self.y = np.sin(3 * self.X[:, 0]) + self.X[:, 1]


def ridge(k, X, d, size):
    f = rn.ridge(k, X, d.y, size)
    K = k(X)
    np.testing.assert_allclose(K @ f.alpha + size * f.alpha, d.y, atol=1e-8)
    return f(X)


def process(k, X, d, size):
    posterior = rn.gaussian_process(k, X, d.y, size)
    variance = posterior.var(X)
    assert variance.min() >= -1e-9 * size and (variance <= k.diag(X) * (1 + 1e-9)).all()
    np.testing.assert_allclose(posterior.mean(X), rn.ridge(k, X, d.y, size)(X), atol=1e-7)
    return posterior.mean(X), variance, rn.log_marginal(k, X, d.y, size)[0]


def machine(make, **about):
    def solve(k, X, d, size):
        options = {name: value / size if name == "C" else value for name, value in about.items()}
        y = {} if make is rn.one_class else {"y": d.y if make is rn.svr else d.labels}
        m = make(k, X, *y.values(), tol=1e-6, **options)
        gap = rn.check_kkt(m, X, **y, **options, tol=1e-5)  # the solver's own certificate
        assert -1e-6 * (1 + abs(m.objective)) <= gap <= 1e-3 * (1 + abs(m.objective))
        return np.array([m.objective])

    return solve


def risk(loss):
    def solve(k, X, d, size):
        fit = rn.minimize_risk(k, X, d.labels if loss == "logistic" else d.y, loss, lam=size)
        assert 0 <= fit.gap <= 1e-3
        return np.array([fit.primal])

    return solve


def components(k, X, d, size):
    found, H = rn.kernel_pca(k, X, 3, rng=0), np.eye(12) - 1 / 12
    wanted = np.linalg.eigvalsh(H @ k(X) @ H)[::-1][: len(found.eigenvalues)]
    np.testing.assert_allclose(found.eigenvalues, wanted, atol=1e-7 * k(X).max())
    return found.eigenvalues


def two_samples(k, X, d, size):
    A, B = X[:7], X[7:]
    u, v = rn.mmd2_u(k, A, B), rn.mmd2_v(k, A, B)
    a, b, c = k(A), k(B), k(A, B)
    by_hand = (a.sum() - a.trace()) / 42 + (b.sum() - b.trace()) / 20 - 2 * c.mean()
    assert abs(u - by_hand) <= 1e-9 * np.abs(k(X)).max() and v >= -1e-9 * np.abs(k(X)).max()
    return np.array([u, v])


def permutations(k, X, d, size):
    return np.array([rn.mmd_test(k, X[:7], X[7:], 60, rng=3).pvalue])


def dependence(k, X, d, size):
    H = np.eye(12) - 1 / 12
    value = rn.hsic_test(k, k, X, X, 19, rng=1).statistic
    np.testing.assert_allclose(
        value, np.sum((H @ k(X) @ H) ** 2) / 144, atol=1e-4 * k(X).max() ** 2
    )
    return value


def herded(k, X, d, size):
    chosen = rn.herding(k, X, 5, candidates=X)
    return np.array([rn.mmd2_v(k, X, chosen)])


def landmarks(k, X, d, size):
    phi = rn.nystrom_features(k, X, 12, rng=0)
    F = phi(X)
    np.testing.assert_allclose(
        F @ F.T, k(X), atol=1e-5 * k.diag(X).max()
    )  # all points are landmarks
    return F @ F.T


def leverage(k, X, d, size):
    scores, K = rn.leverage_scores(k, X, size), k(X)
    np.testing.assert_allclose(
        scores, np.diag(np.linalg.solve(K + size * np.eye(12), K)), atol=1e-7
    )
    assert abs(scores.sum() - rn.effective_dimension(k, X, size)) < 1e-7
    return scores


def loo(k, X, d, size):
    return rn.ridge_path(k, X, d.y, [size, 10 * size]).loo


def signs(k, X, d, size):
    return np.array(rn.rademacher(k, X, draws=20, rng=0).bound)


SOLVERS = {
    "ridge": ridge, "ridge_path": loo, "gaussian_process": process, "svc": machine(rn.svc, C=2.0),
    "svr": machine(rn.svr, C=2.0, eps=0.1), "one_class": machine(rn.one_class, nu=0.4),
    "logistic": risk("logistic"), "absolute": risk("absolute"), "kernel_pca": components, "mmd2": two_samples,
    "mmd_test": permutations, "hsic_test": dependence, "herding": herded, "nystrom": landmarks,
    "leverage": leverage, "rademacher": signs,
}  # fmt: skip


@pytest.mark.second_route("leverage_scores", "NumPy")
@pytest.mark.filterwarnings("ignore:.*features from")
@pytest.mark.parametrize("name", SOLVERS)
def test_random_kernels_in_every_solver(name, rounds):
    rng, n = rounds
    for _ in range(n // 4):
        d, k = Data(rng), drawn_kernel(rng)
        try:
            K = k(d.X)
        except ValueError as error:  # a second coordinate of the first alone
            assert "needs 2 coordinates" in str(error)
            continue
        size = float(np.diag(K).max()) or 1.0
        assert (
            np.isfinite(K).all()
            and (K == K.T).all()
            and np.linalg.eigvalsh(K)[0] >= -1e-8 * 12 * size
        )
        np.testing.assert_allclose(k.diag(d.X), np.diag(K), rtol=1e-7, atol=1e-12 * size)
        bare = Precomputed(K)
        answers = [
            SOLVERS[name](kernel, points, d, size)
            for kernel, points in ((k, d.X), (bare, np.arange(12.0)))
        ]
        for one, other in zip(*map(np.atleast_1d, map(flat, answers)), strict=True):
            assert abs(one - other) <= 1e-4 * max(abs(one), abs(other)) + 1e-6, (
                f"{name}: {k}: {answers}"
            )


def flat(answer):
    parts = answer if isinstance(answer, tuple) else (answer,)
    return np.concatenate([np.ravel(part) for part in parts])


@pytest.mark.parametrize("lam", [1e-2, 1e4, 1e8])
def test_leverage_of_float32_points_keeps_its_digits(lam):
    A = np.random.default_rng(0).normal(size=(60, 2)).astype(np.float32)
    eigenvalues, Q = np.linalg.eigh(rn.Gaussian(1.0)(A.astype(float)))
    exact = Q**2 @ (eigenvalues / (eigenvalues + lam))
    np.testing.assert_allclose(rn.leverage_scores(rn.Gaussian(1.0), A, lam), exact, rtol=1e-6)


@pytest.mark.parametrize("size", [1e5, 1.0, 1e-8])
def test_leverage_keeps_its_digits_whatever_the_unit(size):
    "In the space of two columns, where nothing is lost"
    X = size * np.random.default_rng(0).normal(size=(50, 2))
    exact = np.sum(X * np.linalg.solve(X.T @ X + 0.01 * np.eye(2), X.T).T, axis=1)
    scores = rn.leverage_scores(rn.Linear(), X, 0.01)
    np.testing.assert_allclose(scores, exact, rtol=1e-11)
    assert scores.sum() == pytest.approx(
        rn.effective_dimension(rn.Linear(), X, 0.01), rel=1e-12, abs=0
    )
    with pytest.raises(NotPositiveDefinite, match="is below the rounding of K: try"):
        rn.leverage_scores(rn.Linear(), X, 1e-17 * np.vdot(X, X))
