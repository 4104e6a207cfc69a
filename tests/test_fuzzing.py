"""The fuzz of the contracts: a slice of it, and each kind of fault, planted, is found by its name."""

import time
import warnings
from functools import partial

import numpy as np
import pytest
from rkhs_notes import Linear, nu_svr, svc, svc_leave_one_out, svr
from rkhs_notes.arrays import as_floats, as_rng, sqdist
from rkhs_notes.contracts import Count, Positive, Vector, contract
from rkhs_notes.dependence import conditional_independence_test
from rkhs_notes.double_descent import check_min_norm
from rkhs_notes.errors import ConvergenceFailure, RKHSError
from rkhs_notes.features import novikoff_bound
from rkhs_notes.hilbert import check_inner_product, combine, lp_norm, parallelogram_defect, uniform_grid
from rkhs_notes.kernels import Gaussian, check_kernel
from rkhs_notes.laws import check_gradient
from rkhs_notes.normals import sobol_normals, structured_normals
from rkhs_notes.paths import min_norm_path
from rkhs_notes.plots import plot_decision
from rkhs_notes.random_features import spectral_from_function
from rkhs_notes.rates import selection_cost
from rkhs_notes.representer import minimize_risk, semiparametric, smoothing_spline
from rkhs_notes.scale import gaussian_process_large
from rkhs_notes.zoo import Matern, Periodic, RationalQuadratic

import fuzzing
from conftest import refuse
from test_contracts import CONTRACTS


def test_a_slice_of_the_hostile_calls(request):
    seed = request.config.getoption("--explore")
    slice_ = partial(fuzzing.run, 0, 240, first=len(CONTRACTS))
    ran, causes = slice_() if seed is None else fuzzing.run(seed, 50_000, fuzzing.everything())
    print(f"seed {seed}, {ran.total()} cases: {dict(ran)}")
    refuse(fuzzing.report(causes))
    assert ran.total() > 150 and len(ran) >= 6


@contract
def mean(x: Vector, lam: Positive = 1.0, times: Count = 1):
    return x.mean() * lam


def planted(body):
    "A contract with this body in place of the mean"

    @contract
    def mean(x: Vector, lam: Positive = 1.0, times: Count = 1):
        return body(x, lam, times)

    return mean


def forgetful(x, lam, times):
    x[0] = 0.0
    return 0.0


def endless(x, lam, times):
    while times > 0:
        pass


def shouting(x, lam, times):
    warnings.warn("overflow encountered", RuntimeWarning, stacklevel=1)
    return 0.0


FAULTS = {
    "not finite": lambda x, lam, times: x.mean() * np.nan,
    "raw ZeroDivisionError": lambda x, lam, times: 1 / 0,
    "an argument is another": forgetful, "no end": endless, "warning: overflow": shouting,
    "raw AttributeError": lambda x, lam, times: x.no_such_name,
}  # fmt: skip


@pytest.mark.parametrize("trouble", FAULTS)
def test_a_planted_fault_is_found(trouble, monkeypatch):
    monkeypatch.setattr(fuzzing, "LIMIT", 0.05)
    arguments = {"x": np.array([1.0, 2.0]), "lam": 1.0, "times": 1}
    assert fuzzing.attempt(mean, arguments) == fuzzing.Outcome(1.5)
    assert trouble in fuzzing.attempt(planted(FAULTS[trouble]), arguments).trouble


def laws_of(body, kinds, cases=60):
    "The troubles that the fuzz finds in a contract with this body, of these kinds"
    _, causes = fuzzing.run(0, cases, [("tests.mean", planted(body))])
    return {trouble for trouble, _ in causes} & kinds


def by_memory(x, lam, times):
    return float(x.strides[0])  # gaps and negative strides change it


def test_an_answer_that_depends_on_the_container_is_found():
    another = {"another answer"}
    assert laws_of(by_memory, another) and not laws_of(lambda x, lam, times: x.sum(), another)


def test_answers_that_follow_the_points_and_those_that_do_not():
    a, order = np.arange(6.0).reshape(3, 2), np.array([2, 0, 1])
    assert fuzzing.follows(a[order], a, order) and not fuzzing.follows(a[[1, 0, 2]], a, order)
    gram = a @ a.T
    assert fuzzing.follows(gram[np.ix_(order, order)], gram, order)
    assert fuzzing.homogeneous(a * 2.0**60, a, 30) and not fuzzing.homogeneous(a * 2.0**20, a, 30)
    assert not fuzzing.close(a, a + 1e-5) and fuzzing.close(a, a + 1e-9)


def test_a_case_is_known_by_its_seed_and_number():
    first, again = (fuzzing.draw_case(5, 17, fuzzing.CONTRACTS) for _ in range(2))
    assert first[:1] + first[2:5] == again[:1] + again[2:5]


