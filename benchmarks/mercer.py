"""Leading eigenpairs of a kernel on 600 to 5000 nodes, against SciPy; eigenvalues are compared first.

Every contender makes the Gram matrix itself, by the same kernel. SciPy's best route is ARPACK on
the matrix that was formed (eigsh); LAPACK for part of the spectrum (eigh) is shown at fewer nodes,
where it ends. The last race stores no matrix, neither ours nor the peer's.
"""

from functools import partial

import numpy as np
import scipy.linalg
from runner import Race, main
from scipy.sparse.linalg import LinearOperator, eigsh
from sklearn.decomposition import KernelPCA

from rkhs_notes import settings
from rkhs_notes.deeper.zoo import Laplace
from rkhs_notes.engines.solving.gram_operators import GramOperator
from rkhs_notes.engines.solving.spectra import leading_eigenpairs
from rkhs_notes.hilbert import empirical
from rkhs_notes.kernels import Brownian, Gaussian
from rkhs_notes.mercer import mercer_expansion
from rkhs_notes.rkhs import RKHSFunction

OURS, TERMS = "rkhs_notes", 50


def rows(quick):
    "The races; quick: 800 nodes instead of 5000"
    n = 800 if quick else 5000
    few = [] if quick else [partial(expansion, m, name) for m in (600, 1000, 1500) for name in KERNELS]
    return [partial(expansion, n, name) for name in KERNELS] + few + [
        partial(lapack, min(n, 2000)),
        partial(no_matrix, n),
        partial(centred, n),
    ]


def cloud(n):
    return np.random.default_rng(0).standard_normal((n, 10))


KERNELS = {
    "Gaussian, d=10": (Gaussian(10**0.5), cloud),
    "Laplace, d=10": (Laplace(10), cloud),
    "Brownian, d=1": (Brownian(), lambda n: np.random.default_rng(0).uniform(size=n)),
}


def same_spectrum(tolerance=1e-9):
    "agree(ours, theirs): eigenvalues equal, relative to the largest."

    def agree(ours, theirs):
        gap = float(np.abs(ours - theirs).max() / theirs[0])
        assert gap <= tolerance, f"They differ by {gap:.2g} of the largest; {tolerance:.0e} is allowed."

    return agree


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
        agree=same_spectrum(),
        repeats=3 if n > 2000 else 7,
    )


def lapack(n):
    "The same against LAPACK, which finds part of a spectrum after reducing all of the matrix."
    k, X = Gaussian(10**0.5), cloud(n)
    return Race(
        title=f"Mercer, Gaussian, d=10, n={n}, {TERMS} terms, LAPACK",
        contenders={
            OURS: lambda: mercer_expansion(k, empirical(X), TERMS).eigenvalues,
            "scipy eigh, subset": lambda: scipy.linalg.eigh(k(X) / n, subset_by_index=[n - TERMS, n - 1])[0][
                ::-1
            ],
        },
        agree=same_spectrum(),
        repeats=3,
    )


def no_matrix(n):
    "Tiles made anew for each product: what remains when K does not fit."
    k, X = Gaussian(10**0.5), cloud(n)

    def ours():
        with settings.using(result_mib=1):
            return leading_eigenpairs(GramOperator(k, X), TERMS).values

    def theirs():
        product = lambda v: RKHSFunction(k, X, v.ravel())(X)  # noqa: E731
        return arpack(LinearOperator((n, n), matvec=product, dtype=float))

    return Race(
        title=f"no matrix stored, Gaussian, d=10, n={n}, {TERMS} terms",
        contenders={OURS: ours, "scipy eigsh of tiles": theirs},
        agree=same_spectrum(),
        repeats=3,
    )


def centred(n):
    "The operator of kernel PCA, H K H; the peer's randomised solver is good to 1e-6 of the largest."
    k, X = Gaussian(10**0.5), cloud(n)
    peer = KernelPCA(TERMS, kernel="rbf", gamma=0.05, eigen_solver="randomized", random_state=0)

    def agree(ours, theirs):
        gap = float(np.abs(ours - theirs)[:10].max() / theirs[0])
        assert gap <= 1e-6, f"The first ten differ by {gap:.2g} of the largest; 1e-06 is allowed."

    return Race(
        title=f"centred, Gaussian, d=10, n={n}, {TERMS} components",
        contenders={
            OURS: lambda: leading_eigenpairs(GramOperator(k, X, centred=True), TERMS).values,
            "sklearn KernelPCA": lambda: peer.fit(X).eigenvalues_,
        },
        agree=agree,
    )


if __name__ == "__main__":
    main(__file__, rows)
