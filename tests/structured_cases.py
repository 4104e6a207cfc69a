"""Kernels whose points are no arrays, each with a way to draw points: what every solver is tried on.

A case is (kernel, draw): draw(rng, n) gives n points. Another module of kernels adds its own lines.
"""

import numpy as np

from rkhs_notes import Constant, Gaussian, Linear, Tensor
from rkhs_notes.deeper.graphs import Graph, RandomWalk, ShortestPath, Subtree, WeisfeilerLehman
from rkhs_notes.deeper.structured import (
    Blended,
    Fisher,
    GaussianMixture,
    MarkovChain,
    Mismatch,
    SetKernel,
    Spectrum,
    Subsequence,
)


def texts(rng, n, low=3, high=12, letters="acgt"):
    "Texts of several lengths over a few letters; some repeat letters, none is like another"
    found = []
    while len(found) < n:
        text = "".join(rng.choice(list(letters), rng.integers(low, high)))
        found += [text] if text not in found else []
    return found


def symbols(rng, n):
    "Tuples of symbols that are no letters"
    return [tuple(ord(a) for a in text) for text in texts(rng, n)]


def octets(rng, n):
    return [text.encode() for text in texts(rng, n)]


def bags(rng, n):
    "Bags of one to four points of the plane"
    return [rng.normal(size=(rng.integers(1, 5), 2)) for _ in range(n)]


def bags_of_texts(rng, n):
    return [texts(rng, int(rng.integers(1, 4))) for _ in range(n)]


def texts_and_numbers(rng, n):
    "Pairs (text, number)"
    return list(zip(texts(rng, n), rng.normal(size=n).tolist(), strict=True))


def graphs(rng, n):
    "Rings with branches, of several sizes and three labels; some fall into parts"
    found = []
    for _ in range(n):
        size = int(rng.integers(5, 11))
        edges = {(0, 4)} | {(i, i + 1) for i in range(4)}
        edges |= {(int(rng.integers(v)), v) for v in range(6, size)}
        found.append(Graph(sorted(edges), rng.choice(list("CNO"), size)))
    return found


def trees(rng, n):
    "Trees of two or three productions at the root, with repeated children"

    def grown(depth):
        if depth == 0 or rng.random() < 0.2:
            return str(rng.choice(list("xyz")))
        return (str(rng.choice(list("AB"))), *(grown(depth - 1) for _ in range(rng.integers(1, 4))))

    return [("S", ("A", grown(1), grown(1)), grown(2)) for _ in range(n)]


def graphs_and_numbers(rng, n):
    return list(zip(graphs(rng, n), rng.normal(size=n).tolist(), strict=True))


CHAIN = MarkovChain("acgt", np.full((4, 4), 0.25))
MIXTURE = GaussianMixture([1.0, 2.0], [[0.0, 0.0], [1.0, 2.0]], [1.0, 0.5])

CASES = {
    "spectrum": (Spectrum(2), texts),
    "spectrum of bytes": (Spectrum(1), octets),
    "spectrum of tuples": (Spectrum(2), symbols),
    "blended": (Blended(3), texts),
    "mismatch": (Mismatch(3, 1), texts),
    "subsequence": (Subsequence(2, 0.6), texts),
    "sum": (Spectrum(3).normalized() + 2 * Spectrum(1), texts),
    "product and power": (Spectrum(1) * Subsequence(2, 0.5) + Blended(2) ** 2, texts),
    "constant and cosine": (Constant(1) + Blended(2).normalized(), texts),
    "gaussian of": (Spectrum(2).gaussian_of(3.0), texts),
    "text and number": (Tensor(Spectrum(2) + Constant(1), Gaussian(1.0)), texts_and_numbers),
    "set": (SetKernel(Gaussian(1.0)), bags),
    "set of texts": (SetKernel(Spectrum(2)), bags_of_texts),
    "gaussian of set": (SetKernel(Gaussian(1.0)).gaussian_of(0.7), bags),
    "fisher, chain": (Fisher(CHAIN), texts),
    "fisher, mixture": (Fisher(MIXTURE) + Linear(), lambda rng, n: rng.normal(size=(n, 2))),
    "colours": (WeisfeilerLehman(2), graphs),
    "shortest paths": (ShortestPath(), graphs),
    "walks": (RandomWalk(0.03), graphs),
    "fragments": (Subtree(0.4), trees),
    "colours and paths": (
        WeisfeilerLehman(1).normalized() + 2 * ShortestPath() * RandomWalk(0.01),
        graphs,
    ),
    "graph and number": (
        Tensor(WeisfeilerLehman(1) + Constant(1), Gaussian(1.0)),
        graphs_and_numbers,
    ),
    "gaussian of fragments": (Subtree(0.3).normalized().gaussian_of(0.7), trees),
}
