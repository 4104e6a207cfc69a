"""Each public law refuses what is almost right: a factor 1.05, one sign, one term, half a derivative."""

import re
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

import rkhs_notes as rn
from rkhs_notes import Gaussian, LawBroken, Linear, Matern
from rkhs_notes.kernels import Kernel

ROOT = Path(__file__).parents[1]
rng = np.random.default_rng(0)
X, Y, Z = rng.normal(size=(30, 2)), rng.normal(size=(30, 2)), rng.normal(size=(5, 2))
x, y = np.linspace(0, 1, 24), np.sin(6 * np.linspace(0, 1, 24)) + 0.1 * rng.normal(size=24)
SIGNS, k = np.where(X[:, 0] + 0.5 * Y[:, 0] > 0, 1.0, -1.0), Gaussian(1.0)
F, U = rng.normal(size=(6, 9)), rng.normal(size=(6, 4))
BETA, NULL = np.linalg.lstsq(F, U[:, 0])[0], np.linalg.svd(F)[2][-1]
SMOOTH = rn.ridge(k, X, X[:, 0], 1.0)
PROJECTION = rn.RKHS(k).project(SMOOTH, Z)


class Leaning(Kernel):
    "A Gaussian with `by` of a term that is not symmetric, or larger by this share off the diagonal"

    by: float
    negative: bool = False

    def _gram(self, A, B, xp):
        good = xp.exp(-((A[:, :1] - B[:, :1].T) ** 2) / 2)
        return (
            good * (1 + self.by * (A[:, :1] != B[:, :1].T))
            if self.negative
            else good + self.by * A[:, :1]
        )


class Steep(Gaussian):
    def _vjp(self, A, B, W):
        return {name: 1.05 * slope for name, slope in super()._vjp(A, B, W).items()}


class Lifted(rn.Hinge):
    "Its conjugate is 5 % off"

    def conjugate(self, target, u):
        return 1.05 * super().conjugate(target, u)


def times(f, by=1.05):
    return lambda *given, **options: by * f(*given, **options)


def mean_law(x):
    return -x


def embedding(by):
    E = rn.conditional_embedding(k, k, X, Y, 0.1)
    return SimpleNamespace(
        kx=E.kx, ky=E.ky, X=E.X, Y=E.Y, lam=E.lam, weights=lambda at: by * np.asarray(E.weights(at))
    )


def rates(by):
    curve = rn.LearningCurve(np.array([10, 20, 40, 80]), errors(), 0.0, 0.95, 0.0)
    return rn.check_rate(curve, -curve.slope * by)


def errors():
    return np.array([10.0, 20, 40, 80]) ** -0.5 * np.exp(
        0.002 * np.random.default_rng(1).normal(size=(20, 4))
    )


def longer(f):
    "Training with steps longer than stated"
    return lambda *given, **options: f(
        *given, **{**options, "step_size": 1.05 * options["step_size"]}
    )


