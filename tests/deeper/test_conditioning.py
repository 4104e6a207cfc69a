"""Conditional embeddings: against ridge regression, explicit features, refits, operators and closed forms."""

import pickle

import numpy as np
import pandas as pd
import pytest
from scipy.optimize import nnls
from sklearn.kernel_ridge import KernelRidge

import rkhs_notes as rn
from rkhs_notes import (
    Gaussian,
    LawBroken,
    Linear,
    Measure,
    Polynomial,
    RKHSFunction,
    Spectrum,
    mean_embedding,
)
from rkhs_notes.deeper.conditioning import (
    KernelPosterior,
    check_conditional_embedding,
    conditional_effect,
    conditional_embedding,
    conditional_path,
    kernel_bayes,
    kernel_chain_rule,
    kernel_sum_rule,
    nearest_measure,
)
from rkhs_notes.engines.testing.discrepancies import GaussianEmbedding

RNG = np.random.default_rng(0)
X = RNG.uniform(-2, 2, (40, 2))
Y = np.column_stack([np.sin(X[:, 0]), X[:, 1] ** 2]) + 0.3 * RNG.normal(size=(40, 2))
KX, KY, LAM = Gaussian(1.1) + 0.3 * Linear(), Gaussian(0.8), 0.4
E = conditional_embedding(KX, KY, X, Y, LAM)
NEW = RNG.uniform(-2, 2, (7, 2))


def mass(f, g):
    "⟨f, g⟩ of two expansions, by their Gram matrix"
    return f.alpha @ f.k(f.Z, g.Z) @ g.alpha


# ridge regression


@pytest.mark.second_route("conditional_embedding", "scikit-learn")
def test_weights_are_those_of_ridge_regression():
    by_hand = np.linalg.inv(KX(X) + LAM * np.eye(40)) @ KX(X, NEW)
    np.testing.assert_allclose(E.weights(NEW), by_hand.T, rtol=1e-9, atol=1e-12)
    values = np.column_stack([np.exp(Y[:, 0]), Y.sum(axis=1)])
    peer = KernelRidge(alpha=LAM, kernel="precomputed").fit(KX(X), values)
    found = E.expectation(lambda y: np.column_stack([np.exp(y[:, 0]), y.sum(axis=1)]), NEW)
    np.testing.assert_allclose(found, peer.predict(KX(NEW, X)), rtol=1e-9)


def test_it_minimises_the_objective_with_explicit_features():
    "ky = Polynomial(2) has six features: F is a matrix, and J is least at the solution of normal equations"
    k = Polynomial(2)
    phi = k.feature_map(2)
    T, C = phi(Y), KX(X)
    F = np.linalg.solve(C + LAM * np.eye(40), T)  # Σⱼ k(xⱼ, ·) F[j]

    def objective(H):
        return np.sum((T - C @ H) ** 2) + LAM * np.sum((C @ H) * H)

    E2 = conditional_embedding(KX, k, X, Y, LAM)
    np.testing.assert_allclose(E2.weights(NEW) @ T, KX(NEW, X) @ F, rtol=1e-8)
    A = np.linalg.inv(C + LAM * np.eye(40))
    for _ in range(10):
        step = 1e-3 * RNG.normal(size=F.shape)
        assert objective(A @ T + step) > objective(A @ T)


def test_a_mean_is_a_function_of_the_space_of_y():
    f = E.mean(NEW[0])
    assert f.k == KY and np.array_equal(f.Z, Y)
    for same in (NEW[:1], NEW[0].tolist(), [NEW[0].tolist()]):
        np.testing.assert_array_equal(E.mean(same).alpha, f.alpha)
    g = mean_embedding(KY, Y[:5])
    np.testing.assert_allclose(E.expectation(g, NEW)[0], g @ f, rtol=1e-10)


