"""Points whose columns have names: another order of the columns is the same table, or is refused."""

import numpy as np
import pandas as pd
import pytest

import rkhs_notes as rn
from rkhs_notes import Gaussian, Linear, SetKernel, Spectrum, Tensor, partial_dependence, ridge
from rkhs_notes.deeper.subspaces import least_norm_split, sum_norm, tensor_product
from rkhs_notes.engines.functions.spaces import check_reproducing

k = Gaussian(1.0)
A = pd.DataFrame({"a": [0.0, 1.0, 2.0], "b": [5.0, 9.0, 4.0]})
B, C = A[["b", "a"]], A.assign(c=[0.0, 1.0, 0.0])
y = [1.0, 2.0, 3.0]


@pytest.mark.parametrize(
    "together",
    [
        lambda f, g: f @ g,
        lambda f, g: f.distance(g),
        lambda f, g: f + g,
        lambda f, g: f - g,
        lambda f, g: f @ rn.mean_embedding(k, B),
    ],
    ids=["inner", "distance", "sum", "difference", "embedding"],
)
def test_functions_of_columns_in_two_orders_do_not_meet(together):
    "A kernel may have a length a column: whether the order matters, nobody can know"
    f, g = ridge(k, A, y, lam=0.1), ridge(k, B, y, lam=0.1)
    np.testing.assert_array_equal(f(A), g(A))
    with pytest.raises(
        ValueError, match=r"columns a, b and b, a; make both of columns in one order"
    ):
        together(f, g)


def test_kernels_that_name_their_columns_meet_in_any_order():
    f, g = (ridge(k.on(["a", "b"]), D, y, lam=0.1) for D in (A, B))
    assert f @ g == pytest.approx(f @ f) and (f + g)(B) == pytest.approx(2 * f(A))
    assert f.distance(g) < 1e-6 * f.norm()


def test_a_function_on_a_frame_has_one_norm():
    f = ridge(k, A, y, lam=0.1)
    for D in (A, B):
        assert sum_norm(f, 0.5 * k, 0.5 * k, D) == pytest.approx(f.norm())
    g = ridge(k, B, y, lam=0.1)
    pair = tensor_product(f, g)
    for first in (A, B):
        for second in (A, B):
            np.testing.assert_allclose(pair((first, second)), f(A) * g(A))


def test_pairs_and_bags_of_frames_go_by_name():
    each = Tensor(k, Linear())
    for first in (A, B):
        for second in (A, B):
            np.testing.assert_allclose(each((A, A), (first, second)), k(A) * Linear()(A))
    by_name = Tensor(k.on("a"), k.on("b"))
    np.testing.assert_allclose(by_name((A, B)), k.on("a")(A) * k.on("b")(A))
    with pytest.raises(ValueError, match="has no column '0: b'"):
        each((A, A), (A.rename(columns={"b": "z"}), A))
    bags = SetKernel(k)
    np.testing.assert_allclose(bags([A, B], [B, A]), np.full((2, 2), k(A).mean()))
    np.testing.assert_allclose(SetKernel(k.on("a"))([A], [B])[0, 0], k.on("a")(A).mean())
    f, g = (ridge(bags, [D, 2 * D], [1.0, 2.0], lam=0.1) for D in (A, B))
    np.testing.assert_allclose(f([B, 2 * A]), g([A, 2 * B]))


def test_partial_dependence_goes_by_name():
    h = ridge(k, C, y, lam=0.1)
    plain = partial_dependence(
        ridge(k, C.to_numpy(), y, lam=0.1), C.to_numpy(), [0, 1], grid=A.to_numpy()
    )
    for grid in (A, B, A.to_numpy()):
        found = partial_dependence(h, C, ["a", "b"], grid=grid)
        np.testing.assert_allclose(found.values, plain.values)
        for points in (A, B, A.to_numpy()):
            np.testing.assert_allclose(found(points), plain.values)
    with pytest.raises(ValueError, match="has no column 'b'"):
        partial_dependence(h, C, ["a", "b"], grid=A.rename(columns={"b": "z"}))


@pytest.mark.parametrize("columns", ["a", ["a", "c"]], ids=str)
def test_partial_dependence_of_kernels_that_read_some_columns(columns):
    named, plain = (
        partial_dependence(
            ridge(kernel, C, y, lam=0.1), C, columns, grid=C[[*np.atleast_1d(columns)]]
        )
        for kernel in (k.on("a"), k.on(0))
    )
    np.testing.assert_allclose(named.values, plain.values)


