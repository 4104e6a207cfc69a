"""Partial dependence: by definition, beside scikit-learn's, in closed form where the kernel is a product."""

import warnings

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.ensemble import RandomForestRegressor
from sklearn.inspection import partial_dependence as theirs

import rkhs_notes as rn
from rkhs_notes import Cauchy, Gaussian, Laplace, Mahalanobis, Matern, Periodic, partial_dependence
from rkhs_notes.engines.functions import partial_means
from rkhs_notes.engines.functions.partial_means import factors

PRODUCTS = [
    Gaussian(0.9),
    Mahalanobis([1.0, 2.0, 0.5]),
    Laplace(2.0),
    Gaussian([1.0, 2.0, 0.5]) * Laplace([3.0, 1.0, 2.0]),
    Cauchy(1.5),
    Periodic(7.0, 1.3),
    2.5 * Gaussian(1.0) * Laplace(3.0) * (0.5 * Cauchy(2.0)),
]
OTHERS = [Matern(1.5, 1.0), Gaussian(1.0) + Laplace(1.0), rn.Polynomial(2), Gaussian(1.0) ** 2]


def data(n=40, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 3)) * [1.0, 2.0, 0.5]
    return X, np.sin(2 * X[:, 0]) + X[:, 1] * X[:, 2] + 3


@pytest.mark.second_route("PartialDependence", "partial_dependence", "scikit-learn, brute force")
@pytest.mark.parametrize("k", PRODUCTS + OTHERS, ids=str)
@pytest.mark.parametrize("columns", [[0], [2, 1]], ids=str)
def test_it_is_scikit_learns(k, columns):
    X, y = data()
    fit = rn.KernelRidge(k, lam=0.1).fit(X, y)
    peer = theirs(fit, X, columns, method="brute", grid_resolution=6)
    grid = np.stack(np.meshgrid(*peer["grid_values"], indexing="ij"), -1).reshape(-1, len(columns))
    ours = partial_dependence(fit, X, columns, grid)
    np.testing.assert_allclose(ours.values, peer["average"].ravel(), rtol=1e-9)
    assert (ours.function is not None) == (k in PRODUCTS)
    f, other = rn.ridge(k, X, y, 0.1, offset=True), grid[:4] + 0.01
    by_rows = partial_means._averaged(f, X, columns, other)
    np.testing.assert_allclose(ours(other), by_rows, rtol=1e-7)


@pytest.mark.parametrize("k", PRODUCTS, ids=str)
def test_the_factors_multiply_to_the_kernel(k):
    X, Z = data(9)[0], data(7, 1)[0]
    S, C = [2, 0], [1]
    of_S, of_C = factors(k, S, C)
    product = of_S(X[:, S], Z[:, S]) * of_C(X[:, C], Z[:, C])
    np.testing.assert_allclose(product, k(X, Z), rtol=1e-12)


def test_a_subclass_with_another_formula_is_no_product():
    class Wider(Gaussian):
        def of_sqdist(self, r2, xp):
            return 1 / (1 + r2)

        exponent = None

    assert factors(Wider(1.0), [0], [1]) is None
    assert factors(Gaussian(1.0) * Matern(0.5, 1.0), [0], [1]) is None


def test_every_fit_has_one():
    X, y = data()
    k, grid = Gaussian(1.2), np.linspace(-1, 1, 5)
    Y = np.column_stack([y, y**2])
    signs = np.where(y > y.mean(), 1, -1)

    def slow(f):
        held = (np.column_stack([np.full(40, u), X[:, 1:]]) for u in grid)
        return np.array([np.mean(f(rows), axis=0) for rows in held])

    for fit, closed in (
        (rn.ridge(k, X, y, 0.1), True),
        (rn.ridge(k, X, Y, [0.1, 2.0], offset=True), True),
        (rn.gaussian_process(k, X, Y, 0.1), True),
        (rn.ridge_large(k, X, y, 0.1, 20), True),
        (rn.jackknife_plus(k, X, y, 0.1, offset=True), True),
        (rn.svc(k, X, signs, 1.0), True),  # its decision
        (rn.gp_classification(k, X, signs).probability, False),
        (rn.learn_noise(k, X[:, :1], y, max_iter=5).process.mean, None),
        (lambda X: X[:, 0] ** 2, False),
    ):
        if closed is None:
            with pytest.raises(ValueError):  # one column leaves none to average over
                partial_dependence(fit, X[:, :1], 0, grid)
            continue
        found = partial_dependence(fit, X, 0, grid)
        np.testing.assert_allclose(found.values, slow(fit), rtol=1e-7, atol=1e-9)
        assert (found.function is not None) == closed
    forest = RandomForestRegressor(5, random_state=0).fit(X, y)
    found = partial_dependence(forest, X, 0, grid)
    np.testing.assert_allclose(found.values, slow(forest.predict))
    noise = rn.learn_noise(1.0 * k, X, y, k_noise=Gaussian(2.0), max_iter=5)  # exp(g + c), holds g
    found = partial_dependence(noise, X, 0, grid)
    assert found.function is None
    np.testing.assert_allclose(found.values, slow(noise))


