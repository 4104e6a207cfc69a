"""Files of former versions, which every later version must read (tests/data/).

python tests/fixtures.py NAME      writes tests/data/NAME.zip with the version that is here: a pickle and a
                                   saved file of each kind of value, and what they answered

An archive is never written again: test_fixtures.py reads all that are there.
"""

import contextlib
import io
import pickle
import sys
import tempfile
import zipfile
from pathlib import Path

import numpy as np

DATA = Path(__file__).with_name("data")
RNG = np.random.default_rng(26)
X = RNG.normal(size=(24, 2))
AT = RNG.normal(size=(5, 2))
TARGETS = X[:, 0] ** 2 + 0.1 * RNG.normal(size=24)
LABELS = np.where(X[:, 0] + X[:, 1] > 0, "up", "down")
WORDS = ["abba", "cab", "abcab", "bac"]


def dense(array):
    "Sparse rows written out; numbers, or text, in one array"
    return np.asarray(array.toarray() if hasattr(array, "toarray") else array)


def estimators():
    "{name: fitted estimator}, small ones"
    import rkhs_notes.apps.estimators as rn

    fitted = {
        "KernelRidge": rn.KernelRidge().fit(X, TARGETS),
        "KernelSVR": rn.KernelSVR().fit(X, TARGETS),
        "GaussianProcess": rn.GaussianProcess().fit(X, TARGETS),
        "KernelSVC": rn.KernelSVC().fit(X, LABELS),
        "KernelLogistic": rn.KernelLogistic().fit(X, LABELS),
        "OneClassKernelSVM": rn.OneClassKernelSVM().fit(X),
        "KernelPCA": rn.KernelPCA(n_components=2).fit(X),
        "KernelCCA": rn.KernelCCA(n_components=1).fit(X, X**2),
        "RandomFeatures": rn.RandomFeatures(n_features=20, random_state=0).fit(X),
        "NystromFeatures": rn.NystromFeatures(n_landmarks=6, random_state=0).fit(X),
        "StreamingKernelRidge": rn.StreamingKernelRidge(n_features=20).fit(X, TARGETS),
        "TwoSampleDrift": rn.TwoSampleDrift(random_state=0).fit(X),
    }
    return fitted


def others():
    "{name: value} of kinds that print what they are"
    import rkhs_notes as rn

    k, phi = rn.Gaussian(0.7), rn.fourier_features(rn.Gaussian(0.7), 2, 20, rng=0)
    stream = rn.StreamingRidge(phi)
    stream.update(X, TARGETS)
    return {
        "a measure": rn.empirical(X),
        "a spectral measure": rn.spectral_measure(k, 2),
        "a loss": rn.huber(1.3),
        "sums of a stream": stream,
        "many points": rn.ridge_large(k, X, TARGETS, 0.1),
        "a conditional law": rn.conditional_embedding(k, k, X, X**2, 0.1),
        "tests together": rn.mmd_test_aggregated([k, rn.Laplace()], X, X + 1, rng=0),
        "two tables": rn.compare_tables(X, X + 1, rng=0),
        "an RKHS": rn.RKHS(k),
        "a double descent": rn.min_norm_fit(phi(X), TARGETS),
    }


def answer(value, kind):
    "What a value says at points that it has not seen"
    if kind == "estimators":
        ask = next(
            filter(None, (getattr(value, name, None) for name in ("predict", "transform", "test")))
        )
        return np.array(repr(ask(AT))) if ask.__name__ == "test" else dense(ask(AT))
    if kind == "others":
        return np.array(repr(value))
    if kind == "kernels":
        return dense(value[0](value[1]))
    return dense(value[0](value[1])) if callable(value[0]) else np.array(repr(value[0]))


def values():
    "{(kind, name): value} of every kind, as the tests of saved files draw them"
    import test_stored

    found = {("kernels", name): pair for name, pair in test_stored.KERNELS.items()}
    found |= {("maps", name): pair for name, pair in test_stored.MAPS.items()}
    for name, make in test_stored.MODELS.items():
        at = test_stored.POINTS[:, 0] if name == "a spline" else test_stored.POINTS
        found["models", name] = (make(test_stored.MODEL_KERNEL), at)
    found |= {("others", name): value for name, value in others().items()}
    return found | {("estimators", name): model for name, model in estimators().items()}


def write(name):
    "The archive of that name"
    from rkhs_notes.engines.data.stored import write_expression

    with zipfile.ZipFile(DATA / f"{name}.zip", "x", zipfile.ZIP_DEFLATED) as archive, \
            tempfile.TemporaryDirectory() as folder:  # fmt: skip
        for (kind, what), value in values().items():
            archive.writestr(f"{kind}/{what}.pickle", pickle.dumps(value, protocol=4))
            answers = io.BytesIO()
            np.save(answers, answer(value, kind), allow_pickle=False)
            archive.writestr(f"{kind}/{what}.npy", answers.getvalue())
            saved, model = (
                Path(folder, "value.rkhs"),
                value[0] if isinstance(value, tuple) else value,
            )
            if kind in ("kernels", "maps") or not hasattr(model, "save"):
                with contextlib.suppress(TypeError):  # what holds a function is no file
                    write_expression(saved, model)
            else:
                model.save(saved)
            if saved.exists():
                archive.write(saved, f"{kind}/{what}.rkhs")
                saved.unlink()


if __name__ == "__main__":
    write(*sys.argv[1:])
