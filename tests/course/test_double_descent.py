"""Minimum-norm fits against NumPy, SciPy and scikit-learn; curves; formulas against simulation; bad input."""

import math
import pickle
import tracemalloc

import matplotlib.pyplot as plt
import numpy as np
import pytest
import scipy.linalg
from scipy.integrate import quad
from sklearn.linear_model import Ridge

from rkhs_notes import settings
from rkhs_notes.base.errors import LawBroken, expect_fail
from rkhs_notes.deeper.benign import ArcCosine, gaussian_power_bound, relu_features
from rkhs_notes.deeper.zoo import Matern
from rkhs_notes.double_descent import least_squares_risk
from rkhs_notes.engines.features.feature_maps import check_feature_map
from rkhs_notes.engines.features.spectral import fourier_features
from rkhs_notes.engines.solving.curves import (
    DoubleDescentCurve,
    check_min_norm,
    double_descent_curve,
    min_norm_fit,
)
from rkhs_notes.engines.solving.paths import min_norm_path
from rkhs_notes.kernels import Gaussian, check_kernel
from rkhs_notes.rkhs import RKHS

rng = np.random.default_rng(0)


# fits


@pytest.mark.second_route("min_norm_fit", "NumPy, SciPy and scikit-learn")
@pytest.mark.parametrize("n, D", [(1, 1), (1, 5), (5, 1), (12, 7), (12, 12), (12, 13), (12, 80)])
@pytest.mark.parametrize("targets", [(), (1,), (3,)])
def test_fit_is_the_pseudo_inverse(n, D, targets):
    Phi, y = rng.normal(size=(n, D)), rng.normal(size=(n, *targets))
    beta = min_norm_fit(Phi, y)
    assert beta.shape == (D, *targets)
    np.testing.assert_allclose(beta, np.linalg.pinv(Phi) @ y, atol=1e-9 * np.abs(beta).max())
    np.testing.assert_allclose(beta, scipy.linalg.lstsq(Phi, y)[0], atol=1e-9 * np.abs(beta).max())
    ridge = min_norm_fit(Phi, y, lam=0.3)
    np.testing.assert_allclose(
        ridge.T, Ridge(0.3, fit_intercept=False).fit(Phi, y).coef_.reshape(ridge.T.shape)
    )
    check_min_norm(Phi, y, beta), check_min_norm(Phi, y, ridge, lam=0.3)


@pytest.mark.parametrize("scale", [1e-200, 1e-8, 1.0, 1e8, 1e200])
@pytest.mark.parametrize("lam", [0.0, 0.1])
def test_path_is_refitting(scale, lam):
    "At every width, whatever the scale of the features"
    Phi, y = rng.normal(size=(20, 60)), rng.normal(size=(20, 2))
    widths = [1, 7, 19, 20, 21, 40, 60]
    lam = lam if 1e-100 < scale < 1e100 else 0.0  # lam scale² must be a number
    for D, beta in zip(
        widths, min_norm_path(scale * Phi, y, widths, lam and lam * scale**2), strict=True
    ):
        wanted = min_norm_fit(Phi[:, :D], y, lam)
        np.testing.assert_allclose(scale * beta, wanted, atol=1e-9 * np.abs(wanted).max())


def test_path_takes_one_penalty_a_width():
    Phi, y = rng.normal(size=(8, 20)), rng.normal(size=8)
    for beta, D, lam in zip(
        min_norm_path(Phi, y, [4, 8, 20], [0, 1, 2]), (4, 8, 20), (0, 1, 2), strict=True
    ):
        np.testing.assert_allclose(beta, min_norm_fit(Phi[:, :D], y, lam), atol=1e-12)


DEFICIENT = {
    "repeated points": lambda A: np.vstack([A, A[:3]]),
    "repeated features": lambda A: np.repeat(A, 2, axis=1),
    "a feature that is zero": lambda A: np.hstack([np.zeros((len(A), 2)), A]),
    "zeros": lambda A: 0 * A,
    "rank one": lambda A: np.outer(A[:, 0], A[0]),
    "constant": lambda A: np.ones_like(A),
}


def test_gradient_descent_from_0_ends_at_the_shortest():
    Phi, y = rng.normal(size=(20, 50)), rng.normal(size=20)
    beta, step = np.zeros(50), 1 / np.linalg.norm(Phi, 2) ** 2
    for _ in range(3000):
        beta -= step * Phi.T @ (Phi @ beta - y)
    np.testing.assert_allclose(beta, min_norm_fit(Phi, y), atol=1e-9)


