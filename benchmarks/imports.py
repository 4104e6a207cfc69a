"""What it takes to begin: a new interpreter that imports the package and reaches for ridge.

Each turn is a process of its own. The limit imports what ours cannot do without, NumPy and SciPy's parts.
"""

import subprocess
import sys

from runner import Race, main

LIMIT = "NumPy and SciPy"
LINES = {
    "rkhs_notes": "import rkhs_notes as rn; print(rn.ridge.__name__[:0])",
    "sklearn KernelRidge": "from sklearn.kernel_ridge import KernelRidge; print(KernelRidge.__name__[:0])",
    LIMIT: "import numpy, scipy.linalg, scipy.special, scipy.sparse.linalg, scipy.optimize",
}


def started(line):
    "Exit status and what was printed"
    done = subprocess.run([sys.executable, "-c", line], capture_output=True, text=True)
    return done.returncode, done.stdout, done.stderr[-300:]


def agree(ours, theirs):
    assert ours == theirs == (0, "\n", ""), f"{ours} against {theirs}"


def rows(quick):
    "The race"

    def make():
        return Race(
            "import and reach for ridge",
            {name: lambda line=line: started(line) for name, line in LINES.items()},
            agree,
            limit=LIMIT,
            repeats=11,
        )

    return [make]


if __name__ == "__main__":
    main(__file__, rows)
