"""Same seed, same answer: in two calls, two processes, whatever the hash seed, threads or order of files."""

import functools
import hashlib
import inspect
import json
import os
import pickle
import random
import subprocess
import sys
import threading
import types

import numpy as np
import pytest
import scipy.sparse as sp
from test_contracts import CONTRACTS, DRAWS, call, drawn

import rkhs_notes as rn
from conftest import PATHS, refuse
from rkhs_notes import estimators, settings, systems
from rkhs_notes.base.contracts import contract
from rkhs_notes.base.words import Count, Rng

RANDOM = [(name, f) for name, f in CONTRACTS if "rng" in f.plan.words]

A, B = np.random.default_rng(0).normal(size=(2, 12, 2))
SIGNS = np.where(A[:, 0] > 0, 1.0, -1.0)


def same(value):
    return lambda rng: value


LEARN = dict(k=same(rn.Gaussian(1)), X=same(A), y=same(SIGNS))
GRAPHS = [rn.Graph([(0, 1), (1, 2)], "abc"), rn.Graph([(0, 1)], "ab")]

# what test_contracts draws does not answer every function: arguments for those that it leaves out
FITTING = {
    "couplings.coupled_embedding": dict(L=same(A), H=same(B), W=same(np.eye(12)), rank=same(5)),
    "couplings.tune_coupling": dict(
        kernels=same([(rn.Gaussian(1), rn.Gaussian(1))]),
        L=same(A), H=same(B), labels=same([0, 1, 2] * 4), folds=same(2), components=same([1]),
    ),
    "contracts.fuzz": dict(f=same(rn.hoeffding_bound)),
    "convex.check_loss": dict(loss=same("squared")),
    "curves.double_descent_curve": dict(widths=same([2, 3]), lam=same(0.1)),
    "exercises.check_exercises": dict(chapter=same("00")),
    "graphs.check_renumbering": dict(
        k=same(rn.WeisfeilerLehman(2)), graphs=same(GRAPHS)
    ),
    "pictures.image_pairs": dict(n_people=same(3), each=same(2), side=same(8), factor=same(2), shift=same(1)),
    "pictures.low_resolution": dict(H=same(A[:, :1] * np.ones(16)), factor=same(2), shape=same((4, 4))),
    "machines.bayes_point": dict(X=same(A), y=same(SIGNS)),
    "machines.svc_probability": dict(X=same(A), y=same(SIGNS), folds=same(3)),
    "rates.selection_cost": dict(
        choose=same(lambda X, y: (lambda Z: np.full(len(Z), y.mean()), 1.0)), y=same(SIGNS), X=same(A)
    ),
    "risks.check_representer": dict(
        f=same(rn.ridge(rn.Gaussian(1), A, SIGNS, 0.1)), loss=same("squared"), lam=same(0.1), **LEARN
    ),
    "resampling.in_batches": dict(
        draw=same(lambda b, rng: rng.normal(size=(3, b))), statistic=same(lambda S: S.sum(0))
    ),
    "resampling.random_labels": dict(n_first=same(2)),
    "budgets.check_regret": dict(
        h=same(rn.ridge(rn.Gaussian(1), A, SIGNS, 1.0)), steps=same(20), loss=same("hinge"), **LEARN
    ),
    "descent.kernel_sgd": dict(steps=same(20), loss=same("hinge"), **LEARN),
    "two_samples.check_level": dict(
        test=same(lambda X, Y, rng: rn.mmd_test(rn.Gaussian(1), X, Y, 9, rng=rng)),
        draw=same(lambda rng: rng.normal(size=(2, 5, 2))), n_tests=same(9), level=same(0.5),
    ),
    "two_samples.check_power": dict(
        test=same(lambda X, Y, rng: rn.mmd_test(rn.Gaussian(1), X, Y, 9, rng=rng)),
        draw=same(lambda rng: (rng.normal(size=(5, 2)), 5 + rng.normal(size=(5, 2)))),
        power=same(0.2), n_tests=same(9), level=same(0.5),
    ),
    "two_samples.mmd_test_split": dict(X=same(A), Y=same(B)),
    "distributed.stream_sample": dict(blocks=same(A), m=same(3)),
}  # fmt: skip