@pytest.mark.second_route("min_norm_path", "NumPy's pseudo-inverse")
@pytest.mark.parametrize("name", DEFICIENT)
@pytest.mark.parametrize("scale", [1e-10, 1.0, 1e10])
def test_without_full_rank(name, scale):
    "The path hands such widths to the SVD and finds the same shortest fit"
    Phi = DEFICIENT[name](rng.normal(size=(10, 15)))
    y = rng.normal(size=len(Phi))
    widths = [2, 5, len(Phi), Phi.shape[1]] if len(Phi) < Phi.shape[1] else [2, 5, Phi.shape[1]]
    for D, beta in zip(widths, min_norm_path(scale * Phi, y, widths), strict=True):
        np.testing.assert_allclose(
            scale * beta, np.linalg.pinv(Phi[:, :D], rcond=1e-12) @ y, atol=1e-9
        )
        check_min_norm(scale * Phi[:, :D], y, beta)


@pytest.mark.parametrize("seed", range(40))
def test_path_obeys_the_law_on_odd_problems(seed):
    "Repeated rows and columns, columns of many scales, far from the origin; penalties of any weight"
    rng = np.random.default_rng(seed)
    n, D = rng.integers(1, 15), rng.integers(1, 30)
    Phi = rng.normal(size=(n, D)) * 10.0 ** rng.integers(-9, 9)
    Phi = [
        Phi,
        Phi[rng.integers(0, n, n)],
        Phi[:, rng.integers(0, D, D)],
        Phi * 10.0 ** rng.integers(-8, 3, size=D),
        Phi + 1e6 * np.abs(Phi).max(),
    ][seed % 5]
    y = rng.normal(size=(n, 2)) * 10.0 ** rng.integers(-9, 9)
    widths = np.unique(rng.integers(1, D + 1, 4))
    for lam in (0, 1e-6, 1.0):
        for width, beta in zip(widths, min_norm_path(Phi, y, widths, lam), strict=True):
            check_min_norm(Phi[:, :width], y, beta, lam)


@pytest.mark.parametrize("seed", range(6))
def test_a_nearly_singular_square(seed):
    "Close to D = n the answer is as good as the condition number permits"
    rng = np.random.default_rng(seed)
    U, _, V = np.linalg.svd(rng.normal(size=(30, 30)))
    for smallest in (
        1e-3,
        1e-6,
        3e-8,
        1e-9,
    ):  # the third: its square is a Gram matrix, some with a factor
        Phi = U * np.geomspace(1, smallest, 30) @ V
        truth = rng.normal(size=30)
        beta, wider = min_norm_path(np.hstack([Phi, 1e-12 * Phi[:, :2]]), Phi @ truth, [30, 32])
        for found in (beta, wider[:30]):
            assert np.linalg.norm(found - truth) < 1e3 * np.finfo(
                float
            ).eps / smallest * np.linalg.norm(truth)


@pytest.mark.parametrize(
    "change",
    [
        lambda A: A.astype(np.float32),
        lambda A: np.round(10 * A).astype(int),
        lambda A: A.tolist(),
        lambda A: np.asfortranarray(A),
        lambda A: np.repeat(A, 2, axis=1)[:, ::2],
    ],
)
def test_kinds_of_arrays(change):
    Phi, y = change(rng.normal(size=(6, 9))), rng.normal(size=6)
    before = np.array(Phi, copy=True)
    (beta,) = min_norm_path(Phi, y, [9])
    np.testing.assert_allclose(beta, min_norm_fit(Phi, y), rtol=1e-8)
    np.testing.assert_allclose(beta, np.linalg.pinv(np.array(Phi, float)) @ y, rtol=1e-4)
    assert np.array_equal(before, np.array(Phi))


def test_single_precision_stays():
    Phi, y = rng.normal(size=(6, 9)).astype(np.float32), rng.normal(size=6).astype(np.float32)
    assert min_norm_fit(Phi, y).dtype == min_norm_path(Phi, y, [3, 9])[1].dtype == np.float32
    (
        check_min_norm(Phi, y, min_norm_fit(Phi, y)),
        check_min_norm(Phi, y, min_norm_path(Phi, y, [9])[0]),
    )


