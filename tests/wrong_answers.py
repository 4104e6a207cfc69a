"""A hundred wrong answers as students hand them in, over the exercises of all chapters.

`WRONG` holds (exercise, what went wrong, the function). The list was written before `check` learned
any diagnosis beside each exercise's own, and holds none that an exercise's key named then;
`python tests/wrong_answers.py` prints by chapter how many get a verdict that names something.
"""

import math
from collections import Counter

import numpy as np

from rkhs_notes.apps.exercises import check, exercise_table


def of(number, change):
    "A slip at the end of a right answer: change(answer, *inputs)"
    return lambda *inputs: change(exercise_table(number)["answer"](*inputs), *inputs)


def no_return(*inputs):
    "Computed, printed perhaps, and not returned"


def two_passes(K, y):
    alpha = np.zeros(len(y))
    for j in [*range(len(y)), *range(len(y))]:
        if y[j] * (alpha @ K[:, j]) <= 0:
            alpha[j] += y[j]
    return alpha


def without_diagonal(K):
    "Cosines with zeros on the diagonal"
    d = np.sqrt(K.diagonal())
    return K / np.outer(d, d) - np.eye(len(K))


def smoothed(K, lam):
    return np.linalg.solve(K + lam * np.eye(len(K)), K)


WRONG = [
    # Hilbert spaces
    ("00.1", "the angle, in degrees", of("00.1", lambda c, *_: math.degrees(math.acos(c)))),
    ("00.1", "absolute value of the cosine", of("00.1", lambda c, *_: abs(c))),
    ("00.1", "the cosine distance, 1 − cos", of("00.1", lambda c, *_: 1 - c)),
    (
        "00.2",
        "weights squared with the differences",
        lambda w, f, g: np.sqrt(np.sum((w * (f - g)) ** 2)),
    ),
    (
        "00.2",
        "weighted average instead of sum",
        lambda w, f, g: np.sqrt(np.average((f - g) ** 2, weights=w)),
    ),
    (
        "00.2",
        "in single precision",
        lambda w, f, g: np.sqrt(np.sum(np.float32(w) * np.float32(f - g) ** 2)),
    ),
    ("00.3", "as a column", of("00.3", lambda p, *_: p[:, None])),
    (
        "00.3",
        "least squares with rows for columns",
        lambda B, v: B.T @ np.linalg.lstsq(B, v, rcond=None)[0],
    ),
    ("00.4", "normalised", of("00.4", lambda g, *_: g / np.linalg.norm(g))),
    ("00.5", "for degree r − 1", lambda r: (r - 1) * r * (r + 1) / math.sqrt(3)),
    ("00.5", "rounded to a whole number", of("00.5", lambda v, *_: round(v))),
    (
        "00.7",
        "without the absolute value",
        lambda A, a, f: a @ f / math.sqrt(a @ np.linalg.solve(A, a)),
    ),
    # kernels
    ("01.1", "^ for a power", lambda X, Y: (X @ Y.T) ^ 2),
    ("01.1", "2 * for ** 2", lambda X, Y: 2 * (X @ Y.T)),
    ("01.2", "zeros on the diagonal", without_diagonal),
    ("01.2", "absolute values", of("01.2", lambda C, K: np.abs(C))),
    ("01.3", "the eigenvalue instead of the vector", lambda K: np.linalg.eigvalsh(K)[0]),
    ("01.3", "largest entry made 1", of("01.3", lambda c, K: c / np.abs(c).max())),
    ("01.4", "only i < j", lambda K, w, f: (w * f) @ np.triu(K, 1) @ (w * f)),
    ("01.4", "a mean over both points", lambda K, w, f: (w * f) @ K @ (w * f) / w.sum() ** 2),
    ("01.5", "signs exchanged", lambda x, y: [-1, 1]),
    ("01.6", "order p − 1", lambda Z, p: exercise_table("01.6")["answer"](Z, p - 1)),
    ("01.7", "the upper end alone", lambda a, b: math.sqrt(a * b)),
    ("01.7", "highest first", of("01.7", lambda ends, *_: ends[::-1])),
    # the zoo, metrics
    (
        "01a.1",
        "√3 in the exponent only",
        lambda X, b: (lambda r: (1 + r) * np.exp(-math.sqrt(3) * r))(
            np.linalg.norm(X[:, None] - X, axis=2) / b
        ),
    ),
    (
        "01a.2",
        "sum of the two kernels",
        lambda X, b: np.exp(-2 * np.sin(np.radians(X[:, None] - X) / 2) ** 2 / b**2).sum(axis=2),
    ),
    (
        "01a.2",
        "bandwidth not squared",
        lambda X, b: np.exp(-2 * np.sum(np.sin(np.radians(X[:, None] - X) / 2) ** 2, axis=2) / b),
    ),
    ("01a.3", "the ½ is forgotten", of("01a.3", lambda v, *_: 2 * v)),
    ("01b.1", "k(y, y) twice, k(x, x) never", lambda K: 2 * K.diagonal() - 2 * K),
    ("01b.2", "−D/2 and no more", lambda D, o: -D / 2),
    ("01b.3", "decimal logarithm", lambda m: 1 + math.log10(m / (m - 1))),
    # feature maps
    ("02.1", "one binomial coefficient", lambda nu: math.comb(sum(nu), nu[0])),
    ("02.2", "highest power first", of("02.2", lambda F, x: F[:, ::-1])),
    ("02.2", "without the constant", of("02.2", lambda F, x: F[:, 1:])),
    ("02.3", "number of mistakes, without their labels", of("02.3", lambda a, *_: np.abs(a))),
    ("02.3", "two passes", two_passes),
    ("02.4", "n for n − 1", lambda n, D: 2 * sum(math.comb(n, i) for i in range(D))),
    ("02.4", "the last term only", lambda n, D: 2 * math.comb(n - 1, D - 1)),
    # the space of a kernel
    ("03.1", "half of it", of("03.1", lambda v, *_: v / 2)),
    (
        "03.1",
        "coefficients exchanged",
        lambda a, b, Kxx, Kyy, Kxy: a @ Kxx @ a + b @ Kyy @ b - 2 * b @ Kxy @ a,
    ),
    ("03.2", "the constant forgotten", lambda x: x**2),
    ("03.3", "width for half the width", lambda width: 2 / math.sqrt(width)),
    ("03.4", "k = exp(−r²/σ²)", lambda x, z, s: math.sqrt(1 - math.exp(-2 * ((x - z) / s) ** 2))),
    ("03.5", "lengths added", lambda p, q, a, b, c: p / math.sqrt(a) + q / math.sqrt(b + c)),
    ("03.6", "a sign in the middle", lambda x, y: 4 + 6 * (x + y) + 12 * x * y),
    (
        "03.7",
        "the root of the numerator only",
        lambda x, a, b: math.sqrt((x - a) * (b - x)) / (b - a),
    ),
    ("03.9", "a constant", lambda x: 1.0),
    ("03.10", "the ratio of the constants only", lambda a, b, c, d: math.sqrt(a / c)),
    # Mercer
    ("04.1", "c not squared", lambda lam, c: np.sum(c / lam)),
    (
        "04.2",
        "roots of the weights once",
        lambda K, w: np.linalg.eigvalsh(w[:, None] ** 0.25 * K * w**0.25)[::-1],
    ),
    ("04.3", "the quotient entry by entry", lambda K, lam: np.trace(K / (K + lam))),
    ("04.3", "the rank", lambda K, lam: float(np.linalg.matrix_rank(K))),
    ("04.4", "counted from 0", lambda c, L, j: c * (L / ((j + 0.5) * math.pi)) ** 2),
    # least norm, random functions
    ("05.1", "λ subtracted", lambda K, y, lam: np.linalg.solve(K - lam * np.eye(len(y)), y)),
    (
        "05.1",
        "the residuals",
        lambda K, y, lam: y - K @ np.linalg.solve(K + lam * np.eye(len(y)), y),
    ),
    ("05.2", "half the square", of("05.2", lambda v, *_: v / 2)),
    ("05.3", "squared", of("05.3", lambda r, *_: r**2)),
    ("05.6", "y with the wrong sign", lambda y, u: u**2 / 4 - u * y),
    ("05a.1", "minus the logarithm", of("05a.1", lambda v, *_: -v)),
    ("05a.1", "a mean over the data", of("05a.1", lambda v, K, y, noise: v / len(y))),
    (
        "05a.2",
        "derivative in the standard deviation",
        of("05a.2", lambda v, K, y, noise: 2 * math.sqrt(noise) * v),
    ),
    # stochastic gradients
    ("06.1", "changed in place, not returned", no_return),
    (
        "06.1",
        "the label forgotten before the step",
        lambda u, K, y, i, s: u + s * (np.arange(len(u)) == i) / (1 + np.exp(y[i] * (K[i] @ u))),
    ),
    ("06.2", "options from 4 to 1", of("06.2", lambda costs, *_: costs[::-1])),
    ("06.3", "rounded up", of("06.3", lambda T, *_: math.ceil(T))),
    # machines
    ("07.1", "signs of the margins", of("07.1", lambda m, *_: np.sign(m))),
    ("07.2", "the function that solvers minimise", of("07.2", lambda v, *_: -v)),
    (
        "07.4",
        "η without the cross term",
        lambda K, y, b, i, j, C: ((y - K @ b)[i] - (y - K @ b)[j]) / (K[i, i] + K[j, j]),
    ),
    ("07.5", "the pair exchanged", of("07.5", lambda pair, *_: pair[::-1])),
    ("07.6", "both rounded to the nearest", lambda nu, n: (round(nu * n), round(nu * n))),
    ("07.7", "≥ 0 for > 0", lambda alpha, C: int(np.sum(alpha >= 0))),
    # directions in the space
    ("08.1", "column means twice", lambda K: K - 2 * K.mean(axis=0) + K.mean()),
    ("08.2", "per point", of("08.2", lambda z, Kxz, K, *_: z * math.sqrt(len(K)))),
    ("08.3", "the distance, not its square", of("08.3", lambda v, *_: np.sqrt(np.maximum(v, 0)))),
    ("08.5", "one minus", of("08.5", lambda rho, *_: 1 - rho)),
    ("08.8", "in bits", of("08.8", lambda v, rho: v / math.log(2))),
    # random features
    (
        "09.1",
        "cosine and sine in turn",
        of(
            "09.1",
            lambda F, X, W: F.reshape(len(X), 2, len(W)).transpose(0, 2, 1).reshape(len(X), -1),
        ),
    ),
    ("09.1", "√2 as for phases", of("09.1", lambda F, *_: math.sqrt(2) * F)),
    ("09.2", "in turns, not radians", of("09.2", lambda W, *_: W / (2 * math.pi))),
    ("09.4", "mean forgotten", lambda bins: bins[:, :, None] == bins[:, None, :]),
    ("09.6", "standard deviations", of("09.6", lambda v, *_: np.sqrt(v))),
    ("09a.1", "transposed where it should not be", lambda K, Kzx: Kzx @ np.linalg.solve(K, Kzx.T)),
    ("10.2", "rounded", lambda n: round(n / 2)),
    (
        "10.4",
        "relative to the old norm",
        of("10.4", lambda v, G, y, z: v / (y @ np.linalg.solve(G, y))),
    ),
    # laws
    ("11.1", "the root, 0 where it is negative", of("11.1", lambda v, *_: max(v, 0) ** 0.5)),
    ("11.2", "one minus", of("11.2", lambda p, *_: 1 - p)),
    ("11.2", "percent", of("11.2", lambda p, *_: 100 * p)),
    ("11.4", "as a column", of("11.4", lambda w, *_: w[:, None])),
    # pairs
    ("12.1", "degrees only", lambda W: np.diag(np.append(W.sum(axis=1), W.sum(axis=0)))),
    ("12.4", "rows counted from 1", of("12.4", lambda i, *_: i + 1)),
    # structure
    ("13.2", "mean for sum", of("13.2", lambda K, *_: K / 2)),
    ("13.5", "steps counted backwards", lambda N, P: N.T - N.T.sum(axis=1, keepdims=True) * P),
    (
        "13a.2",
        "no more than two steps",
        lambda A, B, d: (
            A.shape[0] * B.shape[0] + d * A.sum() * B.sum() + d**2 * (A @ A).sum() * (B @ B).sum()
        ),
    ),
    # scale, streams
    ("14.4", "variance of a mean", of("14.4", lambda v, *inputs: v / len(inputs[4]))),
    ("14a.4", "its root", of("14a.4", lambda v, *_: math.sqrt(v))),
    # dependence, conditioning, Stein
    ("15.3", "floor, minus one", lambda alpha: math.floor(1 / alpha) - 1),
    ("15a.3", "half of it", of("15a.3", lambda v, *_: v / 2)),
    ("15b.4", "one minus", of("15b.4", lambda p, *_: 1 - p)),
    # generalization, rates
    (
        "16.1",
        "a sample variance, n − 1",
        lambda K, noise, lam: noise * np.sum(smoothed(K, lam) ** 2) / (len(K) - 1),
    ),
    ("16a.5", "logarithm to the base 2", lambda m, q: np.sqrt(np.log2(m) / (2 * q))),
]

UNNAMED = ("not yet", "your answer is off")


def verdicts(rng=0):
    "(exercise, slip, verdict) of the whole list"
    return [(number, slip, check(number, answer, rng=rng)) for number, slip, answer in WRONG]


def table(found):
    "chapter: (named, all)"
    every = Counter(number.split(".")[0] for number, *_ in found)
    named = Counter(
        number.split(".")[0] for number, _, verdict in found if not verdict.says.startswith(UNNAMED)
    )
    return {chapter: (named[chapter], n) for chapter, n in every.items()}


if __name__ == "__main__":
    found = verdicts()
    for _, slip, verdict in found:
        print(f"{slip:45s} {verdict}")
    print(*(f"{chapter:4s}{a:3d} of {n}" for chapter, (a, n) in table(found).items()), sep="\n")
    print(sum(a for a, n in table(found).values()), "of", len(WRONG))
