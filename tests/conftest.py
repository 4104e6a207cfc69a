"""What the tests share: marks, small notebooks to try a check on."""

import os
import signal
import sys
import zlib
from contextlib import contextmanager
from importlib.metadata import version
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PATHS = [str(path) for path in (ROOT, ROOT / "tests", *sorted((ROOT / "tests").glob("[a-z]*/")))]
sys.path[:0] = PATHS  # tests use one another's helpers
os.environ.setdefault("OMP_NUM_THREADS", "1")  # before NumPy: two workers share the cores
os.environ.setdefault("MPLBACKEND", "Agg")

import website  # noqa: E402, F401, I001  before nbformat, see there
import nbformat  # noqa: E402
import numpy as np  # noqa: E402
import pytest  # noqa: E402
from hypothesis import settings as hypothesis_settings  # noqa: E402

from website.notebooks import all_pages  # noqa: E402
from website.second_routes import refusal  # noqa: E402

hypothesis_settings.register_profile("notes", deadline=None, max_examples=30, derandomize=True)
hypothesis_settings.register_profile("explore", deadline=None, max_examples=300)

NOTEBOOKS = all_pages()
SITE = ROOT / "_site"
each_notebook = pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)


def _site_of_now():
    "Is there a built site, younger than every notebook?"
    front = SITE / "index.html"
    youngest = max(path.stat().st_mtime for path in NOTEBOOKS)
    return front.exists() and front.stat().st_mtime >= youngest


built = pytest.mark.skipif(not _site_of_now(), reason="make notes builds the site of these pages")


def since(library, least, why):
    "A mark: the test needs this version of a library, '1.7', or a later one"
    have, wanted = ([int(part) for part in v.split(".")[:2]] for v in (version(library), least))
    return pytest.mark.skipif(have < wanted, reason=f"{library} {least}: {why}")


def pytest_addoption(parser):
    help_ = "draw other arguments for every contract and other examples for hypothesis, ten times as many"
    parser.addoption("--explore", type=int, metavar="SEED", help=help_)


def pytest_configure(config):
    explore = config.getoption("--explore") is not None
    hypothesis_settings.load_profile("explore" if explore else "notes")


def pytest_pycollect_makeitem(name, obj):
    "A test whose mark of a second route says nothing is not collected"
    for mark in getattr(obj, "pytestmark", ()) if name.startswith("test_") else ():
        if mark.name == "second_route" and (wrong := refusal(mark.args)):
            raise pytest.Collector.CollectError(f"{name}: {wrong}")


@pytest.fixture
def rounds(request):
    "(generator, how many draws) of a fuzz: the same few in `make test`, many new ones in `make nightly`"
    seed = request.config.getoption("--explore")
    return (np.random.default_rng(3), 8) if seed is None else (np.random.default_rng(seed), 80)


@pytest.fixture(autouse=True)
def own_draws(request):
    "A module's `rng` begins anew with each test: what it draws does not hang on the tests before"
    module = getattr(request, "module", None)
    if isinstance(getattr(module, "rng", None), np.random.Generator):
        module.rng = np.random.default_rng(zlib.crc32(request.node.name.encode()))


def refuse(problems):
    "Fails with one line a problem, if there are any"
    if problems:
        pytest.fail("\n".join(map(str, problems)), pytrace=False)


@pytest.fixture
def full_disk():
    "`with full_disk(n)`: no file grows beyond n bytes. Skips where the system has no such limit"
    resource = pytest.importorskip("resource")

    @contextmanager
    def limited(most):
        soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
        handler = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (most, hard))
        try:
            yield
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
            signal.signal(signal.SIGXFSZ, handler)

    return limited


@pytest.fixture
def write_notebook(tmp_path):
    "write_notebook('03_x.ipynb', '# text', 'code:x = 1', ...) -> path; cells that begin with code: are code"

    def write(name, *cells):
        make = nbformat.v4
        nb = make.new_notebook(
            cells=[
                make.new_code_cell(o.removeprefix("code:"))
                if o.startswith("code:")
                else make.new_markdown_cell(o)
                for o in cells
            ]
        )
        nbformat.write(nb, tmp_path / name)
        return tmp_path / name

    return write