SINGLE = np.sort(np.random.default_rng(0).uniform(size=30)).astype("f4")  # points
ALMOST = relu_features(1, 10, 1)(SINGLE)  # 30 × 10, of lower rank but for rounding


@pytest.mark.second_route("min_norm_fit", "NumPy's pseudo-inverse with the eps of Phi")
@pytest.mark.parametrize(
    "fit",
    [
        lambda y: min_norm_fit(ALMOST, y),
        lambda y: min_norm_fit(ALMOST, y.astype("f4"), weights=np.ones(30)),
        lambda y: min_norm_path(ALMOST, y, [4, 10])[1],
        lambda y: min_norm_path(ALMOST.repeat(4, axis=1), y, [40])[0].reshape(-1, 4).sum(axis=1),
    ],
)
def test_rounding_in_single_features_has_no_rank_beside_double_targets(fit):
    y = np.sin(6 * SINGLE.astype(float))
    wanted = np.linalg.pinv(ALMOST.astype(float), rcond=30 * np.finfo("f4").eps) @ y
    assert np.linalg.norm(wanted) < 2
    np.testing.assert_allclose(fit(y), wanted, rtol=1e-4, atol=1e-6)
    check_min_norm(ALMOST, y, wanted)
    with expect_fail(LawBroken, contains="a shorter beta"):
        check_min_norm(ALMOST, y, min_norm_fit(ALMOST.astype(float), y))


def test_a_path_decides_on_the_rank_of_its_own_columns():
    eps, few = np.finfo(float).eps, np.zeros((3, 900))
    few[[0, 1], [0, 1]] = 1, 20 * eps  # above 3 eps, below 900 eps
    assert min_norm_path(few, [1, 1, 0], [2])[0].tolist() == [1, 1 / (20 * eps)]
    many = np.zeros((2, 20_000), "f4")
    many[[0, 1], [0, 1]] = 1, 5e-4  # below 20 000 of its eps; its square is above √eps of doubles
    for beta in (min_norm_path(many, [1.0, 1.0], [20_000])[0], min_norm_fit(many, [1.0, 1.0])):
        assert beta[:2].tolist() == [1, 0]


def test_curves_of_single_points_are_those_of_double():
    ahead, widths = SINGLE + np.float32(0.01), [10, 20, 28, 40, 60]
    single, double = (
        double_descent_curve(
            lambda D, rng: relu_features(1, D, rng),
            SINGLE.astype(kind),
            np.sin(6 * SINGLE),
            ahead.astype(kind),
            np.sin(6 * ahead),
            widths,
            1,
            1,
        )
        for kind in ("f4", "f8")
    )
    np.testing.assert_allclose(single.test, double.test, rtol=1e-12)
    np.testing.assert_allclose(single.norm, double.norm, rtol=1e-12)


def test_rank_decision():
    Phi = np.diag([1.0, 1e-5])
    assert min_norm_fit(Phi, [1, 1])[1] == pytest.approx(1e5)
    assert min_norm_fit(Phi, [1, 1], rtol=1e-4)[1] == 0


@pytest.mark.second_route("check_min_norm", "impostors refused")
def test_law_refuses_mutants():
    Phi, y = rng.normal(size=(5, 9)), rng.normal(size=5)
    beta = min_norm_fit(Phi, y)
    null = np.linalg.svd(Phi)[2][-1]
    for wrong, words in [
        (beta + 1e-6 * null, "row space"),
        (1.000001 * beta, "minimise"),
        (-beta, "minimise"),
        (np.linalg.lstsq(Phi, y + 1e-6, rcond=None)[0], "minimise"),
        (0 * beta, "minimise"),
    ]:
        with expect_fail(LawBroken, contains=words, quiet=True):
            check_min_norm(Phi, y, wrong)


def test_near_misses_of_the_law():
    "Three times what either condition allows is refused, a third of it is not"
    Phi, y = rng.normal(size=(5, 9)), rng.normal(size=5)
    beta, (_, s, Vt) = min_norm_fit(Phi, y), np.linalg.svd(Phi)
    units = s[0] * (s[0] * np.linalg.norm(beta) + np.linalg.norm(y))
    bent = 100 * 9 * np.finfo(float).eps * units / s[0] ** 2 * Vt[0]
    longer = 1e-8 * np.linalg.norm(beta) * Vt[-1]
    for miss, words in ((bent, "minimise"), (longer, "row space")):
        check_min_norm(Phi, y, beta + miss / 3)
        with expect_fail(LawBroken, contains=words, quiet=True):
            check_min_norm(Phi, y, beta + 3 * miss)


