"""Arrays on a card: the same lines on tensors of PyTorch there and on arrays of NumPy here, and its peers.

Skipped where PyTorch sees no CUDA device; DEVICE=cpu races on the processor. GPyTorch and KeOps take part
where they install. ridge_large, streams and permutation tests compute on the processor whatever they are
given, so no race of them is here. Memory is that of the host.
"""

import os
from functools import partial
from importlib.util import find_spec

import numpy as np
from runner import Race, main, points

from rkhs_notes.engines.features.spectral import fourier_features
from rkhs_notes.engines.solving.ridge_fits import ridge
from rkhs_notes.engines.testing.discrepancies import mmd2_v
from rkhs_notes.kernels import Gaussian

DEVICE = os.environ.get("DEVICE", "cuda")
SKIPPED = "" if find_spec("torch") else "skipped: PyTorch is missing"
if not SKIPPED:
    import torch

    if DEVICE == "cuda" and not torch.cuda.is_available():
        SKIPPED = "skipped: PyTorch sees no CUDA device"
D, WIDTH = 10, 3.0
k = Gaussian(WIDTH)


def rows(quick):
    "The races; quick: 500 points"
    jobs = [(gram, 10_000), (gram, 30_000), (mmd, 10_000), (mmd, 100_000)]
    jobs += [(fit, 10_000), (fit, 20_000), (waves, 100_000), (waves, 1_000_000)]
    return [partial(race, job, 500 if quick else n) for job, n in jobs]


def race(job, n):
    "Of one job: its name, our line, and those of others"
    card = torch.cuda.get_device_name() if DEVICE == "cuda" else DEVICE
    name, ours, others = job()
    here = points(n, D)
    there = torch.tensor(here, device=DEVICE)

    def on_card(work):
        def done():
            result = work(there)
            if DEVICE == "cuda":
                torch.cuda.synchronize()
            return result

        return done

    def agree(ours, theirs):
        a, b = (np.atleast_1d(A.cpu() if torch.is_tensor(A) else A)[:1000] for A in (ours, theirs))
        np.testing.assert_allclose(a, b, rtol=1e-6, atol=1e-8)

    contenders = {"rkhs_notes, tensors": on_card(ours), "rkhs_notes, NumPy": lambda: ours(here)}
    contenders |= {who: on_card(work) for who, work in others.items()}
    return Race(f"{name}, n={n} d={D}, {card}", contenders, agree, repeats=5)


def gaussian(X, Y):
    return torch.exp(torch.cdist(X, Y) ** 2 / (-2 * WIDTH**2))


def gram():
    others = {"torch by hand": lambda X: gaussian(X, X)}
    if find_spec("gpytorch"):
        from gpytorch.kernels import RBFKernel

        theirs = RBFKernel().to(DEVICE, torch.float64)
        theirs.lengthscale = WIDTH
        others["GPyTorch"] = torch.no_grad()(lambda X: theirs(X).to_dense())
    return "Gaussian k(X)", k, others


def two(X):
    return X[::2], X[1::2] + 0.1


def mmd():
    "Of each second point, and the others moved; no matrix is asked for"
    if find_spec("pykeops"):
        from pykeops.torch import LazyTensor

        def mean(X, Y):
            squares = ((LazyTensor(X[:, None]) - LazyTensor(Y[None])) ** 2).sum(-1)
            return (squares / (-2 * WIDTH**2)).exp().sum(1).sum() / (len(X) * len(Y))

        who = "KeOps"
    else:
        who, mean = "torch by hand", lambda X, Y: gaussian(X, Y).mean()

    def theirs(X):
        A, B = (Z.contiguous() for Z in two(X))
        return mean(A, A) + mean(B, B) - 2 * mean(A, B)

    return "squared MMD", lambda X: mmd2_v(k, *two(X)), {who: theirs}


def fit():
    def by_hand(X):
        K = gaussian(X, X)
        K.diagonal().add_(0.1)
        return torch.cholesky_solve(X[:, :1].sin(), torch.linalg.cholesky(K))[:, 0]

    def ours(X):
        return ridge(k, X, (torch if torch.is_tensor(X) else np).sin(X[:, 0]), 0.1).alpha

    return "ridge", ours, {"torch by hand": by_hand}


def waves():
    phi = fourier_features(k, D, 200, 0)
    W = torch.tensor(phi.frequencies.T, device=DEVICE)

    def by_hand(X):
        angles = X @ W
        return torch.cat([angles.cos(), angles.sin()], dim=1) / 10

    return "200 Fourier features", phi, {"torch by hand": by_hand}


if __name__ == "__main__":
    if SKIPPED:
        print(SKIPPED)
    else:
        main(__file__, rows)