# law: (what obeys it, {near miss: what does not})
LAWS = {
    "check_feature_map": (
        lambda: rn.check_feature_map(rn.feature_map(Linear(), 2), Linear(), X),
        {"φ × 1.05": lambda: rn.check_feature_map(lambda A: 1.05 * A, Linear(), X)},
    ),
    "check_kernel": (
        lambda: rn.check_kernel(k, X),
        {
            "not symmetric": lambda: rn.check_kernel(Leaning(0.05), X),
            "× 1.05 off the diagonal": lambda: rn.check_kernel(Leaning(0.05, True), X),
        },
    ),
    "check_gradient": (
        lambda: rn.check_gradient(k, X),
        {"slope × 1.05": lambda: rn.check_gradient(Steep(1.0), X)},
    ),
    "check_inner_product": (
        lambda: rn.check_inner_product(np.dot, list(U.T)),
        {
            "one sign": lambda: rn.check_inner_product(
                lambda f, g: f @ g - 2 * f[0] * g[0], list(np.eye(6) + 0.1)
            ),
            "not symmetric": lambda: rn.check_inner_product(
                lambda f, g: f @ g + 0.05 * f[0] * g[1], list(U.T)
            ),
            "squared": lambda: rn.check_inner_product(
                lambda f, g: (f @ g) * abs(f @ g) ** 0.05, list(U.T)
            ),
        },
    ),
    "check_norm": (
        lambda: rn.check_norm(np.linalg.norm, list(U.T)),
        {
            "p = 0.95": lambda: rn.check_norm(lambda f: np.linalg.norm(f, 0.95), list(U.T)),
            "power 1.05": lambda: rn.check_norm(lambda f: np.linalg.norm(f) ** 1.05, list(U.T)),
        },
    ),
    "check_min_norm": (
        lambda: rn.check_min_norm(F, U[:, 0], BETA),
        {
            "× 1.05": lambda: rn.check_min_norm(F, U[:, 0], 1.05 * BETA),
            "not the shortest": lambda: rn.check_min_norm(F, U[:, 0], BETA + 1e-3 * NULL),
        },
    ),
    "check_conditionally_negative": (
        lambda: rn.check_conditionally_negative(lambda A, B: abs(A - B.T) ** 1.95, x),
        {"power 2.1": lambda: rn.check_conditionally_negative(lambda A, B: abs(A - B.T) ** 2.1, x)},
    ),
    "check_conditional_embedding": (
        lambda: rn.check_conditional_embedding(embedding(1.0)),
        {"weights × 1.05": lambda: rn.check_conditional_embedding(embedding(1.05))},
    ),
    "check_hsic": (
        lambda: rn.check_hsic(k, k, X, Y, rng=0),
        {
            "× 1.05": lambda: rn.check_hsic(k, k, X, Y, times(rn.hsic), rng=0),
            "n − 1 for n": lambda: rn.check_hsic(k, k, X, Y, times(rn.hsic, (30 / 29) ** 2), rng=0),
        },
    ),
    "check_mmd": (
        lambda: rn.check_mmd(k, X, Y),
        {
            "v × 1.05": lambda: rn.check_mmd(k, X, Y, v=times(rn.mmd2_v)),
            "v for u": lambda: rn.check_mmd(k, X, Y, u=rn.mmd2_v),
            "u for u1": lambda: rn.check_mmd(k, X, Y, u1=rn.mmd2_u),
            "witness × 1.05": lambda: rn.check_mmd(k, X, Y, f=1.05 * rn.witness(k, X, Y)),
        },
    ),
    "check_kkt": (
        lambda: rn.check_kkt(rn.svc(k, X, SIGNS, 1.0), X, SIGNS, 1.0),
        {
            "C × 1.05": lambda: rn.check_kkt(rn.svc(k, X, SIGNS, 1.05), X, SIGNS, 1.0),
            "C / 1.05": lambda: rn.check_kkt(rn.svc(k, X, SIGNS, 1 / 1.05), X, SIGNS, 1.0),
        },
    ),
    "check_large_fit": (
        lambda: rn.check_large_fit(rn.ridge_large(k, X, X[:, 0], 0.1), X, X[:, 0]),
        {
            "lam × 1.05": lambda: rn.check_large_fit(
                replace(rn.ridge_large(k, X, X[:, 0], 0.1), lam=0.105), X, X[:, 0]
            ),
            "y × 1.05": lambda: rn.check_large_fit(
                rn.ridge_large(k, X, X[:, 0], 0.1), X, 1.05 * X[:, 0]
            ),
        },
    ),
    "check_projection": (
        lambda: rn.check_projection(SMOOTH, PROJECTION, Z, X),
        {
            "× 1.05": lambda: rn.check_projection(SMOOTH, 1.05 * PROJECTION, Z, X),
            "a part that is 0 at the centres": lambda: rn.check_projection(
                SMOOTH, PROJECTION + 0.05 * (SMOOTH - PROJECTION), Z, X
            ),
        },
    ),
    "check_inclusion": (
        lambda: rn.check_inclusion(1.0 * k, k, 1.0, Z),
        {"c / 1.05": lambda: rn.check_inclusion(1.05 * k, k, 1.0, Z)},
    ),
    "check_rate": (
        lambda: rates(1.0),
        {"× 1.05": lambda: rates(1.05), "/ 1.05": lambda: rates(1 / 1.05)},
    ),
    "check_representer": (
        lambda: rn.check_representer(rn.ridge(k, X, X[:, 0], 0.1), X, X[:, 0], 0.1, rng=0),
        {
            "lam × 1.05": lambda: rn.check_representer(
                rn.ridge(k, X, X[:, 0], 0.105), X, X[:, 0], 0.1, rng=0
            ),
            "f × 1.05": lambda: rn.check_representer(
                1.05 * rn.ridge(k, X, X[:, 0], 0.1), X, X[:, 0], 0.1, rng=0
            ),
        },
    ),
    "check_stein": (
        lambda: rn.check_stein(k, mean_law, rn.gauss_hermite(0, 1, 60), [0.3, 1.0]),
        {
            "score × 1.05": lambda: rn.check_stein(
                k, times(mean_law), rn.gauss_hermite(0, 1, 60), [0.3, 1.0]
            ),
            "sign": lambda: rn.check_stein(
                k, times(mean_law, -1), rn.gauss_hermite(0, 1, 60), [0.3, 1.0]
            ),
        },
    ),
    "check_sample_space": (
        lambda: rn.check_sample_space(Matern(2.5), Matern(1.0), np.linspace(0, 1, 128), rng=0),
        {
            "ν − ½": lambda: rn.check_sample_space(
                Matern(1.5), Matern(1.0), np.linspace(0, 1, 128), rng=0
            ),
            "ν − 0.45": lambda: rn.check_sample_space(
                Matern(1.5), Matern(1.05), np.linspace(0, 1, 128), rng=0
            ),
        },
    ),
    "check_span": (
        lambda: rn.check_span(U, np.sign(U[:, 0])),
        {"step × 1.05": lambda: rn.check_span(U, np.sign(U[:, 0]), dual=longer(rn.sgd_dual))},
    ),
    "check_loss": (
        lambda: rn.check_loss(rn.Hinge(), [1.0, -1.0], rng=0),
        {"conjugate × 1.05": lambda: rn.check_loss(Lifted(), [1.0, -1.0], rng=0)},
    ),
    "check_unbiased": (
        lambda: rn.check_unbiased(lambda r: rn.fourier_features(k, 2, 200, r), k, Z, 0),
        {
            "φ × 1.05": lambda: rn.check_unbiased(
                lambda r: times(rn.fourier_features(k, 2, 200, r)), k, Z, 0
            )
        },
    ),
    "check_level": (
        lambda: rn.check_level(lambda A, B, r: r.random(), lambda r: (X, Y), rng=0),
        {"p / 2": lambda: rn.check_level(lambda A, B, r: r.random() / 2, lambda r: (X, Y), rng=0)},
    ),
    "check_power": (
        lambda: rn.check_power(lambda A, B, r: r.random() / 16, lambda r: (X, Y), 0.8, rng=0),
        {
            "a half of it": lambda: rn.check_power(
                lambda A, B, r: r.random() / 8, lambda r: (X, Y), 0.8, rng=0
            )
        },
    ),
}

