"""Bad input never yields NaN or a message from LAPACK: each case names argument, input and what to pass."""

import warnings

import numpy as np
import pytest
import scipy.sparse

import rkhs_notes as rn
from rkhs_notes import estimators, settings
from rkhs_notes.apps.exercises import check, check_exercises
from rkhs_notes.base.arrays import as_count, as_number, as_points
from rkhs_notes.base.distances import sqdist
from rkhs_notes.base.errors import NotPositiveDefinite
from rkhs_notes.base.factors import solve_psd
from rkhs_notes.engines.functions.measures import Measure, empirical, gauss_legendre, lp_norm
from rkhs_notes.engines.functions.vectors import combine, gram_schmidt, project
from rkhs_notes.engines.solving.ridge_fits import ridge, ridge_path
from rkhs_notes.kernels import Brownian, Gaussian, Linear, Polynomial, Sum, is_psd, median_bandwidth
from rkhs_notes.rkhs import RKHS, RKHSFunction, check_reproducing

X, y, k = np.arange(12.0).reshape(6, 2), np.arange(6.0), Gaussian(1)
f = RKHSFunction(k, X, y)
masked = np.ma.masked_array(X, mask=np.eye(6, 2, dtype=bool))

BAD_POINTS = {
    "text": (["a", "b"], TypeError, "text"),
    "objects": (np.array([[1, None]], dtype=object), TypeError, "objects"),
    "dates": (np.array(["2020-01-01"], dtype="datetime64[D]"), TypeError, "dates"),
    "complex": (X + 1j, TypeError, "complex"),
    "sparse": (scipy.sparse.csr_array([[1.0, np.nan]]), (TypeError, ValueError), "finite|toarray"),
    "masked": (masked, TypeError, "masked"),
    "none": (None, TypeError, "objects"),
    "ragged": ([[1, 2], [3]], ValueError, "unequal"),
    "no points": (np.zeros((0, 2)), ValueError, "empty"),
    "no columns": (np.zeros((3, 0)), ValueError, "empty"),
    "a number": (3.0, ValueError, "single number"),
    "three axes": (np.zeros((4, 2, 2)), ValueError, "reshape"),
    "nan": (np.where(X == 3, np.nan, X), ValueError, "not finite"),
    "inf": (np.where(X == 3, np.inf, X), ValueError, "not finite"),
    "infinities that cancel": (np.array([np.inf, -np.inf]), ValueError, "not finite"),
}
USES = {
    "k(X)": lambda P: k(P),
    "k(., Y)": lambda P: Linear()(X, P),
    "k.diag": lambda P: k.diag(P),
    "ridge": lambda P: ridge(k, P, y),
    "ridge_path": lambda P: ridge_path(k, P, y),
    "f(X)": lambda P: f(P),
    "centres": lambda P: RKHSFunction(k, P, y),
    "median_bandwidth": lambda P: median_bandwidth(P),
    "interpolate": lambda P: RKHS(k).interpolate(P, y),
}


@pytest.mark.parametrize("use", USES)
@pytest.mark.parametrize("kind", BAD_POINTS)
def test_points(use, kind):
    if (use, kind) == ("k(., Y)", "none"):
        return  # k(X, None) is k(X)
    points, error, words = BAD_POINTS[kind]
    with pytest.raises(error, match=words) as caught:
        USES[use](points)
    assert str(caught.value).split()[0] in ("X", "Y", "Z")  # the argument is named first


