"""The fuzz of the contracts: a slice of it, and each kind of fault, planted, is found by its name."""

import time
import warnings
from functools import partial

import numpy as np
import pandas as pd
import pytest
from rkhs_notes.deeper.cca import kernel_cca
from scipy.sparse import csr_array
from test_contracts import CONTRACTS

import fuzzing
import rkhs_notes as rn
from conftest import refuse
from rkhs_notes import Linear, nu_svr, svc, svc_leave_one_out, svr
from rkhs_notes.apps.exercises import check_exercises
from rkhs_notes.apps.play import drag_posterior
from rkhs_notes.base.arrays import as_floats, as_rng
from rkhs_notes.base.contracts import contract
from rkhs_notes.base.datasets import smiley_labels
from rkhs_notes.base.distances import sqdist
from rkhs_notes.base.errors import ConvergenceFailure, RKHSError
from rkhs_notes.base.plots import plot_decision
from rkhs_notes.base.points import Points
from rkhs_notes.base.words import Count, Labels, Positive, Targets, Vector, Weights
from rkhs_notes.deeper.budgets import budgeted_sgd
from rkhs_notes.deeper.dependence import conditional_independence_test, hsic_test
from rkhs_notes.deeper.embeddings import check_mmd
from rkhs_notes.deeper.generalization import bias_variance, gap_bound
from rkhs_notes.deeper.graphs import Subtree, WeisfeilerLehman
from rkhs_notes.deeper.processes import check_sample_space, gaussian_process, learn_noise
from rkhs_notes.deeper.rates import learning_curve, leave_groups_out, selection_cost
from rkhs_notes.deeper.risks import minimize_risk, semiparametric, smoothing_spline
from rkhs_notes.deeper.scale import gaussian_process_large
from rkhs_notes.deeper.stein import goodness_of_fit_test
from rkhs_notes.deeper.structured import MarkovChain, Mismatch, markov_chain
from rkhs_notes.deeper.two_samples import mmd_test_split
from rkhs_notes.deeper.variants import svm_primal, svr_primal
from rkhs_notes.deeper.zoo import Bilinear, Mahalanobis, Matern, Periodic, RationalQuadratic
from rkhs_notes.engines.data.pictures import image_pairs, low_resolution
from rkhs_notes.engines.data.sums import ExactSum
from rkhs_notes.engines.features.bounds import check_unbiased
from rkhs_notes.engines.features.feature_maps import feature_dimension
from rkhs_notes.engines.features.normals import (
    orthogonal_normals,
    sobol_normals,
    structured_normals,
)
from rkhs_notes.engines.features.spectral import spectral_from_function
from rkhs_notes.engines.functions.known import Conditioned
from rkhs_notes.engines.functions.measures import (
    gauss_hermite,
    gauss_legendre,
    lp_norm,
    uniform_grid,
)
from rkhs_notes.engines.functions.vectors import (
    check_inner_product,
    check_norm,
    combine,
    gram_schmidt,
    parallelogram_defect,
)
from rkhs_notes.engines.kernels.gram import AKernel
from rkhs_notes.engines.kernels.laws import check_gradient
from rkhs_notes.engines.machines.separation import novikoff_bound
from rkhs_notes.engines.solving.convex import certificate
from rkhs_notes.engines.solving.couplings import tune_coupling
from rkhs_notes.engines.solving.curves import check_min_norm
from rkhs_notes.engines.solving.descent import kernel_sgd, sgd_primal
from rkhs_notes.engines.solving.gram_operators import GramOperator
from rkhs_notes.engines.solving.losses import check_loss, squared
from rkhs_notes.engines.solving.mercer_expansions import integral_operator
from rkhs_notes.engines.solving.paths import min_norm_path
from rkhs_notes.engines.solving.ridge_fits import ridge, ridge_path
from rkhs_notes.engines.testing.resampling import chi2_mixture
from rkhs_notes.kernels import Constant, Gaussian, check_kernel, is_psd
from rkhs_notes.rkhs import RKHS


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


@contract
def spread(k: AKernel, X: Points, y: Targets, weights: Weights = None) -> float:
    centre = np.average(X, axis=0, weights=weights)
    return float(np.average(np.sum((X - centre) ** 2, axis=1), weights=weights) * np.ptp(y))