def test_one_point_is_one():
    for several in (NEW, NEW.tolist(), NEW[:2], np.array(1.0)):
        with pytest.raises(ValueError, match="x"):
            E.mean(several)
    with pytest.raises(ValueError, match="x"):
        E.weights(NEW[:, :1])
    with pytest.raises(ValueError, match="values of g"):
        E.expectation(lambda y: y[:3], NEW)


def test_points_may_be_texts():
    words = ["acgtacgt", "ccgtacga", "ttttacgt", "acgtaaaa", "gggtacgc"]
    k = Spectrum(2)
    T = conditional_embedding(k, k, words, words[::-1], 0.5)
    by_hand = np.linalg.solve(k(words) + 0.5 * np.eye(5), k(words, ["acgg"]))
    np.testing.assert_allclose(T.weights(["acgg"]), by_hand.T, rtol=1e-9)
    assert T.mean("acgg").k == k
    np.testing.assert_allclose(
        T.expectation(lambda w: [len(v) for v in w], ["acgg"]), 8 * by_hand.sum()
    )


def test_a_copy_answers_the_same():
    again = pickle.loads(pickle.dumps(E))
    np.testing.assert_array_equal(again.weights(NEW), E.weights(NEW))
    assert "40 pairs" in repr(E)


def test_a_singular_system_is_named():
    with pytest.raises(rn.NotPositiveDefinite, match="rows 0 and 1 are equal"):
        conditional_embedding(
            Linear(), Linear(), [[1e9], [1e9], [3.0]], [[1.0], [2.0], [3.0]], 1e-12
        )


# the law


class Instead:
    "An embedding with other weights"

    def __init__(self, weights, lam=LAM):
        self.kx, self.ky, self.X, self.Y, self.lam, self.weights = KX, KY, X, Y, lam, weights


@pytest.mark.second_route("check_conditional_embedding", "near misses refused")
def test_the_law_holds_and_meets_a_near_miss():
    assert check_conditional_embedding(E) < 1e-12 and check_conditional_embedding(E, NEW) < 1e-12
    assert check_conditional_embedding(Instead(E.weights)) < 1e-12
    for wrong in (1 + 3e-6, 1 - 3e-6):
        with pytest.raises(LawBroken, match="lam belongs beside the sum"):
            check_conditional_embedding(Instead(E.weights, LAM * wrong))
    off_the_data = Instead(lambda x: E.weights(x) * (1 + 1e-6 * (len(x) == len(NEW))))
    assert check_conditional_embedding(off_the_data) < 1e-12
    with pytest.raises(LawBroken):
        check_conditional_embedding(off_the_data, NEW)


@pytest.mark.parametrize(
    "weights",
    [
        lambda x: E.weights(x) * (1 + 1e-7),
        lambda x: E.weights(x) / E.weights(x).sum(axis=1, keepdims=True),
        lambda x: KX(x, X) @ np.linalg.inv(KX(X) + 40 * LAM * np.eye(40)),
        lambda x: KX(x, X) @ np.linalg.pinv(KX(X)),
        lambda x: Gaussian(1.0)(x, X) / Gaussian(1.0)(x, X).sum(axis=1, keepdims=True),
        lambda x: -E.weights(x),
    ],
    ids=["scaled", "normalised", "n lam", "no lam", "local average", "sign"],
)
def test_the_law_refuses(weights):
    with pytest.raises(LawBroken):
        check_conditional_embedding(Instead(weights))


# leave one out


def refitted(kx, ky, X, Y, lam):
    total = 0.0
    for i in range(len(X)):
        rest = np.arange(len(X)) != i
        K = kx(X[rest]) + lam * np.eye(len(X) - 1)
        w = np.linalg.solve(K, kx(X[rest], X[i : i + 1]))[:, 0]
        c = np.append(w, -1.0)
        both = np.vstack([Y[rest], Y[i : i + 1]])
        total += c @ ky(both) @ c
    return total / len(X)


