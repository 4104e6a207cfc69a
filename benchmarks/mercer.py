"""Leading eigenpairs of a kernel on 600 to 5000 nodes, against SciPy; eigenvalues are compared first.

Every contender makes the Gram matrix itself, by the same kernel. SciPy's best route is ARPACK on
the matrix that was formed (eigsh). The last race stores no matrix, neither ours nor the peer's.
"""

from functools import partial

import numpy as np
from runner import Race, main, points
from scipy.sparse.linalg import LinearOperator, eigsh

from rkhs_notes import settings
from rkhs_notes.deeper.zoo import Laplace
from rkhs_notes.engines.functions.measures import empirical
from rkhs_notes.engines.solving.gram_operators import GramOperator
from rkhs_notes.engines.solving.mercer_expansions import mercer_expansion
from rkhs_notes.engines.solving.spectra import leading_eigenpairs
from rkhs_notes.kernels import Brownian, Gaussian
from rkhs_notes.rkhs import RKHSFunction

OURS, TERMS = "rkhs_notes", 50


def rows(quick):
    "The races; quick: 800 nodes instead of 5000"
    sizes = (800,) if quick else (5000, 600, 1000, 1500)
    races = [partial(expansion, n, name) for n in sizes for name in KERNELS]
    return [*races, partial(no_matrix, sizes[0])]


KERNELS = {
    "Gaussian, d=10": (Gaussian(10**0.5), partial(points, d=10)),
    "Laplace, d=10": (Laplace(10), partial(points, d=10)),
    "Brownian, d=1": (Brownian(), lambda n: np.random.default_rng(0).uniform(size=n)),
}


def same_spectrum(ours, theirs, tolerance=1e-9):
    "Eigenvalues equal, relative to the largest."
    gap = float(np.abs(ours - theirs).max() / theirs[0])
    assert gap <= tolerance, f"They differ by {gap:.2g} of the largest; {tolerance:.0e} is allowed."


def arpack(A):
    return eigsh(A, k=TERMS)[0][::-1]


def expansion(n, name):
    "A Mercer expansion of 50 terms, Gram matrix included."
    k, make = KERNELS[name]
    X = make(n)
    measure = empirical(X)
    return Race(
        title=f"Mercer, {name}, n={n}, {TERMS} terms",
        contenders={
            OURS: lambda: mercer_expansion(k, measure, TERMS).eigenvalues,
            "scipy eigsh of K": lambda: arpack(k(X)) / n,
        },
        agree=same_spectrum,
        repeats=3 if n > 2000 else 7,
    )


def no_matrix(n):
    "Tiles made anew for each product: what remains when K does not fit."
    k, X = Gaussian(10**0.5), points(n, 10)

    def ours():
        with settings.using(result_mib=1):
            return leading_eigenpairs(GramOperator(k, X), TERMS).values

    def theirs():
        product = lambda v: RKHSFunction(k, X, v.ravel())(X)  # noqa: E731
        return arpack(LinearOperator((n, n), matvec=product, dtype=float))

    return Race(
        title=f"no matrix stored, Gaussian, d=10, n={n}, {TERMS} terms",
        contenders={OURS: ours, "scipy eigsh of tiles": theirs},
        agree=same_spectrum,
        repeats=3,
    )


if __name__ == "__main__":
    main(__file__, rows)