@contract
def from_zero(k: AKernel, X: Points, y: Targets, weights: Weights = None) -> float:
    largest = 1.0 if weights is None else weights.max()
    return float(largest * np.sum(X[:, 0] ** 2) * (1 + np.ptp(y)))


@contract
def of_pairs(X: Points, y: Labels) -> float:
    return 1 / (min(map(int, np.bincount(y.place))) - 1)


def troubles(f, kind):
    "(what is wrong with cases of this kind, how many there were)"
    cases = [fuzzing.draw_case(3, i, [("tests.f", f)]) for i in range(120)]
    cases = [case for case in cases if case is not None and case.kind == kind]
    return [found.trouble for case in cases if (found := fuzzing.judge(case))], len(cases)


@pytest.mark.parametrize("kind", ["moved", "recolumned", "measured", "weighed"])
def test_who_breaks_a_law_is_told_from_who_keeps_it(kind):
    (none, kept), (found, broken) = troubles(spread, kind), troubles(from_zero, kind)
    assert not none and kept > 2 and broken > 2
    assert len(found) == broken and all("another answer" in trouble for trouble in found)


def test_a_class_of_one_is_tried():
    found, tried = troubles(of_pairs, "rare")
    assert tried > 5 and any("ZeroDivisionError" in trouble for trouble in found)


def test_a_case_is_known_by_its_seed_and_number():
    runs = [[fuzzing.draw_case(5, i, fuzzing.CONTRACTS) for i in range(17, 27)] for _ in range(2)]
    first, again = ([case[:1] + case[2:5] for case in cases if case] for cases in runs)
    assert first == again and len(first) > 5


# what it found, each once

UNIT = [[0.0, 1.0], [1.0, 0.5], [2.0, 1.0]]


@pytest.mark.parametrize(
    "kernel",
    [
        Gaussian,
        lambda b: Matern(1.5, b),
        lambda b: Matern(1.2, b),
        lambda b: RationalQuadratic(0.6, b),
    ],
)
@pytest.mark.parametrize("size", [1e-300, 1e-200, 1e-160, 1e150, 1e300])
def test_radial_kernels_have_no_unit(kernel, size):
    X, K = np.array(UNIT), kernel(1.0)(UNIT)
    np.testing.assert_allclose(kernel(size)(X * size), K, rtol=1e-9)
    np.testing.assert_allclose(kernel(size)(X * size, X[:2] * size), K[:, :2], rtol=1e-9)
    pairs = kernel(size).pairs(X * size, X[::-1] * size)
    np.testing.assert_allclose(pairs, kernel(1.0).pairs(X, X[::-1]), rtol=1e-9)
    np.testing.assert_allclose(
        Gaussian(1e-25)(np.array([0, 1e-25], "f"))[0, 1], np.exp(-0.5), rtol=1e-6
    )


def test_defects_and_bounds_have_no_unit():
    f, g = np.array([1.0, 2.0]), np.array([0.5, -1.0])
    Phi, y = np.array([[1.0, 0.2], [-2.0, 0.3]]), [1.0, -1.0]
    defect = parallelogram_defect(partial(lp_norm, p=1.0), f, g)
    for size in (1e-200, 1e200):
        assert parallelogram_defect(partial(lp_norm, p=1.0), f * size, g * size) == pytest.approx(
            defect
        )
        assert novikoff_bound(Phi * size, y) == pytest.approx(novikoff_bound(Phi, y))