def arguments(name, f, seed):
    own = DRAWS.get(name, {}) | FITTING.get(name, {})
    return drawn(f, np.random.default_rng(seed), own)


def bits(value, within=()):
    "All that a value holds, as plain tuples: arrays by their bytes, objects by their fields"
    if id(value) in within:  # it holds itself
        return "above"
    inner = functools.partial(bits, within=(*within, id(value)))
    if isinstance(value, np.ndarray) and value.dtype != object:
        return str(value.dtype), value.shape, value.tobytes()
    if sp.issparse(value):
        return inner(vars(value.tocsr().sorted_indices()))
    if isinstance(value, dict):
        return tuple((str(key), inner(v)) for key, v in value.items())
    if isinstance(value, (list, tuple, np.ndarray)):
        return tuple(map(inner, value))
    if isinstance(value, functools.partial):
        return inner([value.func, value.args, value.keywords])
    if isinstance(value, types.FunctionType):
        return value.__qualname__, *(inner(cell.cell_contents) for cell in value.__closure__ or ())
    if isinstance(value, types.MethodType):
        return value.__qualname__, inner(value.__self__)
    if isinstance(value, np.random.Generator):
        return inner([value.bit_generator.state, value.bit_generator.seed_seq.n_children_spawned])
    if type(value).__module__.startswith("rkhs_notes"):
        slots = [name for name in getattr(type(value), "__slots__", ()) if name[:2] != "__"]
        slots += [field.name for field in getattr(type(value), "__dataclass_fields__", {}).values()]
        fields = {name: getattr(value, name) for name in slots if hasattr(value, name)}
        return type(value).__name__, inner(getattr(value, "__dict__", {}) | fields)
    return repr(value).split(" at 0x")[0]


def answer(name, f, seed, **given):
    "Its bits, or None where it refuses what was drawn"
    found, error = call(f, arguments(name, f, seed) | given)
    return None if error else bits(found)


def state():
    "Global random state"
    return random.getstate(), bits(np.random.get_state())


def fixed(name, f, rng=5):
    "seed of a draw that f answers, of the first dozen"
    found = next((seed for seed in range(12) if answer(name, f, seed, rng=rng) is not None), None)
    assert found is not None, f"{name}: no call was answered; give FITTING what fits"
    return found


# matrices as small as these are solved whole, without a draw
WITHOUT_A_DRAW = {
    "kpca.kernel_pca",
    "mercer_expansions.mercer_expansion",
    "spectra.leading_eigenpairs",
}


def moved(name, f, seed):
    "Has a generator moved that f got?"
    generator = np.random.default_rng(5)
    answer(name, f, seed, rng=generator)
    return bits(generator) != bits(np.random.default_rng(5))


def rng_problems(name, f):
    "What is wrong with the argument rng of f"
    before, seed = state(), fixed(name, f)
    ask = functools.partial(answer, name, f, seed)
    if ask(rng=5) != ask(rng=5):
        yield f"{name}: the same seed, another answer"
    if name == "descent.check_span":  # hands one seed to two trainers
        return
    if ask(rng=np.random.default_rng(5)) != ask(rng=5):
        yield f"{name}: rng=5 and default_rng(5) differ"
    if any(moved(name, f, seed) for seed in range(12)) == (name in WITHOUT_A_DRAW):
        yield f"{name}: {'draws' if name in WITHOUT_A_DRAW else 'nothing was drawn'} from a generator"
    with settings.using(seed=5):
        if ask(rng=None) != ask(rng=5):
            yield f"{name}: rng=None is not settings.seed"
    if state() != before:
        yield f"{name}: global random state was touched"


@pytest.mark.parametrize("name, f", RANDOM, ids=[name for name, _ in RANDOM])
def test_a_seed_fixes_the_answer(name, f):
    refuse(list(rng_problems(name, f)))


def test_every_slip_with_rng_is_noticed():
    def forgets(n, rng):
        return np.random.default_rng().normal(size=n)

    def global_(n, rng):
        return np.random.normal(size=n) + random.random()

    def own_seed(n, rng):
        return np.random.default_rng(5).normal(size=n)

    words = {
        "forgets": "another answer",
        "global_": "global random",
        "own_seed": "nothing was drawn",
    }
    for f in (forgets, global_, own_seed):
        f.__annotations__ = {"n": Count, "rng": Rng}
        said = "\n".join(rng_problems(f.__name__, contract(f)))
        assert words[f.__name__] in said, said


