"""Gaussian process hyper-parameters by the gradient of the evidence, from equal starts to one optimum."""

from functools import partial

import numpy as np
from ridge import data
from runner import Race, main
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process.kernels import RBF, ConstantKernel, WhiteKernel

from rkhs_notes.deeper.zoo import Mahalanobis
from rkhs_notes.engines.solving.evidence import fit_hyperparameters
from rkhs_notes.kernels import Gaussian

OURS, PEER = "rkhs_notes", "sklearn GaussianProcessRegressor"


def rows(quick):
    "The races; quick: 150 points instead of 1000"
    n = 150 if quick else 1000
    return [partial(evidence, n, 4, one) for one in (True, False)]


def evidence(n, d, one_bandwidth):
    "Scale, noise, and one bandwidth or one for each coordinate."
    X, y = data(n, d, 1)
    start = 1.0 if one_bandwidth else np.ones(d)
    k = 1.0 * (Gaussian(start) if one_bandwidth else Mahalanobis(start))

    def peer():
        kernel = ConstantKernel(1.0, (1e-6, 1e6)) * RBF(start, (1e-6, 1e6)) + WhiteKernel(
            0.1, (1e-7, 1e5)
        )
        return GaussianProcessRegressor(kernel, alpha=0.0, random_state=0).fit(X, y)

    def agree(ours, theirs):
        other = float(theirs.log_marginal_likelihood_value_)
        assert abs(ours[2] - other) <= 1e-4, (
            f"log p(y) is {ours[2]:.6f} here and {other:.6f} there."
        )

    return Race(
        title=f"hyper-parameters, n={n}, d={d}, {2 + (1 if one_bandwidth else d)} of them",
        contenders={OURS: lambda: fit_hyperparameters(k, X, y, noise=0.1), PEER: peer},
        agree=agree,
        repeats=3,
    )


if __name__ == "__main__":
    main(__file__, rows)