BEYOND = np.array([1], np.longdouble) * np.longdouble("1e4000")
column = lambda X, y: (lambda Z: np.ones((len(Z), 1)), 1.0)  # noqa: E731
PLANE = np.random.default_rng(4).uniform(0.1, 1.0, size=(6, 2))
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
    "a table of numbers as graphs": (
        lambda: WeisfeilerLehman(1)(memoryview(np.eye(2))), TypeError, "X is of type memoryview, not"),
    "a table of numbers as trees": (
        lambda: Subtree(0.5)(memoryview(np.eye(2))), TypeError, "of type memoryview, not a list of tr"),
    "a class as a function": (
        lambda: integral_operator(k, LEBESGUE).quadratic_form(int), TypeError, "f is the class int"),
    "a class in a norm": (lambda: LEBESGUE.norm(float), TypeError, "f is the class float"),
    "vectors of unequal length": (
        lambda: gram_schmidt([[1.0, 2.0], [3.0]]), ValueError, "different spaces"),
    "a norm of nothing": (lambda: check_norm(lambda f: None, np.eye(2)), TypeError, r"norm\(f\) = None"),
    "a product of text": (
        lambda: check_inner_product(lambda f, g: "7", np.eye(2)), TypeError, r"inner\(f, g\) = '7'"),
    "a product that is a matrix": (
        lambda: check_inner_product(Gaussian(1.0), np.eye(2)), TypeError, r"inner\(f, g\) = array"),
    "a function beside an array": (
        lambda: parallelogram_defect(np.linalg.norm, np.sin, np.ones(2)), ValueError, "different spaces"),
    "no map": (lambda: check_unbiased(lambda rng: None, k, [0.0]), TypeError, r"draw\(rng\) is of"),
    "a score that is text": (
        lambda: check_mmd(k, [0.0, 1.0], [2.0, 3.0], u1=lambda *a: "7"), TypeError, "u1 = '7'"),
    "no number of columns": (lambda: feature_dimension(2 * Linear(), None), TypeError, "d = None"),
    "columns of nothing": (lambda: feature_dimension(Linear().on([0]), None), TypeError, "d = None"),
    "a missing chapter": (lambda: check_exercises(pd.NA), TypeError, "chapter is of type NAType"),
    "a single kernel as an array": (
        lambda: tune_coupling(np.array(2.0), np.eye(2), np.eye(2), [0, 1]), TypeError, "kernels"),
    "sparse points of another space": (
        lambda: Mahalanobis([1.0, 2.0]).pairs(csr_array(np.eye(3)), csr_array(np.eye(3))), ValueError,
        r"\(3, 3\); pass \(n, 2\)"),
    "a picture of texts": (
        lambda: Mismatch(2).plot(), TypeError, r"kernels on ℝ, at numbers: X\[0\] is of type float"),
    "a number as a stream": (
        lambda: rn.stream_sample(np.longdouble(3.0), 2), TypeError, "not points, or a stream of blocks"),
    "a number without axes as a stream": (
        lambda: rn.stream_sample(np.array(2.0), 2), TypeError, "not points, or a stream of blocks"),
    "a truth value as a stream": (
        lambda: rn.stream_ridge(rn.Linear().feature_map(1), np.True_, 0.1), TypeError, "not a stream"),
    "an interval in another space": (
        lambda: rn.jackknife_plus(k, PLANE, PLANE[:, 0], 0.1).conformal_interval(np.ones((3, 4))),
        ValueError, r"X has shape \(3, 4\); pass \(n, 2\)"),
    "an interval of a process in another space": (
        lambda: rn.gaussian_process(k, PLANE, PLANE[:, 0], 0.1).conformal_interval(np.ones((3, 4))),
        ValueError, r"X has shape \(3, 4\); pass \(n, 2\)"),
    "paths of a large process in another space": (
        lambda: rn.gaussian_process_large(k, PLANE, PLANE[:, 0], 0.1, rng=0).var(np.ones((3, 4))),
        ValueError, r"X has shape \(3, 4\); pass \(n, 2\)"),
    "what is left of a kernel beyond the floats": (
        lambda: Conditioned(rn.Linear() + k, PLANE * 1e200), ValueError, "overflows"),
    "a grid beyond the floats": (
        lambda: rn.grid_norm(k, np.ones((2, 2)), 1.7e308), ValueError, "points of the grid is not finite"),
    "noise beyond the floats": (
        lambda: rn.spectral_risk(ONES, ONES, 1.7e308, 1, 1e-9), ValueError, "variance overflows"),
    "a variance beyond the floats": (
        lambda: rn.mmd2_variance(rn.Linear(), PLANE * 1e80, -PLANE), ValueError, "overflow|rescale"),
    "a grid of more points than there are": (
        lambda: rn.check_fourier_norm(rn.RKHS(k).section([0.5]), np.exp, 5e-324), MemoryError, "coarser"),
    "a prior in another space": (
        lambda: rn.kernel_sum_rule(rn.conditional_embedding(k, k, PLANE, PLANE, 0.1), np.ones(5)),
        ValueError, r"prior has shape \(5, 1\); pass \(n, 2\)"),
    "an embedded prior in another space": (
        lambda: rn.kernel_chain_rule(
            rn.conditional_embedding(k, k, PLANE, PLANE, 0.1), rn.mean_embedding(k, np.ones((5, 1)))),
        ValueError, r"prior has shape \(5, 1\); pass \(n, 2\)"),
    "bandwidths beyond the floats": (
        lambda: rn.gaussian_grid(PLANE, PLANE * 1e308), ValueError, "the largest bandwidth"),
    "a penalty of nothing beside fewer rows than features": (
        lambda: rn.stream_ridge(
            rn.fourier_features(k, 2, 20, rng=0), [(PLANE, PLANE[:, 0])], [5e-324, 1e-323]),
        ValueError, "pass a larger lam"),
    "an operator beyond the floats": (
        lambda: GramOperator(rn.Linear() + k, PLANE * 1e200), ValueError, "overflows float64; rescale X"),
    "a power function beyond the floats": (
        lambda: rn.PowerFunction(rn.Linear() + k, PLANE * 1e200), ValueError, "overflows"),
    "targets whose squares are 0": (
        lambda: svr_primal(fuzzing.bounded_features, PLANE, PLANE[:, 0] * 5e-324, 1.0),
        ValueError,
        "the largest of y = .* squares leave the floats",
    ),
}  # fmt: skip