def test_methods_take_rng_alike():
    fit, law = rn.gaussian_process(rn.Gaussian(1), A, SIGNS, 0.1), rn.Gaussian(1).spectral(2)
    for draw in (lambda rng: fit.sample(B, 3, rng), lambda rng: law.sample(5, rng)):
        before, generator = state(), np.random.default_rng(5)
        assert bits(draw(5)) == bits(draw(5)) == bits(draw(generator)) != bits(draw(generator))
        assert state() == before


@pytest.mark.skipif(settings.profile != "full", reason="three seconds: in make nightly")
def test_no_public_function_touches_global_random_state():
    problems, answered = [], 0
    for name, f in CONTRACTS:
        before = state()
        answered += answer(name, f, 0) is not None
        if state() != before:
            problems.append(f"{name} touches global random state")
    refuse(problems)
    assert answered > 0.7 * len(CONTRACTS)


# another process: other hashes of str, other threads


def of_texts_and_graphs():
    "{name: list} of what works on texts, graphs and names of classes: all that could follow a hash"
    import numpy as np

    import rkhs_notes as rn

    words = ["acgt", "tacg", "aacc", "gattaca", "cc"]
    graphs = [rn.Graph([(0, 1), (1, 2)], "abc"), rn.Graph([(0, 1), (0, 2), (1, 2)], "bca")]
    of_words = [rn.Spectrum(2), rn.Mismatch(2, 1, "acgt"), rn.Subsequence(2, 0.5)]
    answers = {repr(k): k(words).tolist() for k in of_words}
    answers |= {repr(k): k(graphs).tolist() for k in (rn.WeisfeilerLehman(2), rn.ShortestPath())}
    A, B = np.random.default_rng(0).normal(size=(2, 12, 2))
    labels = rn.svc_multiclass(rn.Gaussian(1), A, np.array(["fox", "owl", "cat"] * 4))
    return answers | {"labels": labels.predict(B).tolist()}


def hashed_by_name():
    "{name: digest} of what every random function answers"
    answers = {name: answer(name, f, fixed(name, f), rng=5) for name, f in RANDOM}
    return {
        name: hashlib.sha256(repr(found).encode()).hexdigest() for name, found in answers.items()
    }


def in_a_process(code, **variables):
    "What the value of the last line of this code is in a process with these environment variables"
    path = os.pathsep.join(PATHS)
    *lines, value = code.strip().splitlines()
    code = "\n".join([*lines, "import json", f"print('\\n' + json.dumps({value}))"])
    run = subprocess.run([sys.executable, "-c", code], env=os.environ | {"PYTHONPATH": path} | variables,
                         capture_output=True, text=True)  # fmt: skip
    assert run.returncode == 0, run.stderr[-2000:]
    return json.loads(run.stdout.splitlines()[-1])


def differing(here, there):
    assert here.keys() == there.keys() and len(here) > 5
    return [name for name in here if here[name] != there[name]]


def test_texts_and_graphs_answer_the_same_whatever_the_hashes():
    code = inspect.getsource(of_texts_and_graphs) + "\nof_texts_and_graphs()"
    refuse(differing(of_texts_and_graphs(), in_a_process(code, PYTHONHASHSEED="12345")))


@pytest.mark.skipif(settings.profile != "full", reason="all tests in a process: in make nightly")
def test_another_process_with_other_hashes_answers_the_same():
    code = "import test_determinism as t\nt.hashed_by_name()"
    refuse(differing(hashed_by_name(), in_a_process(code, PYTHONHASHSEED="12345")))


def test_an_answer_in_the_order_of_a_set_is_noticed():
    code = "{str(i): list({f'{i}{j}' for j in range(9)}) for i in range(9)}"
    first, second = (in_a_process(code, PYTHONHASHSEED=seed) for seed in "12")
    assert differing(first, second) and all(sorted(first[i]) == sorted(second[i]) for i in first)


