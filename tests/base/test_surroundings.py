"""Where little is given: no home, no language, warnings as errors, blanks in paths, two at once."""

import os
import platform
import subprocess
import sys
import threading
import time

import pytest

from conftest import ROOT
from release import first_example
from rkhs_notes import settings
from website import alone

HOSTILE = {  # nobody can make a folder below a file, not even root
    **{name: "/dev/null/home" for name in ("HOME", "XDG_CACHE_HOME", "XDG_CONFIG_HOME")},
    **{
        "LC_ALL": "C",
        "LANG": "C",
        "PYTHONUTF8": "0",
        "PYTHONCOERCECLOCALE": "0",
        "PYTHONPATH": str(ROOT),
    },
}


@pytest.mark.skipif(settings.profile != "full", reason="five seconds: in make nightly")
@pytest.mark.skipif(os.name == "nt", reason="homes and languages of POSIX")
def test_the_readmes_example_needs_little(tmp_path):
    folder = tmp_path / "a folder with blanks"
    folder.mkdir()
    code, printed = first_example((ROOT / "README.md").read_text("utf-8"))
    surely = (
        "import os\ntry: os.makedirs(os.path.expanduser('~/x'))\nexcept OSError: print('no home')\n"
    )
    draw = "rn.Gaussian(1.0).plot().figure.savefig('a picture.png')\n"
    environment = {
        "PATH": os.environ["PATH"],
        "OMP_NUM_THREADS": "1",
        "TMPDIR": str(tmp_path),
    } | HOSTILE
    run = subprocess.run([sys.executable, "-W", "error", "-c", surely + code + draw], cwd=folder,
                         env=environment, capture_output=True, text=True)  # fmt: skip
    assert run.returncode == 0, run.stderr[-2000:]
    assert run.stdout.split() == ["no", "home", *printed.split()]
    assert os.listdir(folder) == ["a picture.png"]


@pytest.fixture
def build(monkeypatch, tmp_path):
    "A folder of locks that is nobody else's"
    monkeypatch.setattr(alone, "BUILD", tmp_path)
    return tmp_path


@pytest.mark.skipif(alone.fcntl is None, reason="a system without locks of files")
def test_who_comes_second_waits(build, capsys):
    log = []

    def work(name):
        with alone.alone(name):
            log.append("comes")
            time.sleep(0.05)
            log.append("goes")

    for names in ["site"] * 3, ["site", "export"]:
        log.clear()
        threads = [threading.Thread(target=work, args=(name,)) for name in names]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert log == (["comes", "goes"] * 3 if len(names) == 3 else ["comes"] * 2 + ["goes"] * 2)
    assert capsys.readouterr().out.count("waiting for another site") == 2


def test_commands_end_at_the_first_that_fails(build):
    write, fail = "python -c \"open('{}', 'w')\"", 'python -c "raise SystemExit(3)"'
    commands = [write.format(build / "first"), fail, write.format(build / "second")]
    assert (
        alone.main(*commands) == 3
        and (build / "first").exists()
        and not (build / "second").exists()
    )
    with alone.alone("export"):  # the lock is free again
        pass


PAGES = """
import resource
import numpy as np
from rkhs_notes import Gaussian

taken = lambda: resource.getrusage(resource.RUSAGE_SELF).ru_minflt
k, X = Gaussian(1.0), np.random.default_rng(0).normal(size=(250, 5))
k(X)
before = taken()
for _ in range(20):
    k(X)
print(taken() - before)
"""


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="what glibc's malloc does")
def test_matrices_of_a_few_hundred_rows_use_the_same_pages_again():
    "A matrix has 122 of them, and fetches all anew at each call where nothing was freed before"
    own = {name: v for name, v in os.environ.items() if not name.startswith("MALLOC_")}
    own |= {"PYTHONPATH": str(ROOT), "OMP_NUM_THREADS": "1"}
    run = subprocess.run([sys.executable, "-c", PAGES], env=own, capture_output=True, text=True)
    assert int(run.stdout) < 122, run.stderr
