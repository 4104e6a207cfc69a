"""Random binning against dictionaries: the grids are the same, so the cells must be too.

Both number the cells of every grid and give the column of each point in each grid. The dictionaries get the
numbers of the bins from NumPy. Ours counts drawing, learning the cells and mapping the same points, and
builds the sparse matrix on top.
"""

from functools import partial

import numpy as np
from runner import Race, main, points

from rkhs_notes.deeper.zoo import Laplace
from rkhs_notes.engines.features.bins import binning_features

OURS, PEER = "rkhs_notes", "dictionaries, bins by NumPy"


def rows(quick):
    "The races; quick: 2000 points instead of 20 000"
    n, P = (2000, 10) if quick else (20_000, 30)
    return [partial(race, n, d, P) for d in (3, 10, 54)]


def race(n, d, P):
    "Points from a normal law, and a Laplace kernel as wide as their typical distance."
    X = points(n, d)
    k = Laplace(bandwidth=float(d))
    phi = binning_features(k, X, P, 0)
    grids = [(cells.inverse, cells.shift) for cells in phi.function.tables]
    corner = X.min(axis=0)

    def theirs():
        columns, used, Y = [], 0, X - corner
        for inverse, shift in grids:
            table, column = {}, []
            for key in map(tuple, np.floor(Y * inverse + shift).astype(np.int64).tolist()):
                column.append(used + table.setdefault(key, len(table)))
            columns.append(column)
            used += len(table)
        return np.array(columns).T, used

    def ours():
        F = binning_features(k, X, P, 0)(X)
        return F.indices.reshape(n, P), F.shape[1]

    def agree(mine, theirs):
        (A, used), (B, others) = mine, theirs
        assert used == others, f"{used} cells against {others}"
        for a, b in zip(
            A.T.astype(np.int64), B.T, strict=True
        ):  # the same partition under other names
            pairs = np.unique(a * others + b)
            assert len(pairs) == len(np.unique(a)) == len(np.unique(b)), "two partitions differ"

    return Race(
        f"binning n={n} d={d} P={P}",
        {OURS: ours, PEER: theirs},
        agree,
        repeats=3,
    )


if __name__ == "__main__":
    main(__file__, rows)
