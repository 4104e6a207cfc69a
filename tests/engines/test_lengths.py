"""A length for each column: the same kernel at rescaled points, in values, gradients, features, searches."""

import pickle
from functools import partial
from itertools import combinations

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.gaussian_process import kernels as gp
from sklearn.model_selection import GridSearchCV

import rkhs_notes as rn
from rkhs_notes.engines.kernels.forms import squares_by_column

FAMILIES = {
    "Gaussian": rn.Gaussian,
    "Matern": partial(rn.Matern, 1.5),
    "Matern, rough": partial(rn.Matern, 0.5),
    "Matern, Bessel": partial(rn.Matern, 0.8),
    "RationalQuadratic": partial(rn.RationalQuadratic, 0.7),
    "Laplace": rn.Laplace,
    "Cauchy": rn.Cauchy,
}
every_family = pytest.mark.parametrize("family", FAMILIES.values(), ids=FAMILIES.keys())
LENGTHS = np.array([0.5, 1.0, 3.0])
rng = np.random.default_rng(0)
X, Y = rng.normal(size=(30, 3)), rng.normal(size=(7, 3))


@every_family
def test_it_is_the_kernel_at_rescaled_points(family):
    k, one = family(bandwidth=LENGTHS), family(bandwidth=1.0)
    A, B = X / LENGTHS, Y / LENGTHS
    for ours, theirs in [
        (k(X), one(A)),
        (k(X, Y), one(A, B)),
        (k.pairs(X[:7], Y), one.pairs(A[:7], B)),
        (k.distance(X, Y), one.distance(A, B)),
        (k.diag(X), np.ones(30)),
    ]:
        np.testing.assert_allclose(ours, theirs, rtol=0, atol=1e-13)
    assert k(X.astype(np.float32)).dtype == np.float32
    np.testing.assert_allclose(k(X.astype(np.float32)), k(X), atol=1e-5)
    if k._sparse:
        np.testing.assert_allclose(k(sp.csr_array(X)), k(X), atol=1e-12)
    assert eval(repr(k), vars(rn)) == k == pickle.loads(pickle.dumps(k))
    np.testing.assert_allclose(family(bandwidth=[2.0] * 3)(X), family(bandwidth=2.0)(X), atol=1e-13)


@every_family
def test_far_from_the_origin_no_digit_is_lost(family):
    k, whole = family(bandwidth=LENGTHS), np.round(4 * X) / 4  # differences are exact
    np.testing.assert_allclose(k(whole + 2.0**30), k(whole), atol=1e-9)


@every_family
def test_other_points_are_refused_by_their_columns(family):
    k = family(bandwidth=LENGTHS)
    for call in (k, k.diag, k.distance, lambda Z: k.pairs(Z, Z), rn.RKHS(k).section(X[0])):
        with pytest.raises(ValueError, match=r"X has shape \(30, 2\); pass \((n|m), 3\)"):
            call(X[:, :2])
    one = family(bandwidth=1.0)
    marked = one.points(X[:, :2])  # validated for a kernel of any columns, and not for this one
    with pytest.raises(ValueError, match=r"shape \(30, 2\)"):
        k(marked)
    with pytest.raises(ValueError, match=r"3 columns"):
        k.spectral(2)


@pytest.mark.parametrize(
    "bad, says",
    [
        ([], "bandwidth is empty"),
        ([1.0, -1.0], "bandwidth holds -1; pass numbers > 0"),
        ([[1.0, 2.0]], r"bandwidth has shape \(1, 2\); pass \(d,\)"),
        (np.ones((2, 2)), r"bandwidth has shape \(2, 2\); pass \(d,\)"),
        ([np.nan, 1.0], "not finite"),
        (-1.0, "bandwidth = -1"),
        ("a", "bandwidth = 'a'"),
    ],
)
@every_family
def test_bad_lengths_are_refused_by_name(family, bad, says):
    with pytest.raises((TypeError, ValueError), match=says):
        family(bandwidth=bad)


