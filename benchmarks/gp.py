"""Gaussian process hyper-parameters by the gradient of the evidence, from equal starts to one optimum."""

import sys
from functools import partial

import numpy as np
from ridge import data
from runner import Race, main
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process.kernels import RBF, ConstantKernel, WhiteKernel

from rkhs_notes.engines.solving.evidence import fit_hyperparameters
from rkhs_notes.kernels import Gaussian

try:
    import gpflash
except ImportError:
    gpflash = None
    print("not installed, left out: gpflash", file=sys.stderr)

OURS, PEER, COMPILED = "rkhs_notes", "sklearn GaussianProcessRegressor", "gpflash"


def rows(quick):
    "The races; quick: 150 points instead of 200 to 1000"
    sizes = (150,) if quick else (200, 500, 1000)
    return [partial(evidence, n, 4, one) for n in sizes for one in (True, False)]


def evidence(n, d, one_bandwidth):
    "Scale, noise, and one bandwidth or one for each coordinate."
    X, y = data(n, d, 1)
    start = 1.0 if one_bandwidth else np.ones(d)

    def peer():
        kernel = ConstantKernel(1.0, (1e-6, 1e6)) * RBF(start, (1e-6, 1e6)) + WhiteKernel(
            0.1, (1e-7, 1e5)
        )
        fit = GaussianProcessRegressor(kernel, alpha=0.0, random_state=0).fit(X, y)
        return float(fit.log_marginal_likelihood_value_)

    def agree(ours, theirs):
        assert abs(ours - theirs) <= 1e-4, f"log p(y) is {ours:.6f} here and {theirs:.6f} there."

    peers = {PEER: peer}
    if gpflash and not one_bandwidth:  # it has a length a column
        peers[COMPILED] = partial(compiled, X, y)
    k = 1.0 * Gaussian(start)
    return Race(
        title=f"hyper-parameters, n={n}, d={d}, {2 + (1 if one_bandwidth else d)} of them",
        contenders={OURS: lambda: fit_hyperparameters(k, X, y, noise=0.1)[2]} | peers,
        agree=agree,
        repeats=5,
    )


def compiled(X, y):
    "The same model: no mean, the noise estimated; one start, as ours"
    options = gpflash.OptzOptions()
    model = options.model_options
    model.kernel_id, model.has_mean_model_constant = gpflash.KernelId.SqExp, False
    options.model_options, options.hp_sig2_f_val_init = model, 0.1
    fit = gpflash.GaussianProcess(options)
    fit.fit(X, y, sig2_f_val=-1.0)
    return float(fit.mll())


if __name__ == "__main__":
    main(__file__, rows)