# what it found, each once

UNIT = [[0.0, 1.0], [1.0, 0.5], [2.0, 1.0]]


@pytest.mark.parametrize("kernel", [Gaussian, lambda b: Matern(1.5, b), lambda b: Matern(1.2, b),
                                    lambda b: RationalQuadratic(0.6, b)])
@pytest.mark.parametrize("size", [1e-300, 1e-200, 1e-160, 1e150, 1e300])
def test_radial_kernels_have_no_unit(kernel, size):
    X, K = np.array(UNIT), kernel(1.0)(UNIT)
    np.testing.assert_allclose(kernel(size)(X * size), K, rtol=1e-9)
    np.testing.assert_allclose(kernel(size)(X * size, X[:2] * size), K[:, :2], rtol=1e-9)
    pairs = kernel(size).pairs(X * size, X[::-1] * size)
    np.testing.assert_allclose(pairs, kernel(1.0).pairs(X, X[::-1]), rtol=1e-9)
    np.testing.assert_allclose(Gaussian(1e-25)(np.array([0, 1e-25], "f"))[0, 1], np.exp(-0.5), rtol=1e-6)


def test_defects_and_bounds_have_no_unit():
    f, g = np.array([1.0, 2.0]), np.array([0.5, -1.0])
    Phi, y = np.array([[1.0, 0.2], [-2.0, 0.3]]), [1.0, -1.0]
    defect = parallelogram_defect(partial(lp_norm, p=1.0), f, g)
    for size in (1e-200, 1e200):
        assert parallelogram_defect(partial(lp_norm, p=1.0), f * size, g * size) == pytest.approx(defect)
        assert novikoff_bound(Phi * size, y) == pytest.approx(novikoff_bound(Phi, y))


BEYOND = np.array([1], np.longdouble) * np.longdouble("1e4000")
column = lambda X, y: (lambda Z: np.ones((len(Z), 1)), 1.0)  # noqa: E731
REFUSED = {
    "an integer above the floats": (lambda: as_floats([10**400, 1], "y"), ValueError, "y is not finite"),
    "and beside it None": (lambda: as_floats([10**400, None], "y"), TypeError, "Python objects"),
    "a longer float": (lambda: as_floats(BEYOND, "y"), ValueError, "y is not finite"),
    "a masked number": (lambda: Gaussian(np.ma.masked), TypeError, "bandwidth = masked"),
    "a span of time as a seed": (lambda: as_rng(np.timedelta64(1, "s")), TypeError, "rng: expected"),
    "too many normals": (lambda: sobol_normals(10**9, 2), MemoryError, "limit"),
    "too many signs": (lambda: structured_normals(2, 10**9), MemoryError, "limit"),
    "vectors of two spaces": (
        lambda: check_inner_product(np.dot, [[1.0, 2.0], [3.0]]), ValueError, "different spaces"),
    "vectors with three axes": (
        lambda: check_inner_product(np.vdot, np.ones((2, 2, 2))), ValueError, "vectors has shape"),
    "predictions in a column": (
        lambda: selection_cost(column, np.arange(6.0), np.arange(6.0)), ValueError, r"f\(X\) has shape"),
}  # fmt: skip


@pytest.mark.parametrize("case", REFUSED)
@pytest.mark.filterwarnings("error")
def test_refused_in_words(case):
    call, error, words = REFUSED[case]
    with pytest.raises(error, match=words):
        call()


def test_laws_hold_in_single_precision():
    X = (np.random.default_rng(0).normal(size=(20, 1)) * 1000).astype(np.float32)
    check_kernel(Periodic(2.7, 1.0), X)
    assert check_gradient(Gaussian(300.0), X) < 1e-6


def test_a_count_of_a_billion_can_be_stopped():
    start = time.process_time()
    with pytest.raises(fuzzing.Hang), fuzzing.within(0.1):
        endless(None, None, 10**9)
    assert time.process_time() - start < 2
    assert (sqdist(UNIT) >= 0).all()  # and what follows is none the worse


# machines that must end: equal points, boxes beyond rounding, entries beyond all others

Y_FEW = np.array([-0.9, 0.4, 0.1, 1.3, -0.2])
FLAT = {
    "all rows equal": (np.zeros((5, 1)), 1e30),
    "rows twice": (np.array([[0.0], [0.0], [1.0], [1.0], [2.0]]), 1e30),
    "an ulp apart": (np.nextafter(np.ones((5, 1)), [[9.0], [-9.0], [9.0], [-9.0], [9.0]]), 1e20),
}  # fmt: skip


