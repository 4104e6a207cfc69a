"""What former versions wrote is read by this one, and answers as it did."""

import io
import pickle
import re
import zipfile

import numpy as np
import pytest

import rkhs_notes as rn
from fixtures import DATA, answer
from rkhs_notes.engines.data.stored import read_expression

ENTRIES = [
    pytest.param(
        archive, entry.removesuffix(".npy"), id=f"{archive.stem}-{entry.removesuffix('.npy')}"
    )
    for archive in sorted(DATA.glob("*.zip"))
    for entry in sorted(zipfile.ZipFile(archive).namelist())
    if entry.endswith(".npy")
]


def same(found, wanted):
    "Equal text, or numbers to a few last digits: another BLAS may add in another order"
    if wanted.dtype.kind in "fc":
        scale = np.abs(wanted).max(initial=0)
        return found.shape == wanted.shape and np.abs(found - wanted).max(initial=0) <= 1e-9 * scale
    return np.array_equal(found, wanted)


def drawn_alike(found, wanted):
    "The same words around numbers within the error of some hundred draws: relabellings are drawn anew"
    number = re.compile(r"\d+(?:\.\d+)?")
    texts = str(found), str(wanted)
    values = [np.array(number.findall(text), float) for text in texts]
    words = {number.sub("#", text) for text in texts}
    return len(words) == 1 and np.allclose(*values, rtol=0.1, atol=0.1)


DRAWN = {"estimators/TwoSampleDrift": drawn_alike}  # where the answer is a draw, not a number


def read(path, like):
    "A saved file, by the reader of its kind"
    if isinstance(like, rn.StreamingRidge):
        return rn.StreamingRidge.load(path)
    return rn.load_model(path) if hasattr(like, "save") else read_expression(path)


@pytest.mark.filterwarnings("ignore::DeprecationWarning")  # modules have moved since
@pytest.mark.parametrize("archive, entry", ENTRIES)
def test_what_a_former_version_wrote_answers_as_it_did(archive, entry, tmp_path):
    kind, alike = entry.partition("/")[0], DRAWN.get(entry, same)
    with zipfile.ZipFile(archive) as files:
        wanted = np.load(io.BytesIO(files.read(f"{entry}.npy")), allow_pickle=False)
        value = pickle.loads(files.read(f"{entry}.pickle"))
        saved = f"{entry}.rkhs" in files.namelist() and files.extract(f"{entry}.rkhs", tmp_path)
    assert alike(answer(value, kind), wanted)
    if saved:
        model = value[0] if isinstance(value, tuple) else value
        again = read(saved, model)
        assert alike(answer((again, value[1]) if isinstance(value, tuple) else again, kind), wanted)


def test_there_are_files_of_each_kind():
    kinds = {param.values[1].partition("/")[0] for param in ENTRIES}
    assert kinds == {"kernels", "maps", "models", "estimators", "others"} and len(ENTRIES) > 60