def test_partial_dependence_of_labels_is_refused_in_words():
    machine = rn.KernelSVC(k, C=1.0).fit(C, ["u", "v", "u"])
    for fit in (machine, rn.svc(k, C, ["u", "v", "u"]).predict):
        with pytest.raises(ValueError, match=r"'u'.*have no mean: pass .* decision_function"):
            partial_dependence(fit, C, "a")
    two = partial_dependence(ridge(k, C, np.c_[y, y], lam=0.1), C, ["a", "b"])
    with pytest.raises(ValueError, match="of a fit of several columns, plot one"):
        two.plot()


def test_a_factor_reads_all_columns():
    wide, plain = C[["c", "a", "b"]], C[["c", "a", "b"]].to_numpy()
    first = lambda X: X[:, 0]  # noqa: E731
    by_name = k.on(["a", "b"]).conjugate(first)
    np.testing.assert_allclose(by_name(wide), k.on([1, 2]).conjugate(first)(plain))
    assert k.on("a").conjugate(first)(wide).shape == (3, 3)


def test_laws_see_the_names():
    for kernel in (k.on("a"), k.on(["b"]) + Linear().on("a"), k):
        assert rn.check_kernel(kernel, A) > -1e-9
        assert rn.indefinite_witness(kernel, A) is None
        check_reproducing(ridge(kernel, A, y, lam=0.1), A)
    expansion = rn.mercer_expansion(k.on("a"), rn.empirical(A), 1)
    np.testing.assert_allclose(expansion.eigenfunctions(B), expansion.eigenfunctions(A))


def test_parts_of_an_additive_model_are_functions_of_the_frame():
    f = ridge(k.on("a") + k.on("b"), A, y, lam=0.1)
    parts = least_norm_split(f, k.on("a"), k.on("b"))
    np.testing.assert_allclose(sum(part(B) for part in parts), f(A))


def test_bags_of_texts_may_be_lists():
    bags = [["ab", "b"], ["ba"]]
    kernel = SetKernel(Spectrum(2))
    phi = kernel.feature_map(bags)
    np.testing.assert_allclose((phi(bags) @ phi(bags).T).toarray(), kernel(bags))


@pytest.mark.parametrize("inner", [Linear().on([0]), Gaussian([1.0, 5.0])], ids=str)
def test_new_bags_go_by_the_names_of_those_of_the_fit(inner):
    rng = np.random.default_rng(0)
    bags = [
        pd.DataFrame(rng.normal(size=(4, 2)) + rng.normal(size=2), columns=["a", "b"])
        for _ in range(9)
    ]
    turned, bare = [b[["b", "a"]] for b in bags], [b.to_numpy() for b in bags]
    targets, kernel = [b.a.mean() for b in bags], SetKernel(inner)
    f, plain = (ridge(kernel, X, targets, lam=0.1) for X in (bags, bare))
    np.testing.assert_allclose(f(turned), plain(bare))
    np.testing.assert_allclose(kernel(bags, turned), kernel(bare))
    phi = rn.nystrom_features(kernel, bags, 1, rng=0)
    np.testing.assert_allclose(phi(turned), phi(bags))
    assert rn.mmd2_v(kernel, bags[:5], turned[5:]) == pytest.approx(
        rn.mmd2_v(kernel, bare[:5], bare[5:])
    )
    with pytest.raises(ValueError, match="make both of columns in one order"):
        f @ ridge(kernel, turned, targets, lam=0.1)
    by_name = [ridge(SetKernel(k.on(["a", "b"])), X, targets, lam=0.1) for X in (bags, turned)]
    assert by_name[0] @ by_name[1] == pytest.approx(by_name[0] @ by_name[0])


def test_a_frame_beside_texts_is_refused():
    each, texts = Tensor(k, Spectrum(1)), ["ab", "b", "a"]
    np.testing.assert_allclose(each((A.to_numpy(), texts)), k(A) * Spectrum(1)(texts))
    with pytest.raises(TypeError, match=r"X\[0\] is a data frame beside objects.*X\[0\].to_numpy"):
        each((A, texts))


def test_a_fit_that_stands_for_a_function_keeps_its_names():
    h = ridge(k, B, A["a"], lam=0.1)
    E = rn.conditional_embedding(k, k, y, A, 0.1)
    np.testing.assert_allclose(E.expectation(h, y), E.weights(y) @ h(B))
    np.testing.assert_allclose(Linear().conjugate(h)(A), h(B)[:, None] * Linear()(A) * h(B))
    turned = lambda Z: h(Z[:, ::-1])  # noqa: E731
    named, plain = (
        rn.bias_variance(k, X, truth, noise=0.1, lam=0.1).bias2
        for X, truth in ((A, h), (A.to_numpy(), turned))
    )
    assert named == pytest.approx(plain)