def test_limits_of_floats_are_no_limits_of_methods():
    "The least tolerance, and sparse points where gradients want dense ones"
    with pytest.raises(ConvergenceFailure, match="cannot be rounded more finely. Try tol"):
        nu_svr(k, PLANE, PLANE[:, 0], 1.0, 0.5, tol=5e-324)
    for call in (rn.stein_discrepancy, rn.goodness_of_fit_test):
        with pytest.raises(TypeError, match="is a sparse matrix; pass"):
            call(rn.Linear(), lambda X: -X, csr_array(PLANE))


def test_a_function_of_no_centres_is_zero():
    "As a machine's that no point supports"
    nothing = rn.RKHSFunction._of(k, np.empty((0, 2)), np.empty((0, 3)))
    np.testing.assert_array_equal(nothing(PLANE), np.zeros((len(PLANE), 3)))


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
    "all rows equal": (np.zeros((5, 1)), 1e29),
    "rows twice": (np.array([[0.0], [0.0], [1.0], [1.0], [2.0]]), 1e29),
    "an ulp apart": (np.nextafter(np.ones((5, 1)), [[9.0], [-9.0], [9.0], [-9.0], [9.0]]), 1e20),
}  # fmt: skip


@pytest.mark.parametrize("machine", [svr, nu_svr])
@pytest.mark.parametrize("case", FLAT)
def test_tubes_end_where_points_are_equal(machine, case):
    X, C = FLAT[case]
    with fuzzing.within(1.0):
        if machine is svr and case != "rows twice":
            assert (
                np.abs(svr(Gaussian(1.0), X, Y_FEW, C=C).dual).max() == C
            )  # as far as the box goes
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