@every_family
@pytest.mark.parametrize("shift, unit", [(0.0, 1.0), (1e6, 1.0), (0.0, 1e5)])
def test_gradients_are_difference_quotients(family, shift, unit):
    "Also where one product would lose the digits: long offsets, and lengths far below the spread"
    Z = X * [1, 1, unit]
    Z = np.concatenate([Z, Z[:5] + 1e-3]) + shift
    k, G = family(bandwidth=LENGTHS), rng.normal(size=(35, 35))
    slope = k._vjp(Z, Z, G)["bandwidth"]
    for i in range(3):
        h = 1e-5 * LENGTHS[i] * np.eye(3)[i]
        up, down = (family(bandwidth=LENGTHS + s * h)(Z) for s in (1, -1))
        change = np.sum(G * (up - down)) / (2e-5 * LENGTHS[i])
        assert slope[i] == pytest.approx(change, rel=1e-6, abs=1e-11 * np.abs(G).sum())
    scalar = family(bandwidth=1.0)._vjp(Z, Z, G)["bandwidth"]
    each = family(bandwidth=np.ones(3))._vjp(Z, Z, G)["bandwidth"]
    assert each.sum() == pytest.approx(scalar, rel=1e-7, abs=1e-12 * np.abs(G).sum())


def test_squares_by_column_are_the_parts_of_the_whole():
    "Of close pairs far from each other one product would keep no digit"
    far = np.concatenate([1e6 * X, 1e6 * X + 1e-3 * rng.normal(size=X.shape)])
    deltas = (far[:, None, :] - far[None, :, :]) / LENGTHS
    r2, W = np.sum(deltas**2, axis=2), rng.normal(size=(60, 60))
    H = np.divide(W, r2, out=np.zeros_like(W), where=r2 > 0)
    parts = squares_by_column(H, np.abs(W).sum(), far, far, LENGTHS)
    direct = np.einsum("ij,ijd->d", H, deltas**2)
    np.testing.assert_allclose(parts, direct, rtol=0, atol=1e-7 * np.abs(W).sum())


@every_family
def test_products_and_powers_merge_where_they_agree(family):
    k, other = family(bandwidth=LENGTHS), family(bandwidth=[2.0, 0.3, 1.0])
    for product in (k * other, k**3, k * family(bandwidth=2.0), 2 * k * k.exp()):
        np.testing.assert_allclose(product.simplify()(X), product(X), rtol=1e-9, atol=1e-12)
    longer = family(bandwidth=[1.0, 2.0])
    assert (k * longer).simplify() == k * longer  # no points suit both, and nothing merges


def test_translations_from_scikit_learn():
    for theirs in (
        gp.RBF(LENGTHS),
        gp.Matern(LENGTHS, nu=1.5),
        gp.Matern(LENGTHS, nu=np.inf),
        2.0 * gp.RBF(LENGTHS) + gp.Matern(LENGTHS, nu=2.5) * gp.RBF([1.0, 1.0, 9.0]),
        gp.Matern(LENGTHS, nu=2.5) * gp.RationalQuadratic(0.7, 1.5),
        gp.RBF(0.7) + gp.DotProduct(1.5) ** 2,
        gp.ConstantKernel(3.0) + gp.WhiteKernel(0.3),
    ):
        ours = rn.from_sklearn(theirs)
        np.testing.assert_allclose(ours(X, Y), theirs(X, Y), rtol=1e-10)
        np.testing.assert_allclose(ours(X), theirs(X), rtol=1e-9)  # with the noise of a point
    periodic, line = gp.ExpSineSquared(0.8, 2.5), X[:, :1]  # of one column
    np.testing.assert_allclose(rn.from_sklearn(periodic)(line), periodic(line), rtol=1e-9)
    assert rn.from_sklearn(gp.RBF([2.0])) == rn.Gaussian(2.0)  # one length for all columns
    with pytest.raises(TypeError, match="of one bandwidth"):
        rn.to_gamma(rn.Gaussian(LENGTHS))


def test_features_and_bins_have_them():
    k = rn.Laplace(LENGTHS)
    F = rn.binning_features(k, X[:6], 4000, 0)(X[:6])
    np.testing.assert_allclose((F @ F.T).toarray(), k(X[:6]), atol=0.05)
    F = rn.nystrom_features(rn.Cauchy(LENGTHS), X, 30, 0)(X)
    np.testing.assert_allclose(F @ F.T, rn.Cauchy(LENGTHS)(X), atol=1e-8)


def test_machines_pre_images_and_advice_take_them():
    y = np.sign(X[:, 0])
    machine = rn.svc(rn.Gaussian(LENGTHS), X, y, 10.0)
    assert machine.decision(X) == pytest.approx(
        rn.svc(rn.Gaussian(1.0), X / LENGTHS, y, 10.0).decision(X / LENGTHS), abs=0.02
    )
    found = rn.kernel_pca(rn.Gaussian(3 * LENGTHS), X, 3)
    back = found.pre_image(found.transform(X[:5]))
    same = rn.kernel_pca(rn.Gaussian(3.0), X / LENGTHS, 3)
    np.testing.assert_allclose(
        back, LENGTHS * same.pre_image(same.transform(X[:5] / LENGTHS)), atol=1e-3
    )
    with pytest.raises(rn.NotPositiveDefinite, match=r"1 against 2\.4e-05"):
        rn.ridge(rn.Gaussian(1e4 * LENGTHS), X, y, 1e-30)


