"""Kernel PCA of 5000 points, 50 components, against scikit-learn; eigenvalues are compared first.

Every contender makes the Gram matrix, finds the components, and gives the coordinates of the sample
and of 500 new points. The eigenvalues of all are compared with ARPACK on the matrix that was formed
and centred. scikit-learn's randomised solver is asked for no accuracy and reaches little where the
spectrum is flat; "arpack" is its exact one.
"""

from functools import partial

import numpy as np
from runner import Race, main, points
from scipy.sparse.linalg import eigsh
from sklearn.datasets import load_digits
from sklearn.decomposition import KernelPCA

from rkhs_notes.kernels import Gaussian
from rkhs_notes.kpca import center, kernel_pca

OURS, TERMS = "rkhs_notes", 50


def rows(quick):
    "The races; quick: 800 points instead of 5000"
    n = 800 if quick else 5000
    return [partial(components, n, name) for name in DATA]


def digits(n):
    "Handwritten digits, with a little noise where there are fewer than n"
    X, rng = load_digits().data / 16, np.random.default_rng(0)
    return X[np.arange(n) % len(X)] + 0.1 * rng.standard_normal((n, 64))


DATA = {
    "Gaussian cloud, d=10": (partial(points, d=10), 10**0.5),
    "noisy digits, d=64": (digits, 3.0),
}


def components(n, name):
    "Components, coordinates of the sample and of new points."
    make, bandwidth = DATA[name]
    X, k = make(n), Gaussian(bandwidth)
    new = X[:500] + 0.01
    peer = dict(n_components=TERMS, kernel="rbf", gamma=0.5 / bandwidth**2, random_state=0)
    exact = eigsh(center(k(X)), k=TERMS, which="LA")[0][::-1]

    def ours():
        pca = kernel_pca(k, X, TERMS)
        return pca.eigenvalues, pca.scores, pca.transform(new)

    def theirs(solver):
        pca = KernelPCA(eigen_solver=solver, **peer)
        scores = pca.fit_transform(X)
        return pca.eigenvalues_, scores, pca.transform(new)

    def agree(ours, theirs):
        gap = np.abs(ours[0] - exact).max() / exact[0]
        assert gap <= 1e-9, (
            f"Ours differ from ARPACK's by {gap:.1e} of the largest; 1e-09 is allowed."
        )
        gap = np.abs(ours[0] - theirs[0])[:10].max() / exact[0]
        assert gap <= 1e-6, f"The first ten differ by {gap:.1e} of the largest; 1e-06 is allowed."
        gap = np.abs(np.abs(ours[2]) - np.abs(theirs[2]))[:, 0].max() / np.abs(ours[2][:, 0]).max()
        assert gap <= 1e-3, (
            f"The first coordinates of new points differ by {gap:.1e}; 1e-03 is allowed."
        )

    return Race(
        title=f"kernel PCA, {name}, n={n}, {TERMS} components",
        contenders={
            OURS: ours,
            "sklearn randomized": partial(theirs, "randomized"),
            "sklearn arpack": partial(theirs, "arpack"),
        },
        agree=agree,
        error=lambda result: float(np.abs(result[0] - exact).max() / exact[0]),
        repeats=3,
    )


if __name__ == "__main__":
    main(__file__, rows)