def test_columns_go_by_name():
    X, y = data()
    frame = pd.DataFrame(X, columns=["a", "b", "c"])
    fit = rn.ridge(Mahalanobis([1.0, 2.0, 0.5]), frame, y, 0.1)
    by_name, by_place = partial_dependence(fit, frame, "b"), partial_dependence(fit, X, 1)
    np.testing.assert_allclose(by_name.values, by_place.values)
    turned = partial_dependence(fit, frame[["c", "a", "b"]], "b")  # the fit knows its order
    np.testing.assert_allclose(turned.values, by_place.values)
    assert by_name.names == ("b",) and "b" in repr(by_name)
    for of_frame in (
        rn.KernelRidge(Laplace(2.0), lam=0.1),
        RandomForestRegressor(5, random_state=0),
    ):
        own = partial_dependence(of_frame.fit(frame, y), frame, "b")
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            other = partial_dependence(of_frame, frame[["c", "a", "b"]], "b")
        np.testing.assert_allclose(other.values, own.values)
        plain = partial_dependence(clone(of_frame).fit(X, y), X, 1)
        np.testing.assert_allclose(own.values, plain.values)
    two = partial_dependence(fit, frame, ["c", "a"])
    assert two.grid.shape == (625, 2) and two.names == ("c", "a")
    ax = by_name.plot(ax=plt.figure().add_subplot())
    assert ax.get_xlabel() == "b" and np.array_equal(ax.lines[0].get_ydata(), by_name.values)
    assert two.plot(ax=plt.figure().add_subplot()).get_ylabel() == "a"
    plt.close("all")
    for columns, words in (
        ("d", "X has no column 'd'"),
        (3, "X has no column '3'"),
        ([0, 0], "different columns"),
        ([0, 1, 2], "leave one"),
    ):
        with pytest.raises(ValueError, match=words):
            partial_dependence(fit, frame, columns)
    with pytest.raises(ValueError, match="grid has shape"):
        partial_dependence(fit, X, 0, np.ones((3, 2)))
    with pytest.raises(TypeError, match="fit is"):
        partial_dependence(3.0, X, 0)


def test_the_grid_by_default_is_every_pair_between_the_percentiles():
    X, y = data()
    found = partial_dependence(rn.ridge(Gaussian(1.0), X, y, 0.1), X, [2, 0]).grid
    ends = np.quantile(X[:, [2, 0]], [0.05, 0.95], axis=0)
    axes = [np.linspace(*column, 25) for column in ends.T]
    np.testing.assert_allclose(found, [(a, b) for a in axes[0] for b in axes[1]])


def test_what_was_answered_stays():
    X, y = data()
    kept = X.copy()
    found = partial_dependence(rn.ridge(Matern(1.5, 1.0), X, y, 0.1), X, 0)
    before = found(found.grid)
    X[...] = 0.0
    np.testing.assert_array_equal(found(found.grid), before)
    np.testing.assert_array_equal(found.X, kept)


def test_three_columns_are_not_drawn():
    X = np.random.default_rng(0).normal(size=(20, 4))
    found = rn.partial_dependence(
        rn.ridge(rn.Gaussian(1.0), X, X[:, 0], 0.1), X, [0, 1, 2], X[:4, :3]
    )
    with pytest.raises(ValueError, match="one column or two, and here are 3"):
        found.plot()


def test_a_text_is_a_name_before_it_is_a_number():
    X, y = data()
    fit = rn.ridge(Gaussian(1.2), X, y, 0.1)
    digits = pd.DataFrame(X, columns=["1", "2", "3"])
    f = rn.ridge(Gaussian(1.2), digits, y, 0.1)
    for column, place in (("1", 0), ("3", 2), (1, 1), (np.int64(0), 0)):
        found = partial_dependence(f, digits, column)
        assert found.columns == (place,) and found.names == (str(place + 1),)
        np.testing.assert_allclose(found.values, partial_dependence(fit, X, place).values)
    assert partial_dependence(fit, X, "1").columns == (1,)  # an array has no names
    assert partial_dependence(fit, X, "column 1").columns == (1,)
    for column in ("0", 3):
        with pytest.raises(ValueError, match=f"X has no column '{column}'"):
            partial_dependence(f, digits, column)