@pytest.mark.parametrize("scale", [1e-300, 1e-150, 1e-8, 1e8, 1e150, 1e300])
@pytest.mark.parametrize("lam", [0.0, 0.3])
def test_law_at_any_scale(scale, lam):
    "Features, targets and both together"
    Phi, y = rng.normal(size=(5, 9)), rng.normal(size=5)
    beta, lam_scaled = min_norm_fit(Phi, y, lam), lam * scale**2 if 1e-100 < scale < 1e100 else 0.0
    if lam == lam_scaled == 0 or lam_scaled:
        check_min_norm(scale * Phi, scale * y, beta, lam_scaled)
        check_min_norm(scale * Phi, y, beta / scale, lam_scaled)
        for wrong in (1.0001 * beta, beta + 1e-4):
            with expect_fail(LawBroken, quiet=True):
                check_min_norm(scale * Phi, scale * y, wrong, lam_scaled)
            with expect_fail(LawBroken, quiet=True):
                check_min_norm(scale * Phi, y, wrong / scale, lam_scaled)
    check_min_norm(Phi, scale * y, scale * beta, lam)
    with expect_fail(LawBroken, quiet=True):
        check_min_norm(Phi, scale * y, 1.0001 * scale * beta, lam)


# curves


def fourier(D, rng):
    return fourier_features(Gaussian(1.0), 2, D, rng)


def problem(n=20, m=30):
    local = np.random.default_rng(1)
    X, X_test = local.uniform(-2, 2, (n, 2)), local.uniform(-2, 2, (m, 2))
    return X, np.sin(X[:, 0]) + X[:, 1] ** 2, X_test, np.sin(X_test[:, 0]) + X_test[:, 1] ** 2


@pytest.mark.second_route("double_descent_curve", "scikit-learn")
def test_curve_is_what_it_says():
    "Errors and norms, recomputed from the definition with the same draws"
    data, widths, lam = problem(), [6, 12, 20, 50], 0.2
    X, y, X_test, y_test = data
    curve = double_descent_curve(fourier, *data, widths, rng=3, draws=2, lam=lam)
    for i, generator in enumerate(np.random.default_rng(3).spawn(2)):
        Z, Z_test = np.empty((20, 0)), np.empty((30, 0))
        for j, D in enumerate(widths):
            step = D - Z.shape[1]
            phi = fourier(step, generator)
            Z, Z_test = (
                np.hstack([Z, step**0.5 * phi(X)]),
                np.hstack([Z_test, step**0.5 * phi(X_test)]),
            )
            beta = Ridge(lam, fit_intercept=False, solver="svd").fit(Z / D**0.5, y).coef_
            np.testing.assert_allclose(
                curve.test[i, j], np.mean((Z_test @ beta / D**0.5 - y_test) ** 2), rtol=1e-8
            )
            np.testing.assert_allclose(
                curve.train[i, j], np.mean((Z @ beta / D**0.5 - y) ** 2), rtol=1e-6, atol=1e-20
            )
            np.testing.assert_allclose(curve.norm[i, j], np.linalg.norm(beta), rtol=1e-8)


def test_curve_tends_to_the_kernel_interpolant():
    X, y, X_test, y_test = problem(8)
    curve = double_descent_curve(fourier, X, y, X_test, y_test, [40, 40_000], rng=0, draws=3)
    h = RKHS(Gaussian(1.0)).interpolate(X, y)
    np.testing.assert_allclose(curve.norm[:, -1], h.norm(), rtol=0.05)
    np.testing.assert_allclose(curve.test[:, -1], np.mean((h(X_test) - y_test) ** 2), rtol=0.1)
    assert np.ptp(curve.norm[:, 0]) > np.ptp(curve.norm[:, -1])


def test_same_seed_same_curve_and_lists_of_penalties():
    data = problem()
    one, two = double_descent_curve(fourier, *data, [4, 20, 30], rng=5, draws=2, lam=[0, 0.1])
    again = double_descent_curve(fourier, *data, [4, 20, 30], rng=np.random.default_rng(5), draws=2)
    assert np.array_equal(one.test, again.test) and (one.lam, two.lam) == (0, 0.1)
    assert (two.norm < one.norm).all() and not one.test.flags.writeable
    copy = pickle.loads(pickle.dumps(one))
    assert np.array_equal(copy.test, one.test) and repr(copy) == repr(one)
    assert double_descent_curve(fourier, *data, [4], rng=5, draws=1).peak == 4