@pytest.mark.second_route("ConditionalPath", "conditional_path", "refits without each point")
@pytest.mark.parametrize("ky", [KY, Polynomial(2), 5.0 * Gaussian(0.2)], ids=str)
def test_leave_one_out_is_refitting(ky):
    lams = [1e-3, 0.4, 20.0]
    path = conditional_path(KX, ky, X, Y, lams)
    np.testing.assert_allclose(path.loo, [refitted(KX, ky, X, Y, lam) for lam in lams], rtol=1e-7)
    assert path.best == lams[int(np.argmin(path.loo))]
    assert path.embedding_at().lam == path.best and path.embedding_at(2.0).lam == 2.0


def test_with_the_linear_kernel_it_is_that_of_ridge_regression():
    lams = np.geomspace(1e-2, 10, 6)
    path, scalar = conditional_path(KX, Linear(), X, Y, lams), rn.ridge_path(KX, X, Y, lams)
    np.testing.assert_allclose(
        path.loo, 2 * scalar.loo, rtol=1e-8
    )  # a sum over columns, not a mean
    assert len(conditional_path(KX, KY, X, Y).lams) == 50


def test_leaving_out_needs_two():
    with pytest.raises(ValueError, match="X"):
        conditional_path(KX, KY, X[:1], Y[:1])


# the nearest measure


@pytest.mark.second_route("nearest_measure", "SciPy's nonnegative least squares")
def test_nearest_measure_is_the_projection():
    Z = np.linspace(-2, 2, 30)
    k = Gaussian(0.3)
    inside = RKHSFunction(k, Z[3:9], RNG.uniform(0.1, 1, 6))
    found = nearest_measure(inside, Z)
    np.testing.assert_allclose(k(Z) @ found.weights, inside(Z), atol=1e-7)
    f = RKHSFunction(k, RNG.uniform(-2, 2, 12), RNG.normal(size=12))
    p = nearest_measure(f, Z).weights
    L = np.linalg.cholesky(k(Z) + 1e-10 * np.eye(30))
    other, _ = nnls(L.T, np.linalg.solve(L, f(Z)))

    def distance(q):
        return q @ k(Z) @ q - 2 * q @ f(Z)

    assert p.min() >= 0 and distance(p) <= distance(other) + 1e-7
    gradient = k(Z) @ p - f(Z)  # conditions for the minimum over p ≥ 0
    assert gradient.min() > -1e-6 and abs(p @ gradient) < 1e-6
    truth = RKHSFunction(k, Z, RNG.uniform(0, 1, 30))
    assert truth.distance(RKHSFunction(k, Z, p)) <= truth.distance(f) + 1e-6  # Proposition 15a.6


# sum rule, chain rule, tower


def test_the_sum_rule_takes_any_law():
    U, gamma = NEW, RNG.dirichlet(np.ones(7))
    by_hand = E.weights(U).T @ gamma
    for prior in (Measure(U, gamma), RKHSFunction(KX, U, gamma)):
        np.testing.assert_allclose(kernel_sum_rule(E, prior).alpha, by_hand, rtol=1e-9)
    np.testing.assert_allclose(kernel_sum_rule(E, U).alpha, E.weights(U).mean(axis=0), rtol=1e-9)
    with pytest.raises(TypeError, match="prior"):
        kernel_sum_rule(E, RKHSFunction(Gaussian(3.0), U, gamma))
    with pytest.raises((TypeError, ValueError), match="prior"):
        kernel_sum_rule(E, "text")


@pytest.mark.second_route("kernel_sum_rule", "NumPy")
def test_the_tower_loses_what_lam_takes():
    gap = mean_embedding(KY, Y) - kernel_sum_rule(E, X)
    c = np.linalg.solve(KX(X) + LAM * np.eye(40), np.full(40, LAM / 40))
    np.testing.assert_allclose(gap(Y[:6]), KY(Y[:6], Y) @ c, rtol=1e-7, atol=1e-10)
    small = conditional_embedding(Gaussian(0.3), KY, X, Y, 1e-6)
    assert kernel_sum_rule(small, X).distance(mean_embedding(KY, Y)) < 1e-5