LEBESGUE = uniform_grid(0, 1, 3)
FEW, ONES = np.array([[0.1, 0.7], [1.3, -0.4], [-0.8, 0.2], [0.5, 1.1], [-1.2, -0.9]]), np.ones(5)
LINE, SIGNS, k = FEW[:, 0], np.sign(Y_FEW), Gaussian(1.0)
FAR_POINT = np.where(FEW == FEW[0, 0], 1e154, FEW)
FAR = {  # None where there is an answer
    "an interval": (lambda: uniform_grid(-1e308, 1e307, 5).points, None),
    "longer than floats": (lambda: uniform_grid(-1e308, 1.7e308, 5), "b - a = inf"),
    "a combination": (lambda: combine([1e308, 1.0], [[9.0], [1.0]]), "combine.* overflows"),
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
    "a fine grid": (lambda: spectral_from_function(k, 8.0, 1e-6), "step = 1e-06.*≥ 3.8147e-06.*reach = 8"),
    "a coarse grid": (lambda: spectral_from_function(k, reach=8.0, step=5.0), "step = 5: .*≤ 4"),
    "a grid that sees one point": (lambda: spectral_from_function(k, reach=1e12), "3.05e.07 is too coarse"),
    "a length beyond floats": (lambda: gauss_legendre(-1e308, 1e308, 5), "b - a = inf"),
    "a wide law": (lambda: gauss_hermite(0.0, 1.7e308, 5), "a node overflows"),
    "long values": (lambda: LEBESGUE.inner(np.full(3, 1e200), np.full(3, 1e200)), "f g overflows"),
    "a long vector": (lambda: check_norm(np.linalg.norm, [[1e154, 1.0]]), "rescale them"),
    "noise and huge points": (lambda: learn_noise(Linear() + k, 1e154 * FEW, Y_FEW), "rescale|overflow"),
    "noise of huge values": (lambda: learn_noise(k, FEW, 1e200 * Y_FEW), "rescale y"),
    "noise of far points": (
        lambda: learn_noise(k, FAR_POINT, Y_FEW, k_noise=Linear() + k, max_iter=5).log_marginal, None),
    "a weight of nearly 0": (
        lambda: gaussian_process(k, FEW, Y_FEW, 0.1, weights=[5e-324, 1, 1, 1, 1]), "noise / weights = inf"),
    "a score of far points": (
        lambda: goodness_of_fit_test(Linear() + k, lambda X: -X, 1e300 * FEW), "rescale the points"),
    "features beyond floats": (lambda: sgd_primal(1e300 * FEW, SIGNS), "rescale X, or Phi"),
    "a budget of huge points": (
        lambda: budgeted_sgd(Linear(), FAR_POINT, Y_FEW, squared, rng=0), "a score overflowed"),
    "normals beyond memory": (lambda: orthogonal_normals(3, 10**9), "limit"),
    "draws beyond memory": (lambda: check_sample_space(k, k, FEW, draws=10**9), "limit"),
    "a loss of huge targets": (lambda: check_loss(squared, [1e300, 1.0]), "rescale y"),
    "a mixture beyond floats": (lambda: chi2_mixture([1.7e308, 1.7e308], 9, 0), "rescale the eigenvalues"),
    "coefficients beyond floats": (lambda: ridge(k, FEW / 1e4, 1e308 * SIGNS, lam=1e-9), "alpha overflows"),
    "one left out, beyond floats": (
        lambda: RKHS(k).leave_one_out(FEW[[0, 1]] / 1e3, [1.7e308, -1.7e308]), "rescale y"),
    "sums beyond floats": (
        lambda: ExactSum(1e308 * ONES, ONES) + ExactSum(1e308 * ONES, ONES), "rescale X or y"),
    "an asymmetric matrix": (lambda: is_psd([[0.0, 1.7e308], [-1.7e308, 0.0]]), None),
    "a chain that never stops": (lambda: markov_chain(["ac"], "acgt", prior=5e-324), "prior = 4.94066e-324"),
    "steps beyond floats": (lambda: MarkovChain("ac", [[1.7e308, 1.7e308], [0.5, 0.5]]), "rows of sums"),
    "a ball beyond floats": (lambda: gap_bound(k, FEW, 1.7e308), "smaller radius"),
    "noise beyond pictures": (lambda: low_resolution(np.eye(16), 2, rng=0, noise=1.7e308), "less of it"),
    "a toy beyond the screen": (lambda: drag_posterior(1e308 * LINE, Y_FEW, 1.0, 0.1), "largest of the po"),
    "independence beyond floats": (
        lambda: hsic_test(Linear(), Linear(), 1e100 * FEW, FEW, null="gamma"), "rescale"),
    "a heavy pair": (lambda: kernel_cca(k, k, FEW, FEW, 0.1, weights=1e308 * ONES), "largest of weights"),
    "squares beyond floats": (
        lambda: selection_cost(lambda X, y: (lambda Z: 0 * Z, 1.0), LINE, 1e308 * ONES), "error of choose"),
    "nothing unexplained": (
        lambda: conditional_independence_test(k, k, k, FEW, FEW[::-1], FEW, lam=1e-300), "larger lam"),
    "residuals beyond floats": (
        lambda: conditional_independence_test(Linear(), Linear(), k, 1e80 * FEW, 1e80 * FEW[::-1], FEW),
        "rescale X, Y or Z"),
    "a heavy path": (lambda: ridge_path(k, FEW, Y_FEW, weights=1e308 * ONES), "largest of weights"),
    "heavy for float32": (
        lambda: ridge_path(k, FEW.astype("f4"), Y_FEW.astype("f4"), weights=1e100 * ONES), "largest of wei"),
    "a path of large weights": (lambda: ridge_path(k, FEW, Y_FEW, weights=1e299 * ONES).best, None),
    "far from the face": (lambda: smiley_labels(1.7e308 * np.sign(FEW)), None),
    "a chain of priors alone": (lambda: markov_chain(["ac"], "acgt", prior=1.7e308), "prior = 1.7e.308"),
    "steps of float32": (lambda: MarkovChain("acgt", np.full((4, 4), 0.25, "f4")).step, None),
    "a truth beyond squares": (lambda: bias_variance(k, FEW, lambda X: 1e200 * X[:, 0], 0.1, 1.0), "bias²"),
    "and beside the points": (
        lambda: bias_variance(k, FEW, lambda X: 1e308 * X[:, 0], 0.1, 1.0, at=FEW[:2]), "rescale f"),
    "groups beyond floats": (
        lambda: leave_groups_out(k, FEW, 1e308 * SIGNS, 1e-3, [0, 0, 1, 1, 2]), "rescale .* y"),
    "features beyond squares": (
        lambda: svm_primal(np.asarray, 1e100 * FEW, [0, 1, 0, 1, 0], C=0.5, tol=0.7).function.w, None),
    "columns beyond memory": (lambda: Periodic(1.0, 1.0).spectral(10**9), "Instead: fewer columns"),
    "portraits beyond memory": (lambda: image_pairs(10**9, 1, 0), "fewer or smaller pictures"),
    "texts beside numbers": (lambda: Constant(1.0).pairs(FEW, list("abcde")), "Y .* not points such as X"),
    "rows longer than floats": (
        lambda: novikoff_bound([[-1.7e308, -1.7e308], [-1e9, -1e9]], [-1, -1], [1.0, 1.0]), "longest row"),
    "a margin below floats": (
        lambda: novikoff_bound(5e-324 * np.eye(5), [1] * 5), "the margin = 0.* rescale Phi"),
    "a narrow margin": (lambda: novikoff_bound([[1.0], [1e-200]], [1, 1], [1.0]), "R/γ = 1e.200"),
    "a far start": (lambda: novikoff_bound([[1.0], [2.0]], [1, 1], [1.0], [1e200]), None),
    "a start beyond floats": (lambda: novikoff_bound([[0.5]], [1], [1.0], [1.7e308]), "rescale .* and start"),
    "slopes beyond floats": (lambda: kernel_sgd(k, FEW, 1.7e308 * SIGNS, squared, steps=1), "slopes, .*y, 0"),
    "samples beyond squares": (lambda: mmd_test_split([Linear()], 1e100 * FEW, FEW, rng=0), "rescale k"),
    "a form beyond sums": (lambda: Bilinear([[1e308, 9e307], [9e307, 1e308]]).A, None),
    "lams beyond floats": (lambda: ridge_path(Linear(), FAR_POINT, Y_FEW), "rescale the points"),
    "a picture": (lambda: plot_decision(lambda P: P[:, 0], 1e308 * FEW, [0, 1, 0, 1, 0]), "X = .*e.308"),
}  # fmt: skip