@pytest.mark.parametrize("machine", [svr, nu_svr])
@pytest.mark.parametrize("case", FLAT)
def test_tubes_end_where_points_are_equal(machine, case):
    X, C = FLAT[case]
    with fuzzing.within(1.0):
        if machine is svr and case != "rows twice":
            assert np.abs(svr(Gaussian(1.0), X, Y_FEW, C=C).dual).max() == C  # as far as the box goes
        else:  # of f, what comes of equal points is lost in rounding
            with pytest.raises(ConvergenceFailure, match="cannot be rounded.*a smaller C"):
                machine(Gaussian(1.0), X, Y_FEW, C=C)
    easy = machine(Gaussian(1.0), X, Y_FEW, C=1e3)
    assert -1e-12 < easy.gap < 1e-2 and easy.violation <= 1e-3


@pytest.mark.parametrize("size", [1e100, 1e154])
def test_classes_with_an_entry_beyond_all_others_are_refused_in_words(size):
    X = np.array([[0.1, 0.2], [1.0, size], [0.5, -1.0], [-0.3, 0.7]])
    with fuzzing.within(1.0), pytest.raises(ConvergenceFailure, match="rescale"):
        svc(Linear() + Gaussian(2.0), X, [1, -1, 1, -1], C=8.7)
    with fuzzing.within(1.0), pytest.raises(ConvergenceFailure, match="rescale"):
        svc_leave_one_out(Linear() + Gaussian(2.0), X + 1e16, [1, -1, 1, -1], [8.7])


# sizes beside which there were warnings, or words of Python and NumPy

FEW, ONES = np.array([[0.1, 0.7], [1.3, -0.4], [-0.8, 0.2], [0.5, 1.1], [-1.2, -0.9]]), np.ones(5)
LINE, k = FEW[:, 0], Gaussian(1.0)
FAR = {  # None where there is an answer
    "an interval": (lambda: uniform_grid(-1e308, 1e307, 5).points, None),
    "longer than floats": (lambda: uniform_grid(-1e308, 1.7e308, 5), "points is not finite"),
    "a combination": (lambda: combine([1e308, 1.0], [[9.0], [1.0]]), "combination of vectors overflows"),
    "a line": (lambda: smoothing_spline(1e308 * LINE, Y_FEW, 1.0), "rescale x"),
    "heavy points": (lambda: semiparametric(k, FEW, Y_FEW, np.cos, 1.0, 1e308 * ONES)(FEW), None),
    "light points": (lambda: semiparametric(k, LINE, Y_FEW, np.cos, 1.0, 1e-310 * ONES), "weights / lam"),
    "a class": (lambda: semiparametric(k, LINE, Y_FEW, int), "null_space is the class int"),
    "one light point": (
        lambda: minimize_risk(k, FEW, Y_FEW, weights=[1e-310, 1, 1, 1, 1]), "weights = 1e-310: .* left out"),
    "a heavy process": (
        lambda: gaussian_process_large(k, FEW, Y_FEW, 0.1, weights=1e308 * ONES), "rescale .*weights"),
    "a far process": (lambda: gaussian_process_large(Linear() + k, 1e308 * FEW, Y_FEW, 0.1), "overflows"),
    "no tolerance": (lambda: gaussian_process_large(k, FEW, Y_FEW, 0.1, tol=5e-324), "Raise lam or tol"),
    "a large penalty": (lambda: check_min_norm(np.eye(5), Y_FEW, Y_FEW / 1e160, lam=1e160), None),
    "large features": (lambda: check_min_norm(1e308 * np.eye(5), Y_FEW, Y_FEW / 1e308), None),
    "not of them": (lambda: check_min_norm(1e308 * np.eye(5), Y_FEW, 10 * Y_FEW), "beta does not minimise"),
    "a path of small features": (lambda: min_norm_path(1e-310 * FEW, Y_FEW, [1, 2], lam=1.0), "rescale Phi"),
    "a path to large targets": (lambda: min_norm_path(1e-9 * FEW, 1e308 * Y_FEW, [1, 2]), "y is huge"),
    "a short reach": (lambda: spectral_from_function(k, reach=1e-300), "reach = 1e-300"),
    "nothing unexplained": (
        lambda: conditional_independence_test(k, k, k, FEW, FEW[::-1], FEW, lam=1e-300), "larger lam"),
    "residuals beyond floats": (
        lambda: conditional_independence_test(Linear(), Linear(), k, 1e80 * FEW, 1e80 * FEW[::-1], FEW),
        "rescale X, Y or Z"),
    "a picture": (lambda: plot_decision(lambda P: P[:, 0], 1e308 * FEW, [0, 1, 0, 1, 0]), "X = .*e.308"),
}  # fmt: skip


@pytest.mark.parametrize("case", FAR)
@pytest.mark.filterwarnings("error")
def test_far_sizes_are_answered_or_refused_without_a_warning(case):
    call, words = FAR[case]
    if words is None:
        assert np.isfinite(call()).all()
    else:
        with pytest.raises((ValueError, TypeError, RKHSError), match=words):
            call()