def test_measures_of_error():
    X, y, X_test, y_test = problem()
    signs, signs_test = np.sign(y - 1), np.sign(y_test - 1)
    by_sign = double_descent_curve(
        fourier, X, signs, X_test, signs_test, [6, 60], 0, draws=1, error="label"
    )
    two, two_test = (np.column_stack([s, -s]) for s in (signs, signs_test))
    by_class = double_descent_curve(
        fourier, X, two, X_test, two_test, [6, 60], 0, draws=1, error="label"
    )
    own = double_descent_curve(
        fourier,
        X,
        signs,
        X_test,
        signs_test,
        [6, 60],
        0,
        draws=1,
        error=lambda f, y: np.mean(f * y <= 0),
    )
    np.testing.assert_allclose(by_sign.test, by_class.test)
    np.testing.assert_allclose(by_sign.test, own.test)
    with pytest.raises(ValueError, match="y_test by its sign, and it holds 0"):
        double_descent_curve(fourier, X, signs, X_test, signs_test > 0, [6], 0, error="label")
    assert by_sign.train[0, 1] == 0 < by_sign.test[0, 0]


@pytest.mark.second_route("DoubleDescentCurve", "known numbers")
def test_peak_is_not_sought_among_the_smallest_models():
    values = np.array([[9.0, 1.0, 5.0, 2.0]])
    curve = DoubleDescentCurve(np.array([2, 10, 20, 40]), values, values, values, 20, 0.0)
    assert curve.peak == 20 and "draws: peak 5 at D = 20, least 1 at D = 10" in repr(curve)
    few = DoubleDescentCurve(np.array([2, 10, 20, 40]), values, values, values, 100, 0.0)
    assert few.peak == 2  # all widths below n/2: all count


def test_plot():
    curve = double_descent_curve(fourier, *problem(), [4, 20, 30], rng=5, draws=2)
    for what in ("test", "train", "norm"):
        ax = curve.plot(what=what, label="x")
        np.testing.assert_allclose(
            ax.lines[-1].get_ydata(), np.median(getattr(curve, what), axis=0)
        )
    plt.close("all")


def fourier_matern(D, rng):
    return fourier_features(Matern(0.5, 0.3), 2, D, rng)


def smooth(D, rng):
    return fourier_features(Gaussian(3.0), 2, D, rng)


def test_all_columns_together_fit_the_limit():
    "Each of ten maps does; what a refusal advises is taken"
    widths = range(100, 1100, 100)
    with settings.using(result_mib=0.1):
        with pytest.raises(MemoryError, match="a penalty lam"):
            double_descent_curve(smooth, *problem(), widths, 0, draws=1)
        double_descent_curve(smooth, *problem(), widths, 0, draws=1, lam=1.0)