OTHER = {
    "columns differ": (lambda: k(X, X[:, :1]), ValueError, "2 columns, Y has 1"),
    "columns of new points": (lambda: f(X[:, :1]), ValueError, "columns"),
    "pairs": (lambda: k.pairs(X, X[:3]), ValueError, "one row of Y for each"),
    "no bandwidth": (lambda: Gaussian(0), ValueError, "bandwidth = 0"),
    "negative bandwidth": (lambda: Gaussian(-1), ValueError, "bandwidth = -1"),
    "nan bandwidth": (lambda: Gaussian(float("nan")), ValueError, "bandwidth"),
    "bandwidth text": (lambda: Gaussian("wide"), TypeError, "bandwidth = 'wide'"),
    "bandwidth array": (lambda: Gaussian([1.0, 2.0])(np.zeros((3, 3))), ValueError, "pass .n, 2."),
    "bandwidth matrix": (lambda: Gaussian([[1.0, 2.0]]), ValueError, "bandwidth"),
    "negative offset": (lambda: Polynomial(2, offset=-1), ValueError, "offset = -1"),
    "degree": (lambda: Polynomial(2.5), ValueError, "whole"),
    "scale by a negative": (lambda: -1 * k, ValueError, "scale = -1"),
    "scale by an array": (lambda: np.ones(3) * k, TypeError, "scale"),
    "scale by text": (lambda: "2" * k, TypeError, "scale"),
    "minus": (lambda: k - k, TypeError, "cone"),
    "number minus": (lambda: 1 - k, TypeError, "cone"),
    "negation": (lambda: -k, ValueError, "not a kernel"),
    "unknown parameter": (lambda: k.with_params(width=2), TypeError, "no parameter 'width'"),
    "outside the domain": (lambda: Brownian()([-1.0]), ValueError, "lives on"),
    "a plane for Brownian": (lambda: Brownian()(X), ValueError, "takes points of ℝ here"),
    "overflow": (lambda: k([1e200, -1e200]), ValueError, "overflow"),
    "not square": (lambda: is_psd(X), ValueError, "square"),
    "all points equal": (lambda: median_bandwidth(np.ones((4, 2))), ValueError, "coincide"),
    "one point": (lambda: median_bandwidth([1.0]), ValueError, "there is no pair"),
    "lam zero": (lambda: ridge(k, X, y, 0), ValueError, "lam = 0"),
    "lam negative": (lambda: ridge(k, X, y, -1), ValueError, "lam = -1"),
    "lam nan": (lambda: ridge(k, X, y, float("nan")), ValueError, "lam"),
    "lam text": (lambda: ridge(k, X, y, "auto"), TypeError, "lam = 'auto'"),
    "lam none": (lambda: ridge(k, X, y, None), TypeError, "lam = None"),
    "lams negative": (lambda: ridge_path(k, X, y, [1, -1]), ValueError, "lams holds -1"),
    "lams empty": (lambda: ridge_path(k, X, y, []), ValueError, "lams is empty"),
    "lam below rounding": (
        lambda: ridge_path(k, X, y, [1e-320, 1]),
        NotPositiveDefinite,
        "below the rounding",
    ),
    "lam below rounding, later": (
        lambda: ridge_path(k, X, y).function(1e-20),
        NotPositiveDefinite,
        "rounding",
    ),
    "lams in a square": (
        lambda: ridge_path(k, X, y, np.ones((2, 2))),
        ValueError,
        "lams has shape",
    ),
    "singular": (
        lambda: RKHS(Linear()).interpolate(np.eye(4, 3), y[:4]),
        NotPositiveDefinite,
        "Usual causes",
    ),
    "a number is no kernel": (lambda: k + 1, TypeError, r"Constant\(c\)"),
    "RKHS of a number": (lambda: RKHS(3), TypeError, "not a Kernel"),
    "sum of numbers": (lambda: Sum(1, 2), TypeError, "not a Kernel"),
    "values overflow": (lambda: Linear()(X * 1e200), ValueError, "overflows"),
    "overflow in float32": (lambda: (1e300 * k)(X.astype("f")), ValueError, "overflows"),
    "two functions at once": (
        lambda: check_reproducing(RKHSFunction(k, X, X), X),
        ValueError,
        "one at a time",
    ),
    "distances of other spaces": (lambda: sqdist(X, X[:, :1]), ValueError, "in the space of X"),
    "no such chapter": (lambda: check_exercises("99"), ValueError, "no chapter"),
    "vectors that overflow": (lambda: project(y, [y * 1e200]), ValueError, "overflow"),
    "one point to leave out": (lambda: ridge_path(k, X[:1], y[:1]), ValueError, "holds 1 point"),
    "lengths": (lambda: ridge(k, X, y[:4]), ValueError, r"y has shape \(4,\), but X has 6 points"),
    "label text": (lambda: ridge(k, X, ["a"] * 6), TypeError, "y holds text"),
    "target nan": (lambda: ridge(k, X, y * np.nan), ValueError, "y is not finite"),
    "target cube": (lambda: ridge(k, X, np.zeros((6, 1, 1))), ValueError, "y has shape"),
    "no kernel": (lambda: ridge(np.dot, X, y), TypeError, "not a Kernel"),
    "kernel class": (lambda: ridge(Gaussian, X, y), TypeError, "not a Kernel"),
    "coefficients": (lambda: RKHSFunction(k, X, y[:2]), ValueError, "Z has 6 points"),
    "other space": (lambda: f + RKHSFunction(Linear(), X, y), ValueError, "one space"),
    "product of functions": (lambda: f * f, TypeError, r"f\.k \* g\.k"),
    "inner with a number": (lambda: f @ 3, TypeError, "RKHSFunction"),
    "divide by zero": (lambda: f / 0, (ValueError, ZeroDivisionError), "divis"),
    "three dimensions drawn": (
        lambda: RKHSFunction(k, np.eye(3), np.ones(3)).plot(),
        ValueError,
        "draws functions",
    ),
    "asymmetric": (lambda: solve_psd([[1, 2], [0, 1]], [1, 1]), ValueError, "not symmetric"),
    "not a number": (lambda: as_number([1, 2], "lam"), TypeError, "lam"),
    "a truth value": (lambda: as_number(True, "lam"), TypeError, "lam"),
    "not whole": (lambda: as_count(1.5, "n"), ValueError, "n = 1.5"),
    "interval": (lambda: gauss_legendre(1, 0, 3), ValueError, "a < b"),
    "no nodes": (lambda: gauss_legendre(0, 1, 0), ValueError, "n = 0"),
    "negative weights": (lambda: empirical(y, -y), ValueError, "weights"),
    "weights of another length": (lambda: Measure(y, [1.0]), ValueError, "weights"),
    "values of another length": (
        lambda: empirical(y).inner(y, y[:3]),
        ValueError,
        "one number a point",
    ),
    "infinite values": (
        lambda: Measure([0.0, 1.0], [1, 1]).integrate(lambda x: 1 / x),
        ValueError,
        "not finite",
    ),
    "p negative": (lambda: lp_norm(y, -1), ValueError, "p = -1"),
    "p nan": (lambda: lp_norm(y, float("nan")), ValueError, "p = nan"),
    "dependent vectors": (lambda: gram_schmidt([y, 2 * y]), ValueError, "vector 1"),
    "nothing to combine": (lambda: combine([], []), ValueError, "at least one"),
    "lengths of vectors": (lambda: project(y, np.eye(3)), ValueError, "different spaces"),
    "no such exercise": (lambda: check("00.99", len), ValueError, "00.1"),
    "too large": (lambda: k(np.zeros((40_000, 1))), MemoryError, "11.9 GiB"),
}