def large_numbers():
    "Numbers that BLAS computes in threads where it has them, each from more than 600 points"
    rng = np.random.default_rng(0)
    X = rng.normal(size=(700, 5))
    y, k = np.where(X[:, 0] + 0.3 * rng.normal(size=700) > 0, 1.0, -1.0), rn.Gaussian(2.0)
    gp, pca = rn.gaussian_process(k, X, X[:, 1], 0.1), rn.kernel_pca(k, X, 3)
    test, machine = rn.mmd_test(k, X[:300], X[300:], 99, rng=0), rn.svc(k, X, y, 1.0, tol=1e-8)
    return {
        "gram": float(k(X).sum()), "ridge": float(gp.mean(X[:9]).sum()),
        "variance": float(gp.var(X[:9]).sum()),
        "pca": float(pca.eigenvalues.sum()), "mmd": float(test.statistic), "p": float(test.pvalue),
        "features": float(rn.fourier_features(k, 5, 400, 0)(X).sum()),
        "large": float(rn.ridge_large(k, X, y, 0.1, 100, rng=0, tol=1e-8)(X[:9]).sum()),
    }, {"svc": float(machine.objective)}  # fmt: skip


@pytest.mark.skipif(settings.profile != "full", reason="two processes: in make nightly")
def test_threads_of_blas_change_the_last_digits_only():
    code = "import test_determinism as t\nt.large_numbers()"
    one, two = (in_a_process(code, OMP_NUM_THREADS=threads) for threads in "12")
    for name in one[0]:  # sums in another order; conditions up to 1e4
        assert one[0][name] == pytest.approx(two[0][name], rel=1e-10), name
    assert one[1]["svc"] == pytest.approx(
        two[1]["svc"], rel=1e-7
    )  # each certified within tol = 1e-8


# threads of the caller


def in_threads(work, n=8):
    "What work(i) gave in n threads that begin at once"
    start, found = threading.Barrier(n), {}

    def run(i):
        start.wait()
        found[i] = work(i)

    threads = [threading.Thread(target=run, args=(i,)) for i in range(n)]
    [t.start() for t in threads], [t.join() for t in threads]
    assert sorted(found) == list(range(n)), "a thread failed"
    return [found[i] for i in range(n)]


@pytest.mark.parametrize("k, points", [
    (rn.Gaussian(1) * rn.Linear() + rn.Matern(1.5, 2.0), A),
    (rn.Gaussian(1).on(np.sin).normalized(), A),
    (rn.Spectrum(3) + rn.Subsequence(2, 0.5), ["acgt", "tacg", "aacc", "gattaca"] * 3),
    (rn.WeisfeilerLehman(2), GRAPHS * 4),
], ids=repr)  # fmt: skip
def test_eight_threads_share_a_kernel(k, points):
    alone = bits([k(points), k.diag(points), repr(k)])
    for _ in range(2):
        forms = points, k.points(points)  # of the second the prepared parts are kept, and shared
        found = in_threads(
            lambda i, forms=forms: bits([k(forms[i % 2]), k.diag(forms[i % 2]), repr(k)])
        )
        assert found == [alone] * len(found)


def test_eight_threads_share_a_feature_map_and_a_measure():
    def draw(i):
        law = k.spectral(2)
        return bits([phi(A), law.sample(5, 0), rn.fourier_features(k, 2, 10, i)(A)])

    k, phi = rn.Gaussian(1) + rn.Laplace(2), rn.fourier_features(rn.Gaussian(1), 2, 20, 0)
    assert in_threads(draw) == [draw(i) for i in range(8)]


# pickle, for processes that are spawned


# what they return holds a function that was given, or is one
HOLD_FUNCTIONS = {
    "exercises.exercise_table", "metrics.kde", "processes.nadaraya_watson", "risks.semiparametric",
    "resampling.gamma_null", "stein.torch_score", "steps.slope_of",
    "variants.logistic_primal", "variants.svm_primal", "variants.svr_primal",
}  # fmt: skip


@pytest.mark.skipif(settings.profile != "full", reason="five seconds: in make nightly")
def test_what_functions_return_can_be_pickled():
    problems, tried = [], 0
    for name, f in CONTRACTS:
        found, error = next(
            ((v, e) for v, e in (call(f, arguments(name, f, s)) for s in range(4)) if not e),
            (None, 1),
        )
        if error or name in HOLD_FUNCTIONS:
            continue
        tried += 1
        try:
            if bits(pickle.loads(pickle.dumps(found))) != bits(found):
                problems.append(f"{name}: {type(found).__name__} comes back changed")
        except Exception as e:  # noqa: BLE001
            problems.append(f"{name}: {type(found).__name__}: {e}")
    refuse(problems)
    assert tried > 150


