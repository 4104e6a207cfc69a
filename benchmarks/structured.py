"""Kernels on texts against plain Python: counts of words by dictionaries, subsequences by loops.

Gram matrices must be equal, counts exactly and subsequences to rounding. The third race builds no Gram
matrix: sparse features of words of eight letters, whose memory is the point.
"""

from collections import Counter
from functools import partial

import numpy as np
import scipy.sparse as sp
from runner import FULL, Race, main

from rkhs_notes.deeper.structured import Spectrum, Subsequence

OURS, PYTHON = "rkhs_notes", "plain Python"


def rows(quick):
    """Functions that make one race each.

    Parameters
    ----------
    quick : bool     fewer texts

    Returns
    -------
    list of functions without arguments
    """
    few, fewer, many = (600, 40, 2000) if quick else (5000 if FULL else 2000, 200, 20_000)
    return [partial(spectrum, few), partial(subsequences, fewer), partial(features, many)]


def texts(n, length):
    "Random DNA"
    return ["".join(row) for row in np.random.default_rng(0).choice(list("acgt"), size=(n, length))]


def counted(text, k):
    return Counter(text[i : i + k] for i in range(len(text) - k + 1))


def spectrum(n, length=100, k=5):
    "Gram matrix of all texts; the dictionaries are compared once for each pair i ≤ j."
    X = texts(n, length)

    def python():
        counts, K = [counted(text, k) for text in X], np.zeros((n, n))
        for i, ours in enumerate(counts):
            items = list(ours.items())
            for j in range(i, n):
                theirs = counts[j]
                K[i, j] = K[j, i] = sum([c * theirs[word] for word, c in items if word in theirs])
        return K

    return Race(
        f"spectrum n={n} length={length} k={k}",
        {OURS: lambda: Spectrum(k)(X), PYTHON: python},
        np.testing.assert_array_equal,
        repeats=3,
        once=(PYTHON,) if n > 1000 else (),
    )


def textbook(s, t, p, decay):
    "K'' and K' of Lodhi and others (2002), one symbol at a time"
    before = [[1.0] * (len(t) + 1) for _ in range(len(s) + 1)]
    for _ in range(p - 1):
        now = [[0.0] * (len(t) + 1) for _ in range(len(s) + 1)]
        for a, x in enumerate(s, start=1):
            running = 0.0
            for b, y in enumerate(t, start=1):
                running = decay * (running + decay * before[a - 1][b - 1] if x == y else running)
                now[a][b] = decay * now[a - 1][b] + running
        before = now
    return decay**2 * sum(before[a][b] for a, x in enumerate(s) for b, y in enumerate(t) if x == y)


def subsequences(n, length=60, p=3, decay=0.5):
    "Gram matrix of all texts; the textbook's recursion once for each pair i ≤ j."
    X = texts(n, length)

    def python():
        K = np.zeros((n, n))
        for i in range(n):
            for j in range(i, n):
                K[i, j] = K[j, i] = textbook(X[i], X[j], p, decay)
        return K

    return Race(
        f"subsequences n={n} length={length} p={p}",
        {OURS: lambda: Subsequence(p, decay)(X), PYTHON: python},
        partial(np.testing.assert_allclose, rtol=1e-11),
        repeats=3,
        once=(PYTHON,) if n > 100 else (),
    )


def features(n, length=100, k=8):
    "Sparse counts of all words; the columns of both are in alphabetical order."
    X = texts(n, length)

    def python():
        counts = [counted(text, k) for text in X]
        column = {word: j for j, word in enumerate(sorted({word for c in counts for word in c}))}
        entries = [(i, column[word], m) for i, c in enumerate(counts) for word, m in c.items()]
        i, j, m = zip(*entries, strict=True)
        return sp.csr_matrix((np.array(m, float), (i, j)), shape=(n, len(column)))

    def ours():
        return Spectrum(k).feature_map(X)(X)

    def agree(mine, theirs):
        assert mine.shape == theirs.shape and not (mine != theirs).nnz, "other counts"

    title = f"sparse features n={n} length={length} k={k}"
    return Race(title, {OURS: ours, PYTHON: python}, agree, repeats=3)


if __name__ == "__main__":
    main(__file__, rows)