def sparse(D, rng):
    "A map that repeats one neuron: never of full rank"
    phi = relu_features(2, max(1, D // 2), rng)
    return lambda X: np.hstack([phi(X), np.repeat(phi(X)[:, :1], D - phi.dim, axis=1)])


@pytest.mark.parametrize("features", [fourier, smooth, sparse])
@pytest.mark.parametrize("scale", [1e-6, 1.0, 1e6])
@pytest.mark.parametrize("lam", [0.0, 1e-9, 0.1])
def test_curve_beyond_n_is_the_fit_on_all_columns(features, scale, lam):
    "Whether the Gram matrix is enough or not (smooth kernel, features without full rank)"
    X, y, X_test, y_test = problem(12, 9)

    def own(D, rng):
        phi = features(D, rng)
        return lambda Z: scale * phi(Z)

    widths, lam, seen = [6, 12, 14, 40, 200], lam * scale**2, []
    curve = double_descent_curve(
        own,
        X,
        y,
        X_test,
        y_test,
        widths,
        rng=3,
        draws=1,
        lam=lam,
        error=lambda f, y: seen.append(f) or 0.0,
    )
    (generator,) = np.random.default_rng(3).spawn(1)
    maps = [own(D, generator) for D in np.diff([0, *widths])]
    for j, D in enumerate(widths):
        Z, Z_test = (
            np.hstack(
                [
                    (s / D) ** 0.5 * phi(A)
                    for s, phi in zip(np.diff([0, *widths[: j + 1]]), maps, strict=False)
                ]
            )
            for A in (X, X_test)
        )
        beta = min_norm_fit(Z, y, lam)
        np.testing.assert_allclose(curve.norm[0, j], np.linalg.norm(beta), rtol=1e-6)
        np.testing.assert_allclose(seen[2 * j], Z @ beta, atol=1e-6 * np.abs(y).max())
        np.testing.assert_allclose(seen[2 * j + 1], Z_test @ beta, atol=1e-6 * np.abs(y).max())


def test_memory_does_not_grow_with_the_widths():
    "Columns beyond D = n are added to the Gram matrix and forgotten"
    X, y, X_test, y_test = problem(300, 20)
    peaks = []
    for last in (20, 100):
        tracemalloc.start()
        double_descent_curve(
            fourier_matern, X, y, X_test, y_test, range(300, 300 * last, 300), 0, draws=1, lam=1e-3
        )
        peaks.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
    assert peaks[1] < 1.3 * peaks[0] < 1.3 * 8 * 300**2 * 12


def test_progress(capsys):
    for wanted in (True, False, None):
        double_descent_curve(fourier, *problem(), [4, 30], 0, draws=3, lam=[0, 1], progress=wanted)
        assert ("12/12" in capsys.readouterr().err) == (wanted is True)


def test_targets_are_not_changed():
    X, y, X_test, y_test = problem()
    with expect_fail(ValueError, contains="read-only", quiet=True):
        double_descent_curve(
            fourier, X, y, X_test, y_test, [4], 0, error=lambda f, y: y.__setitem__(0, 9.0) or 0.0
        )


# formulas


@pytest.mark.second_route("least_squares_risk", "simulation")
@pytest.mark.parametrize("n, p", [(10, 3), (10, 8), (10, 12), (10, 40), (1, 5)])
def test_risk_against_simulation(n, p):
    theta, draws = rng.normal(size=p), 4000
    errors = []
    for _ in range(draws):
        G = rng.normal(size=(n, p))
        beta = np.linalg.lstsq(G, G @ theta + 0.5 * rng.normal(size=n), rcond=None)[0]
        errors.append(0.25 + np.sum((beta - theta) ** 2))
    wanted, spread = least_squares_risk(n, p, theta @ theta, 0.25), np.std(errors) / draws**0.5
    assert abs(np.mean(errors) - wanted) < 5 * spread + (0.25 * wanted if abs(n - p) == 2 else 0)


def test_risk_at_the_peak():
    assert all(least_squares_risk(10, p, 1, 0.1) == math.inf for p in (9, 10, 11))
    assert least_squares_risk(10, 10, 1, 0) == 0 and least_squares_risk(10, 20, 1, 0) == 0.5


@pytest.mark.second_route("ArcCosine", "quadrature")
def test_arc_cosine_is_the_expectation_over_neurons():
    local = np.random.default_rng(4)
    k, X = ArcCosine(), local.normal(size=(6, 3)) * np.array([1e-3, 1e-1, 1, 1, 10, 1e4])[:, None]
    K = k(X)
    for i in range(6):
        for j in range(6):
            a, b = np.linalg.norm(X[i]), np.linalg.norm(X[j])
            theta = math.acos(np.clip(X[i] @ X[j] / (a * b), -1, 1))
            # E over the angle of w in the plane of x and y, with E r² = 2
            plane = quad(
                lambda u, t=theta: math.cos(u) * math.cos(u - t), theta - math.pi / 2, math.pi / 2
            )[0]
            np.testing.assert_allclose(
                K[i, j], 2 * a * b * 2 * plane / (2 * math.pi), rtol=1e-12, atol=1e-13 * a * b
            )
    check_kernel(k, X)
    check_kernel(2 * k + Gaussian(1.0), np.vstack([X, np.zeros(3)]))
    assert repr(k) == "ArcCosine()" and k == ArcCosine() and pickle.loads(pickle.dumps(k)) == k
    assert (k(np.zeros((1, 3)), X) == 0).all() and k(X.astype(np.float32)).dtype == np.float32
    assert (np.abs(k(X, -X).diagonal()) <= 1e-7 * k.diag(X)).all()


@pytest.mark.second_route("relu_features", "the mean of many draws")
def test_neurons_estimate_their_kernel():
    X = rng.normal(size=(5, 4))
    means = np.mean(
        [phi(X) @ phi(X).T for phi in (relu_features(4, 50, seed) for seed in range(400))], axis=0
    )
    scale = np.sqrt(np.outer(ArcCosine().diag(X), ArcCosine().diag(X)))
    assert (np.abs(means - ArcCosine()(X)) / scale).max() < 5 * (5 / 20_000) ** 0.5
    phi = relu_features(4, 7, 0)
    assert phi.dim == 7 and phi.kernel == ArcCosine()
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(phi))(X), phi(X))
    check_feature_map(relu_features(4, 200_000, 0), ArcCosine(), X, tol=0.05)
    with expect_fail(LawBroken, quiet=True):
        check_feature_map(relu_features(4, 200_000, 0), 1.2 * ArcCosine(), X, tol=0.05)