@pytest.mark.parametrize("case", OTHER)
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_arguments(case):
    use, error, words = OTHER[case]
    with pytest.raises(error, match=words):
        use()


def test_what_looks_odd_but_is_fine():
    ints, one = ridge(k, [[0], [1]], [1, 0], 1), ridge(k, [[2.0]], [3.0], lam=1)
    assert ints([0.5]).shape == (1,) and np.isclose(one([2.0])[0], 1.5)
    assert np.isfinite(
        ridge(k, np.ones((5, 3)), np.ones(5), 1e-3)(np.ones((1, 3)))
    ).all()  # constant columns
    assert (k([1e-200, 2e-200]) == 1).all() and np.isfinite(Linear()(X * 1e150)).all()
    assert np.isfinite(
        ridge_path(Linear(), np.zeros((4, 1)), [1.0, 2, 3, 4]).loo
    ).all()  # a zero Gram matrix
    assert ridge_path(k, X, y, 0.1).best == 0.1  # one lam
    mixed = np.array([[1, True], [2.5, False]], dtype=object)  # as a table gives it
    assert (as_points(mixed) == [[1, 1], [2.5, 0]]).all()
    assert as_points(np.ones((2, 2), dtype=">f4")).dtype == np.float32
    np.testing.assert_allclose(project([1, 2], [[1, 0]]), [1, 0])  # plain lists