def test_effects_compare_at_one_point_in_one_space():
    kx, ky = Gaussian([1.0, 3.0]), Gaussian([2.0, 1.0])
    first, second = (rn.conditional_embedding(kx, ky, D, A, 0.1) for D in (A, B))
    W, V = (
        first.weights(A),
        rn.conditional_embedding(kx, ky, B.to_numpy(), A.to_numpy(), 0.1).weights(B.to_numpy()),
    )
    by_hand = np.sqrt(np.einsum("ij,jl,il->i", W - V, ky(A), W - V))
    np.testing.assert_allclose(rn.conditional_effect(first, second, A), by_hand, atol=1e-7)
    with pytest.raises(ValueError, match="embeddings were made of columns a, b and b, a"):
        rn.conditional_effect(first, rn.conditional_embedding(kx, ky, A, B, 0.1), A)
    by_name = [rn.conditional_embedding(kx, ky.on(["a", "b"]), D, D, 0.1) for D in (A, B)]
    np.testing.assert_allclose(rn.conditional_effect(*by_name, A), by_hand, atol=1e-7)


def test_a_fit_among_the_free_functions_keeps_its_names():
    h = ridge(k, B, A["a"], lam=0.1)
    named = rn.semiparametric(Linear(), A, y, [h], 1.0)
    plain = rn.semiparametric(Linear(), A.to_numpy(), y, [lambda Z: h(Z[:, ::-1])], 1.0)
    np.testing.assert_allclose(named(A), plain(A.to_numpy()))
    np.testing.assert_allclose(named(B), named(A))


def drawn_line(ax, level):
    "The points of the contours at this level"
    lines = [
        c for c in ax.collections if hasattr(c, "levels") and level in c.levels and not c.filled
    ]
    (line,) = lines
    return np.concatenate([p.vertices for p in line.get_paths() if len(p.vertices)])


def test_plots_ask_functions_at_points_under_the_names_of_the_data():
    import matplotlib.pyplot as plt

    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.normal(size=(40, 2)), columns=["a", "b"])
    y, turned = np.sign(X["a"].to_numpy()), X[["b", "a"]]
    kernels = Linear(), Gaussian(2.0).on(["a"]), Linear().on(["a"]) + 1e-9 * Gaussian(1.0).on(["b"])
    for k in kernels:
        m = rn.svc(k, X, y)
        for draw in (lambda P, m=m: rn.plot_decision(m, P, y), lambda P, m=m: m.plot(P, y)):
            upright, flat = (drawn_line(draw(P), 0.0) for P in (X, turned))
            assert np.ptp(upright[:, 0]) < 0.5 * np.ptp(upright[:, 1])  # y is the sign of a
            assert np.ptp(flat[:, 1]) < 0.5 * np.ptp(flat[:, 0])
        margins = drawn_line(m.plot(turned, y), 1.0)
        assert np.ptp(margins[margins[:, 1] > 0][:, 1]) < 0.5 * np.ptp(margins[:, 0])
        plt.close("all")
    k = Gaussian(1.0).on(["a"]) + Gaussian(2.0).on(["b"])
    f, plain = (
        ridge(k, X, y, 0.1),
        ridge(Gaussian(1.0).on([0]) + Gaussian(2.0).on([1]), X.values, y, 0.1),
    )
    limits = -1.0, 1.0, -2.0, 2.0
    levels = np.linspace(-2, 2, 9)
    pictures = [g.plot(*limits, ax=plt.subplots()[1], levels=levels) for g in (f, plain)]
    one, two = (
        np.concatenate([p.vertices for p in ax.collections[0].get_paths()]) for ax in pictures
    )
    np.testing.assert_allclose(one, two, atol=1e-9)
    g, h = ridge(Gaussian(1.0).on(["a"]), X, y, 0.1), ridge(Gaussian(1.0), X["a"].values, y, 0.1)
    one, two = (f.plot(-1.0, 1.0, ax=plt.subplots()[1]).lines[0].get_ydata() for f in (g, h))
    np.testing.assert_allclose(one, two, atol=1e-9)
    process = rn.gaussian_process(Gaussian(1.0).on(["a"]), X, y, 0.1).plot(ax=plt.subplots()[1])
    bare = rn.gaussian_process(Gaussian(1.0), X["a"].values, y, 0.1).plot(ax=plt.subplots()[1])
    one, two = (ax.lines[0].get_ydata() for ax in (process, bare))
    np.testing.assert_allclose(one, two, atol=1e-9)
    plt.close("all")