@pytest.mark.second_route("kernel_chain_rule", "the weighted sum over pairs")
def test_the_chain_rule_is_a_joint_law():
    joint = kernel_chain_rule(E, NEW)
    v = E.weights(NEW).mean(axis=0)
    at, to = NEW[:3], Y[:3]
    expected = (KX(at, X) * KY(to, Y)) @ v
    np.testing.assert_allclose(joint((at, to)), expected, rtol=1e-9)
    one_column = conditional_embedding(
        KX, Gaussian(1.0), X, Y[:, :1], LAM
    )  # halves of different widths
    joint = kernel_chain_rule(one_column, NEW)
    expected = (KX(at, X) * Gaussian(1.0)(to[:, :1], Y[:, :1])) @ one_column.weights(NEW).mean(
        axis=0
    )
    np.testing.assert_allclose(joint((at, to[:, :1])), expected, rtol=1e-9)


# Bayes' rule


@pytest.mark.second_route("KernelPosterior", "kernel_bayes", "matrices of explicit features")
def test_the_posterior_is_that_of_the_operators():
    "Both kernels with finite features: (15a.9) in matrices"
    kx, ky, delta = Polynomial(1), Polynomial(2), 0.03
    post = kernel_bayes(kx, ky, X, Y, NEW, lam=0.2, delta=delta)
    P, F = kx.feature_map(2)(X), ky.feature_map(2)(Y)
    v = np.linalg.solve(kx(X) + 0.2 * np.eye(40), kx(X, NEW)).mean(axis=1)
    Cy, Cxy = F.T @ (v[:, None] * F), P.T @ (v[:, None] * F)
    at = ky.feature_map(2)(Y[:4]).T
    expected = Cxy @ np.linalg.solve(Cy @ Cy + delta * np.eye(6), Cy @ at)
    np.testing.assert_allclose(post.weights(Y[:4]) @ P, expected.T, rtol=1e-6, atol=1e-9)
    assert isinstance(post, KernelPosterior) and post.mean(Y[0]).k == kx


def test_bayes_where_the_answer_is_known_and_where_it_fails():
    rng = np.random.default_rng(1)
    x = rng.normal(size=(400, 1))
    y, k, at = x + 0.5 * rng.normal(size=(400, 1)), Gaussian(0.5), np.linspace(-0.5, 1.5, 5)
    near = kernel_bayes(k, k, x, y, 0.5 + 0.5 * rng.normal(size=(300, 1)))
    np.testing.assert_allclose(near.expectation(lambda x: x, at), (0.5 + at) / 2, atol=0.25)
    np.testing.assert_allclose(near.weights(at).sum(axis=1), 1, atol=0.1)
    far = kernel_bayes(k, k, x, y, 4 + 0.5 * rng.normal(size=(300, 1)))
    assert np.abs(far.expectation(lambda x: x, at) - (4 + at) / 2).max() > 0.5
    assert np.abs(far.weights(at).sum(axis=1) - 1).max() > 0.3  # and it can be seen


def test_along_a_chain_of_normal_variables():
    rng, k = np.random.default_rng(2), Gaussian(1.0)
    a = rng.normal(size=(600, 1))
    b = 0.8 * a + 0.6 * rng.normal(size=(600, 1))
    c = 0.8 * b + 0.6 * rng.normal(size=(600, 1))
    first = conditional_embedding(k, k, a, b, 0.5).mean([1.0])
    truth, found = GaussianEmbedding(0.8, 0.36, 1.0), first
    assert truth @ truth - 2 * (truth @ found) + found @ found < 0.01
    second = kernel_sum_rule(conditional_embedding(k, k, b, c, 0.5), first)
    truth = GaussianEmbedding(0.64, 0.36 * 1.64, 1.0)
    assert truth @ truth - 2 * (truth @ second) + second @ second < 0.01