def test_a_search_sets_them():
    y, grid = np.sin(3 * X[:, 0]), [[0.5, 9, 9], [9, 9, 0.5], 1.0]
    search = GridSearchCV(rn.KernelRidge(rn.Matern(1.5), lam=0.01), {"kernel__bandwidth": grid})
    assert search.fit(X, y).best_params_ == {"kernel__bandwidth": [0.5, 9, 9]}


def sample(seed, n=120):
    "Columns 1, 3 and 4 say nothing"
    r = np.random.default_rng(seed)
    Z = r.normal(size=(n, 5))
    return Z, np.sin(2 * Z[:, 0]) + Z[:, 2] + 0.1 * r.normal(size=n)


@pytest.mark.parametrize("family", [rn.Gaussian, partial(rn.Matern, 2.5), rn.Cauchy])
def test_evidence_finds_the_columns_that_do_nothing(family):
    right = 0
    for seed in range(5):
        Z, y = sample(seed)
        found = rn.fit_hyperparameters(1.0 * family(bandwidth=np.ones(5)), Z, y, 0.1)
        one = rn.fit_hyperparameters(1.0 * family(bandwidth=1.0), Z, y, 0.1)
        assert found.log_marginal >= one.log_marginal - 1e-3  # it begins where one length ends
        assert one.irrelevant == []
        right += {1, 3, 4} == set(found.irrelevant)
        assert not {0, 2} & set(found.irrelevant)
    assert right >= 4


def test_columns_that_do_nothing_are_named_up_to_eight():
    from rkhs_notes.engines.solving.searches import doing_nothing

    assert doing_nothing([]) == "" and doing_nothing([3]) == "; column 3 does nothing"
    assert doing_nothing(range(8)) == "; columns 0, 1, 2, 3, 4, 5, 6, 7 do nothing"
    assert doing_nothing(range(9)) == "; columns 0, 1, 2, 3, 4, 5, 6, 7, … do nothing"


@pytest.mark.second_route("irrelevant_columns", "every subset of the columns")
def test_what_does_nothing_is_the_largest_set_that_costs_less_than_its_size():
    Z, y = sample(3)
    kernel, noise, value = rn.fit_hyperparameters(1.0 * rn.Gaussian(np.ones(5)), Z, y, 0.1)

    def without(columns):
        W = Z.copy()
        W[:, columns] = 0.0
        try:
            return rn.gaussian_process(kernel, W, y, noise).log_marginal
        except rn.NotPositiveDefinite:
            return -np.inf

    subsets = [list(c) for size in range(1, 6) for c in combinations(range(5), size)]
    cheap = [c for c in subsets if without(c) > value - len(c)]
    assert rn.irrelevant_columns(kernel, Z, y, noise) == max(cheap, key=len)


def test_irrelevant_columns_are_said_by_name_and_asked_of_the_evidence():
    pd = pytest.importorskip("pandas")
    Z, y = sample(1)
    frame = pd.DataFrame(Z, columns=list("abcde"))
    found = rn.fit_hyperparameters(1.0 * rn.Gaussian(np.ones(5)), frame, y, 0.1)
    assert found.irrelevant == ["b", "d", "e"] and "columns b, d, e do nothing" in repr(found)
    assert pickle.loads(pickle.dumps(found)).irrelevant == found.irrelevant
    kernel, noise, value = found
    assert value == pytest.approx(rn.gaussian_process(kernel, Z, y, noise).log_marginal, rel=1e-9)
    # a long length alone is no proof: a large kernel of long lengths is nearly linear
    long = 1e6 * rn.Gaussian([1e3, 1e5])
    line = 2.0 * Z[:, 0] + 0.1 * rng.normal(size=len(Z))
    assert rn.irrelevant_columns(long, Z[:, :2], line, 0.01) == [1]
    assert rn.irrelevant_columns(rn.Gaussian(1.0), Z, y, 0.1) == []
    # of twin columns one may go, and not both
    twins = np.column_stack([Z[:, 0], Z[:, 0], Z[:, 2]])
    tuned = rn.fit_hyperparameters(1.0 * rn.Gaussian(np.ones(3)), twins, y, 0.1)
    assert len(set(tuned.irrelevant) & {0, 1}) <= 1
    w = np.ones(len(y))
    again = rn.irrelevant_columns(kernel, Z, y, noise, weights=w)
    assert again == [1, 3, 4]