@pytest.mark.second_route("gaussian_power_bound", "closed forms for one and two points")
@pytest.mark.parametrize("bandwidth, n", [(0.3, 8), (1.0, 5), (5.0, 3)])
def test_power_bound_holds(bandwidth, n):
    X, x = (np.arange(n) + rng.uniform(0.2, 0.8, n)) * 2 / n, np.linspace(-1, 3, 101)
    P, bound = RKHS(Gaussian(bandwidth)).power_function(X)(x), gaussian_power_bound(bandwidth, X, x)
    assert (
        (P <= bound + 1e-6).all()
        and bound.max() <= 1
        and (gaussian_power_bound(bandwidth, X, X) == 0).all()
    )
    # one point, one factor: P(x)² = 1 − exp(−r²/σ²) ≤ r²/σ²
    one = gaussian_power_bound(bandwidth, [0.5], x)
    np.testing.assert_allclose(one, np.minimum(1, np.abs(x - 0.5) / bandwidth))
    assert (RKHS(Gaussian(bandwidth)).power_function([0.5])(x) <= one + 1e-8).all()
    # two points at distances a and b: √3/2 · ab/σ², where that is less than a/σ
    two = gaussian_power_bound(bandwidth, [0.5, 0.5 + 0.1 * bandwidth], [0.5 + 0.2 * bandwidth])
    np.testing.assert_allclose(two, np.sqrt(3) / 2 * 0.2 * 0.1)


# bad input