# effects


@pytest.mark.second_route("conditional_effect", "norms of differences")
def test_an_effect_is_a_distance_of_means():
    other = conditional_embedding(KX, KY, NEW, NEW + 1, 0.2)
    found = conditional_effect(E, other, X[:4])
    expected = [E.mean(x).distance(other.mean(x)) for x in X[:4]]
    np.testing.assert_allclose(found, expected, rtol=1e-7)
    np.testing.assert_allclose(conditional_effect(E, E, X[:4]), 0, atol=1e-6)
    with pytest.raises(TypeError, match="control"):
        conditional_effect(E, conditional_embedding(KX, Gaussian(9.0), X, Y, 0.1), X)


def test_every_mistake_of_the_exercises_is_named():
    assert rn.exercises.check_exercises("15a") > 20


def test_a_prior_is_one_function():
    several = RKHSFunction(KX, X[:15], np.ones((15, 2)))
    for rule in (
        lambda prior: kernel_sum_rule(E, prior),
        lambda prior: kernel_chain_rule(E, prior),
        lambda prior: kernel_bayes(KX, KY, X, Y, prior),
    ):
        rule(several[0])
        with pytest.raises(ValueError, match=r"one at a time, as prior\[0\]"):
            rule(several)


def test_a_prior_with_named_columns_is_put_in_order():
    "A frame with its columns in another order is the same law; one without a column is none"
    D, P = (pd.DataFrame(A * [1, 3], columns=["a", "b"]) for A in (X, X[:15] + 0.3))
    E = conditional_embedding(KX, KY, D, Y, 0.1)
    rules = (
        lambda prior: rn.kernel_sum_rule(E, prior).alpha,
        lambda prior: rn.kernel_chain_rule(E, prior).alpha,
        lambda prior: rn.kernel_bayes(KX, KY, D, Y, prior).v,
        lambda prior: rn.kernel_sum_rule(E, rn.Measure(prior, np.full(15, 1 / 15))).alpha,
    )
    for rule in rules:
        np.testing.assert_array_equal(rule(P[["b", "a"]]), rule(P))
        with pytest.raises(ValueError, match="prior has no column 'b'; it has a"):
            rule(P[["a"]])
    turned = RKHSFunction(KX, P[["b", "a"]], np.ones(15))
    with pytest.raises(ValueError, match="made of columns a, b and b, a"):
        rn.kernel_sum_rule(E, turned)
    row = P[["b", "a"]].iloc[[3]]
    np.testing.assert_allclose(E.mean(row).alpha, E.weights(P)[3], atol=1e-12)


def test_a_law_of_pairs_takes_the_columns_that_its_kernels_name():
    "Of the frames that the embedding was made of, in any order; the others may hold words"
    rng = np.random.default_rng(4)
    A = pd.DataFrame(rng.normal(size=(30, 2)), columns=["a", "b"]).assign(town="Ulm")
    B = pd.DataFrame({"u": A.b + 0.1 * rng.normal(size=30), "note": "none"})
    E = conditional_embedding(Gaussian(1.0).on(["a", "b"]), Gaussian(1.0).on(["u"]), A, B, 0.5)
    law = rn.kernel_chain_rule(E, A[:10])
    bare = conditional_embedding(Gaussian(1.0), Gaussian(1.0), A[["a", "b"]], B[["u"]], 0.5)
    truth = rn.kernel_chain_rule(bare, A[["a", "b"]][:10])((A[["a", "b"]], B[["u"]]))
    for pairs in ((A, B), (A[["town", "b", "a"]], B[["note", "u"]]), (A[["a", "b"]], B[["u"]])):
        np.testing.assert_allclose(law(pairs), truth, atol=1e-12)