MANY, MORE = np.random.default_rng(1).normal(size=(2, 30, 2))
VALUES, TIMES = np.sin(3 * MANY[:, 0]), np.random.default_rng(2).integers(1, 4, 30).astype(float)
SIDES, K1 = np.where(VALUES > 0, "up", "down"), rn.Gaussian(1.0)
WEIGHTED = {  # what is made of points with weights, and how it answers at other points
    "ridge": lambda w: rn.ridge(K1, MANY, VALUES, 0.1, weights=w),
    "ridge beside an offset": lambda w: rn.ridge(K1, MANY, VALUES, 0.1, offset=True, weights=w),
    "ridge beside features": lambda w: rn.semiparametric(K1, MANY, VALUES, np.abs, 0.1, weights=w),
    "a path": lambda w: rn.ridge_path(K1, MANY, VALUES, weights=w),
    "a path beside an offset": lambda w: rn.ridge_path(K1, MANY, VALUES, offset=True, weights=w),
    "the function of a path": lambda w: rn.ridge_path(K1, MANY, VALUES, weights=w).function,
    "a risk": lambda w: rn.minimize_risk(K1, MANY, SIDES, "logistic", weights=w),
    "a process": lambda w: rn.gaussian_process(K1, MANY, VALUES, 0.1, weights=w),
    "a large process": lambda w: rn.gaussian_process_large(K1, MANY, VALUES, 0.1, 12, weights=w, rng=0),
    "a process of labels": lambda w: rn.gp_classification(K1, MANY, SIDES, weights=w),
    "ridge on landmarks": lambda w: rn.ridge_large(K1, MANY, VALUES, 0.1, 12, weights=w, rng=0),
    "a machine": lambda w: rn.svc(K1, MANY, SIDES, weights=w),
    "machines": lambda w: rn.svc_multiclass(K1, MANY, np.array(list("abc") * 10), weights=w),
    "components": lambda w: rn.kernel_pca(K1, MANY, 2, weights=w),
    "correlations": lambda w: rn.kernel_cca(K1, K1, MANY, MORE, 1.0, weights=w),
    "an expansion": lambda w: rn.mercer_expansion(K1, rn.empirical(MANY, w), 5),
    "a conditional embedding": lambda w: rn.conditional_embedding(
        K1, K1, *(np.repeat(A, w.astype(int), axis=0) for A in (MANY, MORE)), 0.1),
    **{f"sklearn: {cls.__name__}": lambda w, cls=cls, y=y: cls(rn.Gaussian(1.0)).fit(MANY, y, sample_weight=w)
       for cls, y in ((estimators.KernelRidge, VALUES), (estimators.StreamingKernelRidge, VALUES),
                      (estimators.KernelSVR, VALUES), (estimators.KernelSVC, SIDES),
                      (estimators.KernelLogistic, SIDES), (estimators.GaussianProcess, VALUES))},
}  # fmt: skip


def answers(fit):
    "The bits of what it says of other points"
    names = (
        "__call__",
        "predict",
        "decision",
        "decision_function",
        "probability",
        "var",
        "cov",
        "transform",
        "transform_x",
        "transform_y",
        "eigenfunctions",
        "weights",
    )
    asked = [getattr(fit, name) for name in names if callable(getattr(fit, name, None))]
    return bits([ask(MORE[:7]) for ask in asked])


@pytest.mark.parametrize("name", WEIGHTED)
def test_what_is_fitted_with_weights_answers_the_same_after_a_pickle(name):
    fit = WEIGHTED[name](TIMES)
    again = pickle.loads(pickle.dumps(fit))
    assert answers(again) == answers(fit) != answers(WEIGHTED[name](TIMES[::-1].copy()))


@pytest.mark.parametrize("weights", [None, TIMES], ids=["without weights", "with weights"])
def test_a_ridge_map_answers_the_same_after_a_pickle(weights):
    solve = systems.ridge_map(K1, MANY, np.dtype(float), 0.1, weights)
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(solve))(VALUES), solve(VALUES))