def test_a_matrix_within_the_limit_is_returned():
    with settings.using(result_mib=1):
        assert k(np.zeros((300, 1))).shape == (300, 300)
        with pytest.raises(MemoryError, match="result_mib"):
            k(np.zeros((400, 1)))


def test_an_exercise_is_found_without_its_leading_zero():
    assert check("0.1", len).exercise == "00.1" == check("00.1", len).exercise


FITS = {
    "jackknife_plus": lambda k: rn.jackknife_plus(k, X, y, 0.5),
    "gaussian_process": lambda k: rn.gaussian_process(k, X, y, 0.5),
    "gaussian_process_large": lambda k: rn.gaussian_process_large(k, X, y, 0.5, rng=0),
    "gp_classification": lambda k: rn.gp_classification(k, X / 12, y > 2),
    "kernel_pca": lambda k: rn.kernel_pca(k, X, 1),
    "ridge": lambda k: rn.ridge(k, X, y, 0.5, offset=True),
    "svc": lambda k: rn.svc(k, X, y > 2, 1.0),
}
AT_POINTS = "__call__ predict decision var cov paths sample conformal_interval probability residual"


@pytest.mark.parametrize("columns", [1, 3])
@pytest.mark.parametrize("kernel", [Gaussian(3.0), Linear()], ids=str)
@pytest.mark.parametrize("name", FITS)
def test_every_method_of_a_fit_refuses_points_of_another_space(name, kernel, columns):
    fit, elsewhere = FITS[name](kernel), np.ones((4, columns))
    for method in AT_POINTS.split():
        more = (2,) if method == "sample" else ()
        if hasattr(fit, method):
            with pytest.raises(ValueError, match=r"^X has shape \(4, \d\); pass \(n, 2\)"):
                getattr(fit, method)(elsewhere, *more)


HUGE = (1e-300, 1e-170, 1e153, 3e153, 1e200, 1e307)  # beside squares and sums that leave the floats


LABELLED = ("KernelSVC", "KernelLogistic", "StreamingKernelClassifier")


@pytest.mark.parametrize("size", HUGE)
@pytest.mark.parametrize("kernel", [None, rn.Gaussian(1.0), rn.Linear()], ids=str)
def test_points_of_any_size_are_answered_or_refused_in_our_words(size, kernel):
    rng = np.random.default_rng(0)
    Z = rng.normal(size=(40, 3))
    y = Z[:, 0] + 0.1 * rng.normal(size=40)
    for X in (size * Z, size * np.abs(Z), Z * [1, 1, size]):
        for name in [*estimators.__all__, "GaussianProcess", "StreamingKernelClassifier"]:
            kind = getattr(estimators, name)
            if kind is estimators.KernelEstimator:
                continue
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", UserWarning)
                warnings.filterwarnings("error", message=".*encountered")
                try:
                    fit = kind(kernel).fit(X, y > 0 if name in LABELLED else y)
                    verb = next(v for v in ("predict", "transform", "score") if hasattr(fit, v))
                    answer = getattr(fit, verb)(X)
                except (ValueError, rn.RKHSError) as e:
                    assert not isinstance(e, np.linalg.LinAlgError) and str(e).strip()
                else:
                    assert np.isfinite(np.asarray(answer, float)).all()
