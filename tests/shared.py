"""Objects that several tests try: two views of one hidden number, kernels of all sizes, kernels of words."""

import numpy as np

from rkhs_notes.deeper.zoo import Delta, Laplace
from rkhs_notes.kernels import Gaussian, Kernel, Linear, Polynomial

rng = np.random.default_rng(0)
n = 120
hidden = rng.normal(size=n)
X = np.c_[hidden + 0.3 * rng.normal(size=n), rng.normal(size=n)]
Y = np.c_[hidden**2 + 0.3 * rng.normal(size=n), rng.normal(size=n), hidden]

KERNELS = [
    Gaussian(1.0),
    Laplace(2.0),
    Polynomial(2),
    Linear() + Delta(),
    Gaussian(1.0).on([0]) + Linear().on(1),
    1e-12 * Gaussian(1.0),
    1e12 * Gaussian(1.0),
]


def H(m):
    "The projection that takes the mean away"
    return np.eye(m) - np.full((m, m), 1 / m)


class Words(Kernel):
    "A kernel of words, whose points are lists of str"

    def _points(self, X, name):
        if isinstance(X, str) or not all(isinstance(word, str) for word in X):
            raise TypeError(f"{name} holds no words; pass a list of str.")
        return list(X)


class Letters(Words):
    "Σ over the letters of both words of the product of their counts"

    def _gram(self, X, Y, xp):
        return xp.asarray(
            [[float(sum(x.count(c) * y.count(c) for c in set(x))) for y in Y] for x in X]
        )


class SharedLetters(Words):
    "How many different letters two words share"

    def _gram(self, X, Y, xp):
        return xp.asarray([[float(len(set(x) & set(y))) for y in Y] for x in X])


class Counted(Gaussian):
    "A Gaussian that counts how often points are validated"

    looks = []

    def _points(self, X, name):
        Counted.looks.append(name)
        return super()._points(X, name)


def counted(call):
    "How often a call looks at points, and how often it runs the function of a kernel on(g)"
    runs = []
    images = Gaussian(1.0).on(lambda X: runs.append(len(X)) or np.sin(X))
    Counted.looks.clear()
    call(Counted(1.0)), call(images)
    return len(Counted.looks), len(runs)
