"""Levels and power of the tests of independence, with and without a condition.

Level: each row draws 2000 samples of independent variables (500 of variables independent given z), tests
each at 5 % and counts rejections; a test called exact must stay within the 99 % binomial interval. The rows
called wrong (a bandwidth chosen on the same data, of 500 samples; waves of z that the regressions leave)
must fall outside. Power: rejections on 200 samples of each of three strengths of dependence (500 given z),
beside hyppo's test on the same samples where hyppo is installed; ours may be below its by .05 at most.
"""

from functools import partial

import levels
import numpy as np
from dependence import Hsic, dHsic

from rkhs_notes.deeper.dependence import (
    conditional_independence_test,
    dhsic_test,
    generalized_covariance_test,
    hsic_test,
)
from rkhs_notes.engines.features.spectral import fourier_features
from rkhs_notes.engines.testing.discrepancies import DistanceInduced
from rkhs_notes.kernels import Gaussian

B, GAUSS = 199, Gaussian(1.0)


# ---------------------------------------------------------------- samples
def two(rng, n=40, strength=0.0):
    x, e = rng.normal(size=(2, n))
    return x, strength * (x**2 - 1) + e


def three(rng, n=40, strength=0.0):
    "Every two of the three are independent, at any strength"
    x, y, e = rng.normal(size=(3, n))
    z = np.where(rng.random(n) < strength, np.abs(e) * np.sign(x * y), e)
    return x, y, z


def given(rng, n=200, shared=0.0, hidden=0.0, waves=1.5, second=np.cos):
    "x and y by z, with noises that are correlated (shared) or only dependent (hidden)"
    z, e, u = rng.normal(size=(3, n))
    x = np.sin(waves * z) + 0.5 * e
    return x, second(waves * z) + 0.5 * (u + shared * e + hidden * (e**2 - 1)), z


# ---------------------------------------------------------------- tests
def by_hsic(kx=GAUSS, ky=GAUSS, **options):
    return lambda x, y, rng: hsic_test(kx, ky, x, y, B, rng, **options).pvalue


def by_features(x, y, rng):
    phi = fourier_features(GAUSS, 1, 20, rng)
    return hsic_test(phi, phi, x, y, B, rng).pvalue


def cheat(x, y, rng):
    "The bandwidth of the largest statistic, in units of its null, tested on the data that chose it"
    tests = [hsic_test(Gaussian(s), Gaussian(s), x, y, B, rng) for s in (0.1, 0.3, 1.0, 3.0)]
    return max(tests, key=lambda t: (t.statistic - t.null.mean()) / t.null.std()).pvalue


def by_dhsic(x, y, z, rng):
    return dhsic_test(GAUSS, [x, y, z], B, rng).pvalue


def by_kci(null):
    test = conditional_independence_test
    return lambda x, y, z, rng: test(GAUSS, GAUSS, GAUSS, x, y, z, rng, null, B).pvalue


def by_gcm(x, y, z, rng):
    return generalized_covariance_test(GAUSS, x, y, z, rng, B).pvalue


def by_hyppo(x, y, rng):
    test = Hsic(compute_kernel="rbf", bias=True, gamma=0.5)
    return test.test(
        x[:, None], y[:, None], reps=B, auto=False, random_state=int(rng.integers(2**31))
    )[1]


def by_hyppo_d(x, y, z, rng):
    np.random.seed(int(rng.integers(2**31)))  # hyppo's test of several variables has no other seed
    test = dHsic(compute_kernel="rbf", bias=True, gamma=0.5)
    return test.test(*(v[:, None] for v in (x, y, z)), reps=B)[1]


def waves(rng):
    return given(rng, waves=6)


def same_waves(rng):
    return given(rng, waves=6, second=np.sin)


LEVELS = {  # (samples, test, kind, how many samples)
    "HSIC, permutation": (two, by_hsic(), "exact", 2000),
    "HSIC, permutation, factors of 3 to 6 columns": (two, by_hsic(tol=0.1), "exact", 2000),
    "HSIC, cyclic": (two, by_hsic(null="cyclic"), "exact", 2000),
    "HSIC, 20 random features": (two, by_features, "exact", 2000),
    "distance covariance": (two, by_hsic(DistanceInduced(), DistanceInduced()), "exact", 2000),
    "dHSIC of three": (three, by_dhsic, "exact", 2000),
    "HSIC, gamma": (two, by_hsic(null="gamma"), "approximate", 2000),
    "bandwidth chosen on the same data": (two, cheat, "wrong", 500),
    "given z, gamma": (given, by_kci("gamma"), "approximate", 500),
    "given z, random signs": (given, by_kci("wild"), "approximate", 500),
    "given z, generalized covariance": (given, by_gcm, "approximate", 500),
    "given z, waves = 6, gamma": (waves, by_kci("gamma"), "wrong", 500),
    "given z, waves = 6, generalized covariance": (waves, by_gcm, "approximate", 500),
    "given z, sin 6z in both, gamma": (same_waves, by_kci("gamma"), "wrong", 500),
    "given z, sin 6z in both, generalized covariance": (same_waves, by_gcm, "wrong", 500),
}
GIVEN = {"gamma": by_kci("gamma"), "generalized covariance": by_gcm}
POWERS = {  # (samples of a strength, three strengths, our tests, their test, how many samples)
    "y = a (x² − 1) + noise, n = 100": (
        lambda a: partial(two, n=100, strength=a),
        (0.1, 0.2, 0.4),
        {
            "permutation": by_hsic(),
            "cyclic": by_hsic(null="cyclic"),
            "gamma": by_hsic(null="gamma"),
        },
        by_hyppo if Hsic else None,
        200,
    ),
    "sign z = sign xy with probability a, n = 100": (
        lambda a: partial(three, n=100, strength=a),
        (0.3, 0.5, 0.7),
        {"dHSIC": by_dhsic},
        by_hyppo_d if Hsic else None,
        200,
    ),
    "given z: correlated noises": (
        lambda a: partial(given, shared=a),
        (0.1, 0.2, 0.4),
        GIVEN,
        None,
        500,
    ),
    "given z: dependent, uncorrelated noises": (
        lambda a: partial(given, hidden=a),
        (0.2, 0.4, 0.8),
        GIVEN,
        None,
        500,
    ),
}


def trial(draw, test, seed):
    "The p-value of one sample; the samples are the same for every test"
    return test(*draw(np.random.default_rng([15, seed])), np.random.default_rng([16, seed]))


def level(name, draw, test, kind, n_tests):
    return partial(levels.level_row, name, kind, n_tests, partial(trial, draw, test))


def power_rows(name, samples, strengths, ours, theirs, n_tests, quick, clock):
    n_tests, rows = 5 if quick else n_tests, []
    for a in strengths:
        everybody = ours | ({"hyppo": theirs} if theirs else {})
        powers = {who: levels.rejections(partial(trial, samples(a), test), n_tests) / n_tests
                  for who, test in everybody.items()}  # fmt: skip
        shown = ", ".join(f"{who} {power:.3f}" for who, power in powers.items())
        print(f"{name}, a = {a}: {shown}", flush=True)
        reached = next(iter(powers.values())) >= powers["hyppo"] - 0.05 if theirs else None
        rows.append(dict(race=name, strength=a, tests=n_tests, power=powers, reached=reached))
    return rows


if __name__ == "__main__":
    jobs = {name: level(name, *what) for name, what in LEVELS.items()}
    jobs |= {name: partial(power_rows, name, *what) for name, what in POWERS.items()}
    levels.main(__file__, jobs, f"level {levels.LEVEL}, B = {B}\n")