# met where the objects are made: law → the test that plants the near miss
ELSEWHERE = {
    "check_mercer": "test_mercer.py::test_a_fault_of_a_small_pair_is_refused",
    "check_kernel_pca": "test_kpca.py::test_near_misses_of_kernel_pca",
    "check_kernel_cca": "test_cca.py::test_near_misses_of_cca",
    "check_coupling": "test_cke.py::test_a_near_miss_of_stationarity",
    "check_fourier_norm": "test_grid_norms.py::test_near_misses_of_a_spectrum",
    "check_noise": "test_processes.py::test_the_law_of_noise_refuses_near_misses",
    "check_merge": "test_streams.py::test_the_law_holds_and_refuses_mutants",
    "check_regret": "test_sgd.py::test_laws_refuse_mutants",
    "check_renumbering": "test_graphs.py::test_renumbering_refuses_three_times_its_tolerance",
    "check_reproducing": "test_rkhs.py::test_check_reproducing_meets_near_misses",
    "check_exercises": "test_exercises.py::test_a_table_whose_mistakes_are_not_told_apart_is_refused",
}


def test_every_public_law_meets_a_near_miss():
    modules = (ROOT.parent / "rkhs_notes").rglob("*.py")
    laws = {
        name for path in modules for name in re.findall(r"(?m)^def (check_\w+)", path.read_text())
    }
    assert laws == {*LAWS, *ELSEWHERE} and not {*LAWS} & {*ELSEWHERE}
    for law, test in ELSEWHERE.items():
        file, _, name = test.partition("::")
        (path,) = ROOT.rglob(file)
        text = path.read_text()
        assert law in text and f"def {name}(" in text, law


@pytest.mark.parametrize("law", LAWS)
def test_what_is_right_passes(law):
    LAWS[law][0]()


@pytest.mark.parametrize(("law", "miss"), [(law, miss) for law in LAWS for miss in LAWS[law][1]])
def test_a_near_miss_is_refused(law, miss):
    with pytest.raises(LawBroken):
        LAWS[law][1][miss]()