@pytest.mark.parametrize("case", FAR)
@pytest.mark.filterwarnings("error")
def test_far_sizes_are_answered_or_refused_without_a_warning(case):
    call, words = FAR[case]
    if words is None:
        assert np.isfinite(call()).all()
    else:
        with pytest.raises((ValueError, TypeError, MemoryError, RKHSError), match=words):
            call()


@pytest.mark.filterwarnings("error")
def test_a_certificate_that_overflows_still_bounds_the_optimum():
    indefinite, y = np.diag([1e200, -1e200]), np.array([0.3, -0.5])
    assert certificate(indefinite, y, squared, 1.0, y, [1e200, 1e200])[1:] == (-np.inf, np.inf)
    assert certificate(indefinite, y, squared, 1.0, [1e200, 1e200], y)[0] == np.inf


def test_steps_of_float32_have_sum_1_up_to_its_rounding():
    P = np.random.default_rng(0).dirichlet(np.ones(20), 20).astype(np.float32)
    assert np.abs(P.astype(float).sum(axis=1) - 1).max() > 1e-8
    assert MarkovChain("acdefghiklmnpqrstvwy", P).step.dtype == np.float32
    with pytest.raises(ValueError, match="rows of sums"):
        MarkovChain("acdefghiklmnpqrstvwy", P * np.float32(1.0001))


