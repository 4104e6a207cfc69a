"""Ridge on 2000 centres at n = 1 000 000, against Falkon's algorithm in NumPy: a quarter of an hour.

The 15 GiB of features that scikit-learn's Nystroem would keep leave no room for Ridge.
"""

from functools import partial

from runner import main
from scale import FALKON, on_centres


def rows(quick):
    "The race; quick: 5000 points and 100 centres"
    sizes = (5000, 100) if quick else (1_000_000, 2000)
    return [partial(on_centres, *sizes, peers=(FALKON,), repeats=1)]


if __name__ == "__main__":
    main(__file__, rows)