A, b = rng.normal(size=(4, 6)), rng.normal(size=4)
T = rng.normal(size=(3, 6))
NAN = np.where(np.arange(6) == 2, np.nan, 1.0)[None].repeat(4, 0)
BAD = [
    (lambda: min_norm_fit(NAN, b), ValueError, "Phi is not finite"),
    (lambda: min_norm_fit(A, b[:3]), ValueError, "Phi has 4 points"),
    (lambda: min_norm_fit(A, ["a"] * 4), TypeError, "y holds text"),
    (lambda: min_norm_fit(np.empty((0, 3)), []), ValueError, "empty"),
    (lambda: min_norm_fit(A, b, lam=-1), ValueError, "lam = -1"),
    (lambda: min_norm_fit(A, b, lam="a"), TypeError, "lam = 'a'"),
    (lambda: min_norm_fit(A, b, rtol=True), TypeError, "rtol = True"),
    (lambda: min_norm_fit(A, b, rtol=1), ValueError, "≥ 0, < 1"),
    (
        lambda: double_descent_curve(fourier, 3.0, [1.0], [[1.0, 2]], [1.0], [4], 0),
        ValueError,
        "X ",
    ),
    (
        lambda: double_descent_curve(fourier, *problem(), [4], 0, error=lambda f, y: None),
        TypeError,
        "the error",
    ),
    (
        lambda: double_descent_curve(fourier, *problem(), [4], 0, error=lambda f, y: np.nan),
        ValueError,
        "the error",
    ),
    (lambda: ArcCosine()([[1e200]]), ValueError, "overflow"),
    (lambda: min_norm_fit(1e-300 * A, 1e300 * b), ValueError, "overflow"),
    (lambda: min_norm_path(1e-300 * A, 1e300 * b, [3]), ValueError, "overflow"),
    (lambda: min_norm_path(A, b, [3, 3]), ValueError, "increasing"),
    (lambda: min_norm_path(A, b, []), ValueError, "widths is empty"),
    (lambda: min_norm_path(A, b, [0, 3]), ValueError, "widths[0] = 0"),
    (lambda: min_norm_path(A, b, [2.5]), ValueError, "whole"),
    (lambda: min_norm_path(A, b, ["a"]), TypeError, "widths"),
    (lambda: min_norm_path(A, b, [7]), ValueError, "has 6 columns"),
    (lambda: min_norm_path(A, b, [2, 3], lam=[1, 2, 3]), ValueError, "lam has 3 widths"),
    (lambda: min_norm_path(A, b, [2, 3], lam=-1), ValueError, "≥ 0"),
    (lambda: check_min_norm(A, b, b), ValueError, "beta has 4 entries"),
    (lambda: check_min_norm(A, b, np.ones(6), tol="a"), TypeError, "tol = 'a'"),
    (lambda: check_min_norm(A, b, np.ones(6), tol=np.nan), ValueError, "tol = nan"),
    (lambda: min_norm_path(A, b, [[2], [3, 4]]), ValueError, "widths"),
    (lambda: double_descent_curve(fourier, *problem(), [4], 0, lam=[]), ValueError, "lam is empty"),
    (
        lambda: double_descent_curve(fourier, *problem(), [4], 0, error=np.ones(2)),
        TypeError,
        "values and",
    ),
    (
        lambda: double_descent_curve(
            fourier, *problem(3, 3)[:1], [0, 1, 1], *problem(3, 3)[2:], [4], 0, error="label"
        ),
        ValueError,
        "y by its sign, and it holds 0: pass −1 and 1, or one column",
    ),
    (
        lambda: double_descent_curve(fourier, *(1e200 * A for A in problem()), [4], 0),
        ValueError,
        "the error",
    ),
    (lambda: double_descent_curve("rbf", *problem(), [4], 0), TypeError, "(D, rng) → FeatureMap"),
    (lambda: double_descent_curve(fourier, *problem(), [4], "x"), TypeError, "Generator"),
    (lambda: double_descent_curve(fourier, *problem(), [4], -1), TypeError, "Generator"),
    (lambda: double_descent_curve(fourier, *problem(), [4], 0, draws=0), ValueError, "draws"),
    (lambda: double_descent_curve(fourier, *problem(), [4], 0, lam=-1), ValueError, "lam"),
    (
        lambda: double_descent_curve(fourier, *problem(), [4], 0, error="mse"),
        ValueError,
        "'squared'",
    ),
    (lambda: double_descent_curve(fourier, *problem(), [4, 5], 0), ValueError, "phase"),
    (
        lambda: double_descent_curve(fourier, *problem()[:3], np.ones((30, 2)), [4], 0),
        ValueError,
        "same columns",
    ),
    (
        lambda: double_descent_curve(fourier, *problem()[:3], np.ones(7), [4], 0),
        ValueError,
        "30 points",
    ),
    (lambda: double_descent_curve(fourier, *problem(), [10**9], 0), MemoryError, "GiB"),
    (
        lambda: double_descent_curve(lambda D, rng: np.sin, *problem(), [4], 0),
        ValueError,
        "must give (20, 4)",
    ),
    (
        lambda: double_descent_curve(lambda D, rng: 3, *problem(), [4], 0),
        TypeError,
        "function of points",
    ),
    (
        lambda: double_descent_curve(
            lambda D, rng: lambda X: np.full((len(X), D), np.nan), *problem(), [4], 0
        ),
        ValueError,
        "features is not finite",
    ),
    (
        lambda: double_descent_curve(fourier, *problem(), [4], 0, draws=1).plot(what="x"),
        ValueError,
        "'norm'",
    ),
    (lambda: least_squares_risk(0, 3, 1, 1), ValueError, "n = 0"),
    (lambda: least_squares_risk(5, 3, -1, 1), ValueError, "signal"),
    (lambda: relu_features(0, 3, 0), ValueError, "d = 0"),
    (lambda: relu_features(2, 3, 0)(T), ValueError, "columns"),
    (lambda: gaussian_power_bound(0, [1], [1]), ValueError, "bandwidth"),
    (lambda: gaussian_power_bound(1, T, [1]), ValueError, "X has shape"),
]


@pytest.mark.parametrize("call, error, words", BAD)
def test_bad_input(call, error, words):
    with expect_fail(error, contains=words, quiet=True):
        call()


def test_a_point_met_twice_bounds_the_power_function_once():
    found = gaussian_power_bound(1.0, [0.0, 0.0], [0.1])
    assert found == gaussian_power_bound(1.0, [0.0], [0.1])
    assert found >= np.sqrt(1 - np.exp(-(0.1**2)))  # P of that one point