def test_pivots_in_another_order_are_the_same_answer():
    X = np.random.default_rng(0).normal(size=(5, 2)) + [3.0, 0.0]
    one, other = (
        Conditioned(k, X),
        Conditioned(k, X[::-1]),
    )  # equal diagonals: the first row is the first
    order = fuzzing.same_pivots(one, other)
    assert sorted(order) == [0, 1, 2, 3, 4] and np.array_equal(one.centres, other.centres[order])
    parts = [next(A for path, A in fuzzing.numbers_in(f) if "L Lᵀ" in path) for f in (one, other)]
    assert not fuzzing.close(*parts) and fuzzing.follows(*parts, order)
    assert fuzzing.same_pivots(one, Conditioned(k, X + 0.1)) is None


def test_a_disguise_holds_the_same_numbers():
    A = np.random.default_rng(0).normal(size=(9, 3)) * 10.0 ** np.arange(3)
    for name in ("int8", "uint16", "float32", "float16", "int64"):
        plain, other = fuzzing.DISGUISES[name](A)
        assert np.array_equal(plain, other.astype(float)), name


def test_kernels_within_kernels_end_in_words_and_not_in_a_full_stack():
    deep = Gaussian(1.0)
    with pytest.raises(
        ValueError, match="kernels of term 1 stand 101 deep within each other"
    ) as caught:
        for _ in range(700):
            deep = (deep + Linear()) * Gaussian(1.0)
    assert "multiply out" in str(caught.value) and np.isfinite(deep(LINE)).all()
    wide = sum((Gaussian(1.0 + i) for i in range(699)), Gaussian(1.0))
    assert wide(LINE).trace() == pytest.approx(700 * len(LINE))


@pytest.mark.parametrize("wrap", [lambda k: k.normalized(), lambda k: k.on([0])])
def test_a_hundred_kernels_within_each_other_are_not_too_many(wrap):
    deep = Gaussian(1.0)
    for _ in range(101):  # the last holds a hundred
        deep = wrap(deep)
    np.testing.assert_allclose(deep(LINE), Gaussian(1.0)(LINE), rtol=1e-12)
    with pytest.raises(ValueError, match="stand 101 deep"):
        wrap(deep)


@pytest.mark.parametrize("n", [3, 40])
@pytest.mark.parametrize("kernel", [k, Mahalanobis([1.0, 2.0, 3.0]), Linear() * Matern(1.5, 1.0)])
@pytest.mark.filterwarnings("error")
def test_dense_points_beside_sparse_ones(kernel, n):
    X = np.random.default_rng(0).normal(size=(n, 3)) * ([1, 0, 1], [0, 1, 1], [1, 1, 0])[n % 3]
    Y, values = X[::-1] + 1.0, np.arange(float(n))
    left, S, T = Conditioned(kernel, X[:2]), csr_array(X), csr_array(Y)
    functions = [kernel, kernel.distance, kernel.pairs, left, left.distance]
    functions += [
        lambda A, B: ridge(kernel, A, values)(B),
        lambda A, B: Conditioned(kernel, A[:2])(B),
    ]
    for f in functions:
        for A, B in ((X, T), (S, Y), (S, T)):
            np.testing.assert_allclose(f(A, B), f(X, Y), atol=1e-6)
    assert Conditioned(kernel, S) == Conditioned(kernel, csr_array(X)) != Conditioned(kernel, T)


def test_an_error_by_name_wants_one_number_a_target():
    fits = {"a column": lambda X, y: lambda Z: Z[:, None], "NaN": lambda X, y: lambda Z: Z * np.nan,
            "too few": lambda X, y: lambda Z: Z[:1], "no function": lambda X, y: 3.0}  # fmt: skip
    for fit in fits.values():
        for error in ("squared", "label"):
            with pytest.raises((TypeError, ValueError), match=r"^fit\(X, y\)"):
                learning_curve(fit, (LINE, SIGNS), [1, 3], draws=3, error=error, floor=0.0)
    samples = {"text": lambda n, rng: "text", "nothing": lambda n, rng: None, "one": lambda n, rng: (LINE,),
               "few": lambda n, rng: (LINE, SIGNS), "unequal": lambda n, rng: (LINE, SIGNS[1:])}  # fmt: skip
    for sample in samples.values():
        with pytest.raises((TypeError, ValueError), match=r"sample\(n, rng\)"):
            learning_curve(lambda X, y: lambda Z: Z, sample, [2, 9], draws=3, floor=0.0)
    with pytest.raises(TypeError, match="the error of fit = None"):
        learning_curve(
            fits["NaN"], (LINE, SIGNS), [1, 3], draws=3, error=lambda *a: None, floor=0.0
        )
