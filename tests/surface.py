"""Was anything lost? Compares the numbers, the help and the names of two checkouts of this package.

    python tests/surface.py OLD NEW [--all]      what differs (at most ten of a kind, or all)
    python tests/surface.py --counts CHECKOUT    lines, cells and guards of one checkout
    python tests/surface.py --run OLD NEW        lines of the functions that the same calls run in each

Each checkout is imported in a process of its own and records
  * calls of the whole public surface (the catalogue KERNELS, OF_A_KERNEL, CALLS below), results reduced to
    numbers, arrays and words;
  * refusals: the arguments of those calls spoiled one by one (NaN, text, a row too few, −1, …);
  * help: shapes, documented arguments, exceptions, references and signatures of every public name and method;
  * names: every public name of OLD as rn.NAME and as rkhs_notes.MODULE.NAME.
A call that raises is compared by the type of its error; another message is listed as reworded.

Numbers agree when they differ by at most 1e-12 of the largest entry of their array (in float32 by as many
roundings, 5e-4), or by 100 times what the same call of OLD changes when every coordinate of the data moves by
an ulp, three times at random: what is ill-conditioned may be computed in another order. Counts that such a
move changes are not compared. An iterative solver states a tolerance of its own, after `# tol` in the
catalogue. Below 1e-14 all is rounding. The exit status is the number of differences, 100 at most.

Ordered changes go into EXPECTED with a reason; then they are listed apart. This file is no test that pytest
collects: it is run by hand, before and after the machinery is rebuilt.
"""

import argparse
import ast
import contextlib
import dataclasses
import hashlib
import importlib
import inspect
import json
import math
import os
import pickle
import re
import signal
import statistics
import subprocess
import sys
import tempfile
import threading
import time
import types
import warnings
from collections import Counter
from pathlib import Path

import numpy as np

EXPECTED = {  # regular expression, searched in "KIND: where: what" of a difference: reason, in a line
    r"^refused now: .*(exp\(|gaussian_of|Anova).*fourier_features\(.*orthogonal": "sums cannot be coupled",
    r"^value: kpca(\.\w+)*.*\.offset(_[xy])?\b": "kernel PCA and CCA: .offset is added, as everywhere",
    r"^value: (lowrank\b|kpca: (c|kernel_cca)\b|random_features: (y\d\b|pickled\(y1|nystrom_features\())": (
        "rng=None is the seed of random pivots, greedy by name: other coordinates of the same landmarks"
    ),
    r"^shape lost: kpca\..*\((n|n_points),[de]\)": "points are (n, d); 'of kx' says whose d",
    r"^name lost: .*\.(Centres|(More)?Places|APoint|AFunction|(One|Same|OneSame)(Function|Space)|OfThisSpace"
    r"|Values|Number|Pairing|Coordinates|AMeasure|AnExpansion|Symmetric|AnyMeasure|Psi)$": "words",
    r"^name lost: .*\.(\w*Sample|Mean|Covariance|KernelOrMap|Null|Statistic|Kernels)$": "words of chapter 11",
    r": mmd(\.|: )(MMDTest|AggregatedTest)\b.*": "the hypothesis of a two-sample test is its own default",
    r"^section lost: mmd\.mmd_test": "Notes on weights stand with X and Y, on memory in the engine",
    r"^citation lost: .*: (L[1-5]|USTC)$": "the lectures are called MR, PK, MD, FL, CK: L1 looks like L¹",
    r"^signature: .*: rng was .* default None$": "rng=None means the seed of the settings, everywhere",
    r"^signature: kernels.Kernel.feature_map: d was": "points of a kernel need have no columns",
    r"^(signature|name lost|documented argument lost): .*\b(Sum|Product)(\.|: )k[12]": (
        "sums and products are n-ary: terms, and k1, k2, … by position"
    ),
    r"^attribute lost: .*(get_params\(\)|_vjp\(.*\))\.k\d__": "parameters of a sum are named by place",
    r"^(value|printed differently): Linear\(\) \+ \(Gaussian\(\) \+ Laplace\(\)\)": "sums in sums are opened",
    r"^(attribute lost|value): (kernel_from_space|Integral|hilbert|rkhs|mercer|mmd|representer|random_fea"
    r"tures|spectra|svm|sgd|smo|convex|cke|double_descent).*(\.print\b|: (repr|str)\(\w+\))": (
        "a value prints in a line"
    ),
    r"^value: .*: str\(k\)\.numbers: (was|by \d\.\de-07)": "print shows six digits, repr() all of them",
    r"^value: representer: fit_hyperparameters\(.*\)\[[12]\]: by": (
        "it climbs the mean of log p(y); the catalogue asks that it ends as high"
    ),
    r"^refused now: kernel_from_space.*eval_again": "kernels of Python functions do not paste back",
    r"^value: .*Bilinear.*feature_map\(": "the sign of an eigenvector is that of its largest entry",
    r"^value: .*(Precomputed\(KX\).*feature_map\(|finite_feature_map\(KX\))": (
        "the sign of an eigenvector is that of its largest entry"
    ),
    r"^value: mercer: \w+_spectrum\(.*functions.type": "a function of an engine, _Formula, is Formula",
    r"^value: exercises: \[check_exercises": "there are more exercises",
    r"^section lost: kernels.Matern: Notes": "they stand in the description",
    r"^shape lost: kernels.Kernel: \(xᵢ,yᵢ\)$|^shape lost: features.feature_dimension: \(Bilinear": (
        "no shape: a formula, and a list of kernels"
    ),
    r"^refused now: .*: TypeError .*pass True or False": "a flag is True or False: offset='no' was true",
    r"^refused now: .*argument .*: (TypeError|ValueError) ": "out of its range, and refused by its word",
    r"^other error: .* was (AttributeError|UFuncTypeError|IndexError|error|LawBroken|NoSpectralMeasure) ": (
        "refused earlier, by the word of the argument"
    ),
    r"^other error: .*\bdata type|^other error: .*as an integer|^other error: .*could not convert": (
        "refused in words of this package, not of Python or NumPy"
    ),
    r"^other error: (datasets|resampling): .* — is TypeError ": "no number is a TypeError everywhere",
    r"^other error: (sgd|double_descent|smo): .* — is (Type|Value)Error (k|rng|error|tol) (=|is of type) ": (
        "refused earlier, by the word of the argument"
    ),
    r"^other error: .*(sqdist(_tile)?|_vjp)\(argument 0 = text\)": "helpers that validated points reach only",
    r"^other error: kernels: indefinite_witness\(.* — is LawBroken ": "a broken law, still a ValueError",
    r"^no longer refused: arrays: as_(targets|labels)\(argument 1 = 'a'": "a letter leaves the number open",
    r"^no longer refused: sgd: f\(sparse\(X\)\)": "features of chapter 02 take sparse points",
    r"^shape lost: .*: \(0,1\)$": "no shape: an interval, and the word says > 0, < 1",
    r"^shape lost: representer.fit_hyperparameters: \(Kernel,float,float\)": "no shape: what it unpacks as",
    r"^\w[\w ]* lost: .*(GaussianProcess|LaplaceClassifier|gp_classification\(|gaussian_process\().*\b(factor"
    r"|lower)\b|^signature: representer.(GaussianProcess|LaplaceClassifier): (factor|lower)": (
        "they hold .gram, a Cholesky"
    ),
    r"^(signature|section lost|documented argument lost): representer.RidgePath.function: ": (
        ".function is an attribute, as everywhere, that can still be called; function_at has the help"
    ),
    r"^(signature|documented argument lost): random_features.SpectralMeasure: covariance": (
        "made of variances: in many dimensions the matrix was large"
    ),
    r"^(value|attribute lost): svm: e( = svm_primal.*\[0\])?\.function\.": "of a map it is a FeatureFunction",
    r"^value: .*\.type: was '_\w+', is '\w+'": "classes of engines have names without an underscore",
    r"^attribute lost: .*(feature_map|nystrom_features)\(.*\.function\.": (
        "what a map calls is of the engine"
    ),
    r"^value: cke: coupled_embedding\(.*\.(offset|function)_(low|high)": (
        "the sign of an eigenvector is that of its largest entry"
    ),
    r"^(value: cke: (t\b|repr\(t\))|signature: cke.tune_coupling: (kind|components) )": (
        "tune_coupling tries all kinds of W, and up to 64 axes"
    ),
    r"^value: datasets: FETCHED.len: was 4, is 5": "the Olivetti faces",
    r"^no longer refused: rkhs: F.section\(argument 0 = 'a'\)": "points of k.on(g) may be any objects",
    r"^other error: .*(Bilinear|Precomputed).* — is IndefiniteKernel ": "indefinite: still a ValueError",
    r"^other error: hilbert: (m\.norm|lp_norm)\(argument 1 = 'a'\).* — is TypeError ": (
        "no number is a TypeError everywhere"
    ),
    r"^other error: .*argument \d = text\): .*holds text.* — is ValueError .*holds one label only": (
        "words are labels in every learner"
    ),
    r"^value: svm: (a|b|c|d|svc|check_kkt\(a|svc_multiclass|check_kkt\((svr|one_class))\b": (
        "machines may take libsvm's steps: the same problem, solved as near"
    ),
    r"^value: spectra: leading_eigenpairs\(.*\)\.(lowest|products)": (
        "narrower blocks: another number of products"
    ),
    r"^other error: hilbert: parallelogram_defect\(argument 2 = a cube": (
        "its norm, which is no number, is refused"
    ),
    r"^section lost: arrays\.(row_blocks|spans): Yields$": "a sentence says what an engine yields",
    r"^signature: exercises\.check$|^value: exercises: v( = check\(|\.says)": (
        "a mistake that is known is named"
    ),
    r"^other error: arrays: as_(number|count)\(argument (at_least|above) = 'a'\)": (
        "a bound that is no number is compared, and Python refuses that"
    ),
}

ROUNDING, TOLERANCE, CONDITION = 1e-14, 1e-12, 100
PATIENCE = 10  # seconds; a call that takes longer is not compared, and said

# Kernels on each set of points, separated by | or by the end of the line; OF_A_KERNEL is run for each.
KERNELS = {
    "X": """
Linear() | Polynomial(2) | Polynomial(3, 0.5, 2.0) | Polynomial(2, offset=0.0) | Gaussian(0.8) | Constant(2.0)
Matern() | Matern(0.5, 0.7) | Matern(1.5, 1.3) | Matern(2.5, 1.3) | Matern(1.2, 0.9) | Matern(40.0, 1.1)
RationalQuadratic(0.6, 1.2) | Laplace(1.5) | Cauchy(0.9) | Periodic(2.0, 0.9) | Delta()
Mahalanobis([0.5, 2.0])
Bilinear([[2.0, 1.0], [1.0, 1.0]]) | Anova(Gaussian(0.7), 2) | Anova(Gaussian(0.7), 1, up_to=True)
Anova(Linear(), 2, True) | Tensor(Gaussian(0.5), Linear()) | Tensor(Linear(), Laplace(), 1) | ArcCosine()
DistanceInduced() | DistanceInduced([0.5, -0.5]) | Rank1(lambda x: x[:, 0] - x[:, 1])
FiniteRank([1.0, 0.5], [lambda x: x[:, 0], lambda x: np.sin(x[:, 1])])
Gaussian(0.8) + Linear() | 2 * Gaussian(0.8) | Gaussian() * 0.5 | Gaussian(0.8) / 4 | Gaussian(0.8) * Linear()
Linear() ** 3 | (Constant(1) + Linear()) ** 2 | Gaussian() + 1 | Constant(3) + Linear() | Linear().exp()
(Linear() / 4).exp()
Gaussian(0.8) + Linear() + Constant(1) | Gaussian(0.8) * Linear() * Laplace(2.0)
2 * (3 * Gaussian()) + 0 * Linear()
Linear() + (Gaussian() + Laplace()) | 2 * (Gaussian() + Linear()) * Matern() | (Gaussian(0.8) + Linear()) ** 2
(Linear() + Constant(0.5)).normalized() | Polynomial(3).normalized() | Linear().gaussian_of(0.7)
Polynomial(2).gaussian_of(3.0) | Gaussian().gaussian_of(2.0) | Laplace().gaussian_of() | Gaussian().on(0)
Gaussian().on([1, 0]) | Linear().on([0]) + Gaussian().on([1]) | Gaussian().on(lambda x: x**2)
Linear().conjugate(lambda x: x[:, 0]) | Gaussian().conjugate(lambda x: np.exp(x[:, 1]))
sum_of([Gaussian(), Linear()])
Gaussian(0.5) + Gaussian(0.5) | (Gaussian() * Gaussian(2.0)).simplify() | (Linear() + Linear()).simplify()
Sum(Gaussian(), Linear()) | Product(Gaussian(), Linear()) | Scaled(2.0, Gaussian()) | Power(Linear(), 2)
Exp(Linear()) | Normalized(Polynomial(2)) | GaussianOf(Linear(), 0.5) | Conjugate(Linear(), lambda x: x[:, 0])
On(Gaussian(), (1,)) | from_gamma(0.7) | from_gamma(0.7) + Laplace(2.0) * Constant(3.0)
TruncatedKernel(mercer_expansion(Gaussian(), empirical(Y), 4))
kernel_from_space(planes, [[1.0, 0.2], [0.2, 2.0]])
from_sklearn(SK.RBF(0.7) + 2.0 * SK.Matern(1.3, nu=2.5))
from_sklearn(SK.DotProduct(0.5) ** 2 + SK.WhiteKernel(0.1))
from_sklearn(SK.ConstantKernel(2.0) * SK.RationalQuadratic(1.2, 0.6)) | from_sklearn(SK.RBF([0.5, 2.0]))
Gaussian(-1) | Gaussian("a") | Polynomial(0) | Polynomial(2, -1) | Matern(nu=200.0) | Mahalanobis([1.0, -1.0])
Bilinear([[1.0, 2.0], [2.0, 1.0]]) | -1 * Gaussian() | Gaussian() - Linear() | Gaussian() ** 0.5
Gaussian() + "a"
Anova(Gaussian(), 3) | Sigmoid() + Gaussian() | Sigmoid(1.0, -1.0) | Sobolev() | Gaussian().on(5)
Gaussian(nan)
""",
    "T": """
Brownian() | Brownian(-0.5) | Sobolev(1) | Sobolev(2) | Sobolev(3) | SobolevFull(1) | SobolevFull(2)
BrownianBridge()
Brownian() + Constant(1) | 2 * Sobolev(2) + Gaussian(0.3) | Brownian().normalized() | Brownian().exp()
Brownian() ** 2
Brownian().gaussian_of(0.5) | Brownian().on(lambda t: t**2) | Gaussian(0.2) * Brownian() | Gaussian(0.2)
Matern(1.5, 0.3)
Periodic(0.5) | Periodic(1.0, 0.5) + Constant(1) | Laplace(0.4) | Cauchy(0.3) | RationalQuadratic(2.0, 0.3)
Sobolev().normalized()
Rank1(np.cos) | FiniteRank([1.0, 0.3], [np.sin, np.cos])
Integral(lambda t, z: np.exp(-(t - z) ** 2), uniform_grid(0, 1, 6))
Gaussian(0.3).conjugate(np.cos) | OfDifference(lambda t: np.exp(-t**2))
kernel_from_space([np.sin, np.cos], np.eye(2))
brownian_spectrum(5).kernel | gaussian_spectrum(0.3, 0.5, 0.4, 6).kernel
periodic_spectrum(Periodic(1.0), 5).kernel
from_sklearn(SK.ExpSineSquared(0.8, 1.5)) | Linear() | Polynomial(2) | Delta() | Constant(0.0) | ArcCosine()
""",
    "I": "Precomputed(KX) | 2 * Precomputed(KX) + Delta() | Precomputed(KX).normalized() | Precomputed(-KX)",
    "(X[:6], X[6:])": "Tensor(Gaussian(0.5), Linear()) | Tensor(Polynomial(2), Laplace())",
}

OF_A_KERNEL = """
repr(k), str(k), k.is_shift_invariant
k.get_params()
k == eval_again(k), hash(k) == hash(eval_again(k)), k == 2 * k, k != k
k.with_params(**k.get_params()), k.simplify()
k(P)
k(P, Q)
k(P, P)
k(P32), k(P32, Q32)
k.diag(P)
k.pairs(Q, Q), k.pairs(P, P)
k.distance(P)
k.distance(P, Q)
k._vjp(as_points(P), as_points(Q), G)
tiles(k, P, Q)
check_kernel(k, P)
check_gradient(k, P, Q)
(k + Constant(1))(P, Q), (0.5 * k)(P), (k * k)(P), (k**2)(P), (k / 3)(Q), (Constant(1) + k).get_params()
k.normalized()(P)
k.gaussian_of(0.9)(P, Q)
k.feature_map(d)(P), k.feature_map(d).dim
feature_dimension(k, d)
mercer_expansion(k, empirical(P), 2).eigenvalues
k.spectral(d).mass, k.spectral(d).second_moment, k.spectral(d).covariance, k.spectral(d).sample(3, rng())
k.spectral(d).density(P)
random_feature_map(k, d, 8, rng())(P)
fourier_features(k, d, 6, rng(), "phase", "orthogonal")(P)
binning_features(k, P, 3, rng())(P)
ridge(k, P, range(len(k(P))), lam=0.1)(Q)
"""

CALLS = {
    "errors": """
require("a law", 1.0, 2.0, "because")
require("a law", 3.0, 2.0, "because")
require("a law", nan, 2.0)
inside(expect_fail(ValueError, "x", quiet=True), lambda: int("x"))
inside(expect_fail(), lambda: 1)
[c.__mro__[1:-1] for c in (RKHSError, LawBroken, NotPositiveDefinite, IndefiniteKernel, NoFiniteFeatureMap)]
[c.__mro__[1:-1] for c in (NoSpectralMeasure, ConvergenceFailure, DatasetUnavailable)]
""",
    "settings": """
profile, seed, block_mib, result_mib, dpi
settings.profile, settings.seed, settings.block_mib, settings.result_mib, settings.dpi
find_settings_file("."), find_settings_file("/")
read_settings("/", {})
read_settings("/", {"RKHS_NOTES_PROFILE": "full", "RKHS_NOTES_SEED": "3"})
read_settings("/", {"RKHS_NOTES_SEED": "-3"})
read_settings("/", {"RKHS_NOTES_COLOUR": "3"})
size(1, 2), inside(using(profile="full"), lambda: size(1, 2))
inside(using(block_mib=1, result_mib=2, seed=5), lambda: read_of(settings))
inside(using(block_mib=-1), lambda: 0)
inside(using(colour=1), lambda: 0)
inside(using(result_mib=0.0001), lambda: Gaussian()(X))
""",
    "arrays": """
array_namespace(X, Y), array_namespace(X, [1])
as_floats([[1, 2], [3, 4]]), as_floats(X32), as_floats(np.int8([1, 2])), as_floats(True), as_floats([1, None])
as_floats(X + 1j)
as_floats(["1", "2"])
as_floats([])
as_floats(sparse(X))
as_floats(np.ma.masked_less(X, 0))
as_points(x), as_points(X), as_points([[1, 2]]), as_points(X.tolist())
as_points(1.0)
as_points(np.ones((2, 2, 2)))
as_targets(y, 12), as_targets(y2, 12), as_targets([1, 2], 2)
as_weights(w, 12), as_weights(None, 3)
as_weights([0, 0], 2)
as_labels(words, 12), as_labels(s, 12), as_labels([True, False], 2)
as_labels(["a", 1.0], 2)
as_labels([1.0, nan], 2)
as_number(2, "c"), as_number(np.float32(2.5), "c", above=1), as_number(0, "c", at_least=0)
as_number(0, "c", above=0)
as_number(True, "c")
as_count(3.0, "m"), as_count(np.int64(3), "m", at_least=3)
as_count(2.5, "m")
as_count(0, "m")
as_rng(3).normal(size=2), as_rng(rng()).normal(size=2)
guarded(X).flags.writeable, frozen(X).flags.writeable, frozen(X)
sqdist(X, Y), sqdist(X), sqdist(X, Y, np.array([0.5, 2.0])), sqdist(X32, Y32), sqdist(HIGH)
sqdist_tile(X, Y)(slice(1, 4), slice(0, 9)), sqdist_tile(HIGH, HIGH)(slice(0, 3), slice(2, 5))
sqdist(X, HIGH)
sqdist(X * 1e200)
list(row_blocks(10, 2**24)), list(spans(10, 4)), list(spans(10, 4, 3)), n_threads() >= 1
inside(one_blas_thread(), lambda: X @ X.T)
heard(lambda use: in_parallel(use, [3, 1, 2]))
require_fits((10, 10))
require_fits((10**6, 10**6), instead="less")
shortened(12345), shortened(10**20)
smallest_eigenvalue(KX), smallest_eigenvalue(-KX)
cholesky_in_place(KX.copy()), cholesky_in_place(-KX)
psd_factor(KX, 0.1), psd_factor(KX, w), psd_factor(KX, overwrite=False)
psd_factor(-KX, name="minus K", remedy="nothing helps")
psd_factor(KX - 0.5 * np.eye(12), remedy=lambda shift: f"a shift of {shift:.1g}")
solve_psd(KX, y, 0.1), solve_psd(KX, y2, shift=1e-3, symmetric=True)
solve_psd(KX, y, -10.0)
solve_psd(KX[:, ::-1], y, 1.0)
nonnegative_lstsq(A, y[:5])
""",
    "hilbert": """
m = gauss_legendre(0, 2, 5)
m.mass, m.integrate(np.sin), m.inner(np.sin, np.cos), m.norm(np.sin), m.norm(np.sin, 1)
m.norm(np.sin, np.inf)
m.integrate(np.ones(5)), m.integrate(np.ones((5, 2))), m.norm(np.ones(5), 0.5), m.norm(np.ones(5), 0)
gauss_hermite(0.5, 2.0, 4)
uniform_grid(-1, 1, 6)
empirical(X), empirical(x, [1, 2, 3, 4, 5, 6, 7, 8, 9, 10])
Measure(X, w), Measure([1, 2], [1, 0])
Measure(X, -w)
Measure(X, w).integrate(lambda z: z[:, 0] ** 2)
combine([1, 2], [y, y]), combine([1, 2], [np.sin, np.cos])(0.5), combine([2], [[1, 2]])
combine([1, 2], [y])
combine([1, 2], [y, x])
check_inner_product(np.dot, list(X)[:2]), check_inner_product(m.inner, [np.sin, np.cos, np.exp], rng())
check_inner_product(lambda f, g: f @ g + 1, list(X)[:3])
check_inner_product(lambda f, g: f[0] * g[0], list(X)[:3])
lp_norm(X, 2), lp_norm(y, 1), lp_norm(y, np.inf), lp_norm(y, 0), lp_norm(y, 0.5), lp_norm(3.0, 2)
check_norm(lambda f: lp_norm(f, 1), list(X)[:4])
check_norm(lambda f: lp_norm(f, 0.5), list(X)[:4])
check_norm(lambda f: f @ f, list(X)[:4])
parallelogram_defect(np.linalg.norm, X[0], X[1]), parallelogram_defect(lambda f: lp_norm(f, 1), X[0], X[1])
gram_schmidt(X[:2]), gram_schmidt(A), gram_schmidt([X[0], X[0], X[1]], drop=True)
gram_schmidt([X[0], 2 * X[0]])
[q(0.3) for q in gram_schmidt([np.sin, np.cos, np.exp], m.inner)]
project(A[0], A[1:4]), project(np.exp, [np.sin, np.cos], m.inner)(0.3), project([1, 2], [[1, 1]])
riesz_representer(lambda f: f[0] + 2 * f[1], X[:2])
riesz_representer(lambda f: f[2], np.eye(4), lambda f, g: f @ g)
riesz_representer(lambda f: f[0] ** 2 + 1, X[:2])
""",
    "kernels": """
is_psd(KX), is_psd(-KX), is_psd(KX, 1e-3), is_psd([[1, 2], [0, 1]])
as_kernel(Gaussian())
as_kernel(Sigmoid())
as_kernel(np.dot)
isinstance(Sigmoid(), Indefinite), isinstance(Gaussian(), Kernel), isinstance(Sigmoid(), Kernel)
Sigmoid(1.0, -0.5).witness(), Sigmoid(0.5, 0.5).witness(), Sigmoid()(X), Sigmoid(2.0, 1.0)
to_gamma(Gaussian(0.7)), to_gamma(Laplace(2.0))
to_gamma(Linear())
from_sklearn(SK.PairwiseKernel())
kde(X, 0.5)(Y), kde(x, 0.1)(x), kde(X, 0.5, w)(Y)
check_kernel(Gaussian(), HIGH), check_kernel(np.dot, X)

indefinite_witness(Sigmoid(1.0, -1.0), X), indefinite_witness(Gaussian(), X)
indefinite_witness(lambda U, V: -np.exp(-np.abs(U - V.T)), x)
indefinite_witness(lambda U, V: U @ V.T + U.sum(1)[:, None], X)
median_bandwidth(X), median_bandwidth(x), median_bandwidth(X, rng(), 6)
median_bandwidth(np.ones((4, 2)))
alignment(KX, np.outer(y, y)), alignment(KX, KX), alignment(KX, KX @ KX, centred=False), alignment(0 * KX, KX)
align([Gaussian(0.5), Gaussian(2.0), Linear()], X, y), align([Gaussian(0.5), Linear()], X, y2)
align([Gaussian(), Constant()], X, np.ones(12))
drawn(Gaussian(0.5).plot(-1, 1)), drawn(Brownian().plot(0, 2, at=[0.5, 1.0])), drawn(Sobolev().plot())
Gaussian()(x), Gaussian()(X.tolist()), Gaussian()(X[0])
Gaussian()(X, x)
Gaussian()(X[:0])
Gaussian()(np.array([[1e308], [-1e308]]))
Gaussian().each_tile(X, Y, 3)
Gaussian().pairs(X, Y)
Gaussian().with_params(width=2.0)
(Gaussian() + Linear()).with_params(k1__bandwidth=3.0), Gaussian().with_params(bandwidth=2.0)
Tensor(Gaussian(), Linear())((x, X[:10])), Tensor(Gaussian(), Linear()).diag((x, x)), Anova(Linear(), 3)(HIGH)
Precomputed(KX)([0, 1, 5], [2, 3]), Precomputed(KX)([0.5])
Precomputed(KX)([99])
Brownian()([-1.0, 2.0])
BrownianBridge()([0.5, 2.0])
pickled(Gaussian(0.3) + 2 * Linear())(X), {Gaussian(): 1}[Gaussian()], Gaussian(1) == Gaussian(1.0)
sum_of([Gaussian(float(i + 1)) for i in range(9)])(X)
repr(sum_of([Gaussian(float(i + 1)) for i in range(9)]))
""",
    "features": """
p = Polynomial(2).feature_map(2)
p(X), p.dim, p.d, p.kernel, p(X32), p([[1, 2]]), p(sparse(X)), pickled(p)(Y), repr(p)
check_feature_map(p, Polynomial(2), X), check_feature_map(MonomialMap(3), Polynomial(3), X, tol=1e-9)
check_feature_map(lambda Z: 2 * Z, Linear(), X)
c = MonomialMap(3, 0.5, 2.0)
c(X), c(sparse(X)), c.exponents(2), c.coefficients(2), c.kernel, MonomialMap(2, 0.0)(HIGH)
finite_feature_map(KX), finite_feature_map(KX, tol=0.1), finite_feature_map(np.ones((3, 3)), entry_error=1e-9)
finite_feature_map(-KX)
feature_map(Linear() + Polynomial(2) * Constant(3), 2)(X), feature_map(2 * Linear().on(0), 2)
feature_map(Gaussian(), 2)
feature_dimension(Polynomial(3), 5), feature_dimension(Linear() ** 4, 7), feature_rule(Linear(), 2)
feature_rule(Gaussian(), 2)
cost_table(10), cost_table(3, (2,))
is_separable(X, s), is_separable(X, np.sign(X[:, 0])), is_separable(X, np.sign(X[:, 0] + 0.3), offset=True)
separable = np.sign(X[:, 0] - 2 * X[:, 1])
widest_margin(X, separable)
widest_margin(X, s)
a = perceptron_primal(X, separable)
a, a.mistakes, a.decision(Y), perceptron_primal(sparse(X), separable, start=[1.0, 1.0])
perceptron_primal(X, s, max_epochs=5)
b = perceptron_dual(X @ X.T, separable)
b, b.decision(Y @ X.T), a.trace == b.trace
perceptron_dual(X @ X.T, s, max_epochs=5)
novikoff_bound(X, separable), novikoff_bound(X, separable, [1, -2])
novikoff_bound(X, separable, start=[1, 0])
""",
    "rkhs": """
f = RKHSFunction(Gaussian(0.7), X, y)
g = RKHSFunction(Gaussian(0.7), Y, y[:9])
h = RKHSFunction(Gaussian(0.7), X, y2)
f(Y), f(X32), f.norm(), f @ g, f.inner(g), f.distance(g), (f + g)(Y), (f - g).norm(), (2 * f)(Y), (f / 2)(Y)
(-f)(Y)
h(Y), h.norm(), h.inner(f), h.distance(h), h @ h
f + h
f + RKHSFunction(Linear(), X, y)
f @ 3
f.compress(0.3), f.compress()(Y), len((f + f).Z), pickled(f)(Y), repr(f), repr(h)
drawn(RKHSFunction(Gaussian(0.2), x, y[:10]).plot(0, 1)), drawn(f.plot(-1, 1, -1, 1)), drawn(f.plot())
H = RKHS(Gaussian(0.7))
H.section([0.1, 0.2])(Y), H.section(X)(Y), H.function(X, y)(Y), repr(H)
i = H.interpolate(X, y)
i(X), i(Y), i.norm(), H.interpolate(X, y2)(Y), H.leave_one_out(X, y), H.leave_one_out(X, y2)
H.interpolate(X[[0, 0]], [1.0, 2.0])
H.project(g, X)(Y), H.project(h, Y)(Y)
q = H.power_function(X)
q(Y), q(X) < 1e-5, q.X, PowerFunction(Linear(), X)(Y), PowerFunction(Gaussian(0.7), X32)(Y32)
check_reproducing(f, Y), check_projection(g, H.project(g, X), X, Y)
check_projection(g, g, X[:4], Y), check_projection(g, 2 * H.project(g, X), X, Y)
k = kernel_from_space([np.sin, np.cos], [[2.0, 0.5], [0.5, 1.0]])
k(x), repr(k)
kernel_from_space([np.sin, np.cos], [[1.0, 2.0], [2.0, 1.0]])
F = FiniteDimensionalRKHS([1.0, 0.5], [np.sin, np.cos])
F.inner([1, 2], [3, 4]), F.norm([1, 2]), F.combination([1, 2])(x), F.coordinates(F.section(0.3)), F.k
F.coordinates(f)
least_norm_split(RKHSFunction(Gaussian() + Linear(), X, y), Gaussian(), Linear())
least_norm_split(f, Linear())
sum_norm(RKHSFunction(Gaussian() + Linear(), X, y), Gaussian(), Linear())
sum_norm(f, Gaussian(0.7), Linear(), Y)
sum_norm(lambda z: z[:, 0], Gaussian(), Linear(), X)
tensor_product(f, RKHSFunction(Linear(), x, y[:10]))((Y, Y[:, 0]))
""",
    "mercer": """
t = integral_operator(Gaussian(0.3), gauss_legendre(0, 1, 12))
t(np.sin)(x), t.quadratic_form(np.sin), t.trace(), IntegralOperator(Linear(), empirical(X))(y)(Y)
e = mercer_expansion(Gaussian(0.3), gauss_legendre(0, 1, 20), 5)
e, e.n_terms, e.eigenfunctions(x), e.kernel(x), e.feature_map()(x), e.coefficients(np.sin), e.norm(np.sin)
e.tail()
e.effective_dimension(0.01), drawn(e.plot(0, 1)), drawn(e.plot(terms=2)), pickled(e).eigenvalues, repr(e)
u = mercer_expansion(Gaussian(0.8), empirical(X))
u.eigenvalues, u.kernel(X, Y), drawn(u.plot()), mercer_expansion(Linear(), Measure(X, w), rng=rng())
check_mercer(e, Gaussian(0.3), x), check_mercer(e, Gaussian(0.3), x, tol=1e-6, within=1.0)
check_mercer(e, Gaussian(0.4), x)
check_mercer(e, Gaussian(0.3), x, within=1e-9)
TruncatedKernel(e)(x, x[:3]), TruncatedKernel(e)
brownian_spectrum(4), brownian_spectrum(4).eigenfunctions(x), bridge_spectrum(4)
bridge_spectrum(4).eigenfunctions(x)
brownian_spectrum(4).eigenfunctions([2.0])
gaussian_spectrum(0.5, 0.2, 0.7, 6), gaussian_spectrum(0.5, 0.2, 0.7, 6).eigenfunctions(x)
periodic_spectrum(Periodic(1.0, 0.8), 5)
periodic_spectrum(2 * Periodic(1.0) ** 2 + Constant(1), 5).eigenfunctions(x)
periodic_spectrum(Gaussian(), 5)
BrownianBridge()(x), BrownianBridge().diag(x)
""",
    "representer": """
k = Gaussian(0.7)
r = ridge(k, X, y, 0.1)
r(Y), r.alpha, r.norm(), ridge(k, X, y2, 0.1)(Y), ridge(k, X, y, 0.1, weights=w)(Y), ridge(k, X32, y, 0.1)(Y)
o = ridge(k, X, y, lam=0.1, offset=True)
o(Y), o.offset, o.function, ridge(k, X, y2, 0.1, True, w).offset, OffsetFit(r, 2.0)(Y), ridge(k, X, y)(Y)
repr(o)
regularized_risk(r, X, y, 0.1), regularized_risk(r, X, s, 0.1, "logistic")
check_representer(r, X, y, 0.1), check_representer(2 * r, X, y, 0.1)
p = ridge_path(k, X, y, [0.01, 0.1, 1.0])
p.loo, p.gcv, p.best, p.function()(Y), p.function(0.5)(Y), p.eigenvalues, drawn(p.plot()), repr(p)
ridge_path(k, X, y2).loo, ridge_path(k, X, y, offset=True).gcv, ridge_path(k, X, y, [0.1], True).function()(Y)
t = semiparametric(k, X, y, lambda z: np.c_[np.ones(len(z)), z], 0.1)
t(Y), t.function(Y), t.null_part(Y), t.null_part.beta, semiparametric(k, x, y[:10], [np.sin], 0.1, w[:10])(x)
semiparametric(k, X, y, lambda z: np.c_[z, z], 0.1)
NullPart((np.sin, np.cos), np.array([1.0, 2.0]))(x), SemiparametricFit(r, t.null_part)(Y)
n = smoothing_spline(x, y[:10], 0.01)
n(x), n(x + 2), n.knots, n.values, n.slopes, n.roughness, smoothing_spline(x, y[:10], 0.01, w[:10])(x)
repr(n)
NaturalSpline(np.array([0.0, 1.0]), np.array([1.0, 2.0]), np.ones(2))([0.5, 3.0])
a = minimize_risk(k, X, s, "hinge", 0.1) # tol 1e-6: an interior-point method with a certified gap
a(Y), a.primal, a.dual, a.gap < 1e-6 # tol 1e-6: an interior-point method with a certified gap
minimize_risk(k, X, y, "absolute", 0.1)(Y) # tol 1e-6: an interior-point method with a certified gap
minimize_risk(k, X, y, "huber", 0.1)(Y) # tol 1e-6: an interior-point method with a certified gap
minimize_risk(k, X, s, "logistic", 0.1)(Y) # tol 1e-6: Newton's method
minimize_risk(k, X, y, quantile(0.3), 0.1)(Y) # tol 1e-6: an interior-point method with a certified gap
minimize_risk(k, X, y)(Y) # tol 1e-6: interior point
minimize_risk(k, X, y, "epsilon_insensitive(0.2)", 0.1)(Y) # tol 1e-6: interior point
check_representer(a.function, X, s, 0.1, loss="hinge"), check_representer(r, X, s, 0.1, loss="logistic")
v = gaussian_process(k, X, y, 0.1)
v(Y), v.mean, v.noise, v.var(Y), v.cov(Y), v.cov(Y, X), v.sample(Y, 3, rng()), v.log_marginal, repr(v)
gaussian_process(k, X, y, w).var(Y), drawn(gaussian_process(k, x, y[:10], 0.1).plot(0, 1))
gaussian_process(k, X, y, 0)(Y)
log_marginal(k, X, y, 0.1), log_marginal(2 * k + Linear(), X, y, 0.2)
log_marginal(Mahalanobis([1, 2]), X, y, w)
fit_hyperparameters(k, X, y, 0.1) # tol 1e-4: L-BFGS stops at its own tolerance
fit_hyperparameters(2 * k, X, y, 0.1, restarts=1, rng=1, fit_noise=False, max_iter=20) # tol 1e-4: L-BFGS
fit_hyperparameters(k, X, y, 0.1)[2] > -16.526
fit_hyperparameters(2 * k, X, y, 0.1, restarts=1, rng=1, fit_noise=False, max_iter=20)[2] > -16.503
c = gp_classification(2 * k, X, words)
c.mean, c.var(Y), c.probability(Y), c.predict(Y), c.classes, c.log_marginal, repr(c)
nadaraya_watson(k, X, y)(Y), nadaraya_watson(k, X, y2)(Y)
nadaraya_watson(k, X, y)([[1e9, 1e9]])
ridge(k, X, y, 0)
ridge(k, X, y[:4])
""",
    "sgd": """
slope_of("logistic", s)(y), slope_of("hinge", s, w)(y), slope_of(squared, y)(y, slice(0, 12))
slope_of("absolute", y)(y)
sgd_primal(X, s), sgd_primal(X, y, "squared", 30, 0.05, 3)
sgd_primal(X, s, steps=20, step_size=lambda t: 1 / (t + 1))
sgd_dual(KX, s), sgd_dual(KX, y, "squared", 30, 0.05, 3), sgd_dual(KX, s, "hinge", 12, [0.1] * 12)
heard(lambda use: sgd_primal(X, s, steps=3, callback=lambda t, v: use(v.copy())))
heard(lambda use: kernel_sgd(Gaussian(), X, s, steps=6, callback=use))
heard(lambda use: sgd_dual(KX, s, steps=3, callback=lambda t, v: use(v.copy())))
check_span(X, s), check_span(X, y, "squared", 40, 0.02, 3)
check_span(X, s, dual=lambda *a, **b: 2 * sgd_dual(*a, **b))
k = Polynomial(2)
[kernel_sgd(k, X, s, option=i, steps=30, rng=1)(Y) for i in (1, 2, 3, 4)]
kernel_sgd(k, X, s, option=5, steps=30, features=4)(Y)
kernel_sgd(k, X, s, option=6, steps=30, features=k.feature_map(2))(Y)
kernel_sgd(Gaussian(), X, y, "squared", lam=0.1, batch=4, average=True, steps=15)(Y)
kernel_sgd(Gaussian(), X, s, steps=15, batch=3, lam=0.2, option=3), kernel_sgd(Gaussian(), X, s)
kernel_sgd(Gaussian(), X, s, option=1)
kernel_sgd(Gaussian(), X, s, option=7)
f = FeatureFunction(k.feature_map(2), np.arange(6.0))
f(Y), f.inner(f), f @ f, f.norm(), repr(f), pickled(f)(Y), f(sparse(X))
[cost_model(i, 100, 3, 20, 50) for i in (1, 2, 3, 4, 5, 6)], cost_model(4, 100, 3, np.inf, 50).time
break_even(cost_model(3, 100, 3, 9, 5), cost_model(4, 100, 3, 9, 5))
break_even(Cost(1, 2, 3, 4), Cost(0, 1, 3, 4))
cheapest_option(100, 3, 20, 500), cheapest_option(100, 3, np.inf, 10, 500)
cheapest_option(100, 3, 20, 500, np.inf, 8)
cheapest_option(100, 3, 20, 500, memory=0)
z = Machine({i: (1e-6, 1e-8) for i in (1, 2, 3, 4)}, {"w": (1e-6, 1e-9), "u": (1e-6, 1e-9)})
[z.seconds(i, 100, 3, 20, 50) for i in (1, 2, 3, 4)], cheapest_option(100, 3, 20, 500, machine=z)
type(calibrate(dims=(2, 4), sizes=(20, 40))).__name__
check_regret(Gaussian(), X, s, RKHSFunction(Gaussian(), X, s / 5), steps=60)
d = budgeted_sgd(Gaussian(), X, s, budget=4, steps=40)
d(Y), d.drift, d.function, Budgeted(d.function, 0.5)(Y)
""",
    "svm": """
k = Gaussian(0.7)
a = svc(k, X, words, C=2.0)
a, a.decision(Y), a.predict(Y), a.margin, drawn(a.plot(X, words)), repr(a)
svc(k, X, s, 1.0, w).dual, svc(k, X, s, class_weights="balanced", tol=1e-6).dual
svc(k, X, s, class_weights={1.0: 3})
svc(k, X, s, math.inf), svc(k, X, s, start=a.dual, tol=1e-9)
svc(k, X32, s, distances=PairDistances(k, X32)).offset
heard(lambda use: svc(k, X, s, callback=lambda i, v: use(v)))
svc(Linear(), X, np.sign(X[:, 0] + 0.2), math.inf), svc(k, X, s, max_iter=2)
check_kkt(a, X, words, 2.0), check_kkt(svr(k, X, y, eps=0.2), X, y, eps=0.2)
check_kkt(one_class(k, X, 0.3), X, nu=0.3)
check_kkt(a, X, words, 1.0)
svc_path(k, X, s, [0.1, 1.0, 10.0])
b = svr(k, X, y, 2.0, 0.1)
b, b.predict(Y), svr(k, X, y, weights=w, tol=1e-6).dual
c = one_class(k, X, 0.3)
c, c.decision(Y), c.predict(Y)
d = svc_multiclass(k, X, three, 2.0)
d, d.decision(Y), d.predict(Y), svc_multiclass(k, X, three, strategy="one-vs-rest", weights=w).predict(Y)
repr(d)
e = svm_primal(Polynomial(2).feature_map(2), X, words)
e, e.decision(Y), e.function.w, svm_primal(lambda z: z, X, s, 2.0, w).objective # tol 1e-6: interior point
r = relevance_machine(k, X, y) # tol 1e-3: stops when log a changes by less than 1e-4
r, r.predict(Y) # tol 1e-3: stops when log a changes by less than 1e-4
bayes_point(k, X, words, 10)(Y), bayes_point(k, X, s, samples=3, rng=4)
bayes_point(Linear(), X, s, samples=3, max_epochs=4)
svc(k, X, np.ones(12))
svc(k, X, three)
svc(k, X, s, C=0)
""",
    "kpca": """
pca_primal(X), pca_primal(A, 2), center(KX), center_cross(KX[:3], KX)
center(A)
k = Gaussian(0.8)
p = kernel_pca(k, X, 3)
p, p.explained, p.scores, p.transform(Y), p.first(2), p.residual(Y), kernel_pca(Linear(), X, 2), repr(p)
p.pre_image(p.transform(Y)) # tol 1e-5: a fixed-point iteration
p.pre_image(p.transform(Y), "ridge", k=k, lam=0.1), p.reconstruct(Y, "ridge")
p.reconstruct(Y), p.pre_image(p.transform(Y), starts=1, tol=1e-9) # tol 1e-5: a fixed-point iteration
kernel_pca(k, X, 30)
kernel_pca(k, X32, 2, rng()).eigenvalues, check_kernel_pca(p), check_kernel_pca(p, X, 1e-6)
check_kernel_pca(p, Y)
c = kernel_cca(k, Matern(), X, y, 0.1, 2)
c, c.transform_x(Y), c.transform_y(x), kernel_cca(k, k, X, X[::-1], 1.0, rank=5, rng=rng()), repr(c)
check_kernel_cca(c, X, y)
hsic(k, Linear(), X, y), hsic_u(k, Linear(), X, y), hsic(k, k, X, X), hsic_u(k, k, X[:4], X[:4])
h = hsic_test(k, Linear(), X, y, 49)
h, str(h), h.rejects(), h.critical(0.1), hsic_test(k, k, X, X[::-1], 19, rng=3, tol=1e-3).pvalue
kernel_generalized_variance(k, [X, y], 0.5), kernel_generalized_variance([k, Linear()], [X, y], 0.5)
kernel_mutual_information(k, [X, y, x.repeat(2)[:12]], 0.5, 1e-9)
i = kernel_ica(MIXED) # tol 1e-3: Jacobi sweeps stop at an angle of 1e-3
i.unmixing, i.mean, i.dependence, i.transform(MIXED[:4]) # tol 1e-3: Jacobi sweeps
amari_distance(np.eye(2), [[1.0, 0.5], [0.2, 1.0]]), amari_distance([[0, 2], [1, 0]], np.eye(2))
""",
    "random_features": """
m = (Gaussian(0.7) + 2 * Laplace()).spectral(2)
m, m.sample(5, rng()), m.sample(4, rng(), "orthogonal"), m.density(X), m.second_moment, repr(m)
pickled(m).mass
spectral_measure(Gaussian(0.7), 2).density(X), spectral_measure(Matern(1.5), 2).sample(3, rng())
spectral_measure(Linear(), 2)
spectral_rule(Gaussian(), 2), spectral_rule(Cauchy(), 1).sample(3, rng())
mixture([Gaussian().spectral(2), Laplace().spectral(2)]).sample(6, rng())
orthogonal_normals(5, 3, rng())
n = spectral_from_function(lambda t: np.exp(-t**2), 20.0, 0.01, "bump")
n.mass, n.density(x), n.sample(4, rng()), n.second_moment
spectral_from_function(lambda t: np.where(np.abs(t) < 1, 1.0, 0.0), 5.0, 0.01)
f = fourier_features(Gaussian(0.7), 2, 6, rng())
f(X), f.frequencies, f.dim, f(X32), f(sparse(X)), pickled(f)(Y), fourier_features(m, 2, 4, 3)(X), repr(f)
fourier_features(Gaussian(), 2, 5, rng(), "phase")(X)
fourier_features(Gaussian(), 2, 4, rng(), coupling="orthogonal")(X)
fourier_features(Gaussian(), 2, 5, rng())
fourier_features(Linear(), 2, 4, rng())
OfDifference(lambda t: np.exp(-np.abs(t)))(x)
check_unbiased(lambda r: fourier_features(Gaussian(), 2, 20, r), Gaussian(), X[:4], rng(), 50)
check_unbiased(lambda r: fourier_features(Gaussian(0.2), 2, 20, r), Gaussian(), X[:4], rng(), 50)
hoeffding_bound(100, 0.1), hoeffding_bound(100, 0.1, "phase"), hoeffding_bound(100, 0.1, "binning")
uniform_bound(10**4, 0.1, 2, 1.0, 3.0), uniform_bound(10**4, 0.1, 2, 1.0, 3.0, "phase")
uniform_bound(99, 0.3, 2, 1, 3, "binning")
features_for(0.1, 0.05), features_for(0.1, 0.05, 2, 1.0, 3.0), features_for(0.1, 0.05, kind="binning")
b = binning_features(Laplace(0.8), X, 7, rng())
b(X), b(Y), b.dim, binning_features(Laplace() + Delta(), X, 3, 5)(X), pickled(b)(X), repr(b)
binning_features(Gaussian(), X, 3, rng())
hat_mixture(lambda t: np.exp(-t))[0][:5], hat_mixture(lambda t: np.maximum(0, 1 - t) ** 2, "a hat")[1][-5:]
g = random_feature_map(Gaussian() * Linear() + Polynomial(2), 2, 30, rng())
g(X), g.dim, random_feature_map(Linear(), 2, 9, 0), random_feature_map(ArcCosine(), 2, 8, rng())(X)
random_rule(Gaussian(), 2, 4, rng()), random_rule(Gaussian() + Linear(), 2, 9, rng())[0], repr(g)
y1 = nystrom_features(Gaussian(), X, 5, rng())
y1(Y), y1.dim, nystrom_features(Linear(), X, 5, 1).dim, nystrom_features(Gaussian(), X, 4, 1, "rpcholesky")(Y)
repr(y1)
nystrom_features(Gaussian(), X, 4, 1, "kmeans")(Y), nystrom_features(Gaussian(), X32, 4, 1)(Y32)
pickled(y1)(Y)
y3 = nystrom_features(Gaussian(), X, 4, 1, "kmeans")
(lambda F: F @ F.T)(y1(Y)), (lambda F: F @ F.T)(y3(Y))  # tol 1e-9
""",
    "double_descent": """
min_norm_fit(A, y[:5]), min_norm_fit(A, y2[:5], 0.1), min_norm_fit(X, y), min_norm_fit(A, y[:5], rtol=0.5)
check_min_norm(A, y[:5], min_norm_fit(A, y[:5])), check_min_norm(X, y, min_norm_fit(X, y, 0.3), 0.3)
check_min_norm(X, y, [1.0, 1.0])
min_norm_path(A, y[:5], [1, 3, 5, 7]), min_norm_path(A, y2[:5], [2, 4], 0.1)
min_norm_path(A, y[:5], [2, 4], [0.1, 1.0])
waves = lambda D, r: fourier_features(Gaussian(), 2, D, r)
c = double_descent_curve(waves, X, y, Y, y[:9], [2, 8, 12, 20], rng(), 2)
c, c.peak, drawn(c.plot()), drawn(c.plot(what="norm", label="n")), repr(c)
double_descent_curve(lambda D, r: relu_features(2, D, r), X, s, Y, s[:9], [3, 9], 1, 2, [0.0, 0.1], "label")
double_descent_curve(lambda D, r: relu_features(2, D, r), X, y2, Y, y2[:9], [3, 9], 1, 1, 0.1)
least_squares_risk(20, 5, 1.0, 0.5), least_squares_risk(20, 50, 1.0, 0.5)
least_squares_risk(20, 20, 1.0, 0.5)
relu_features(2, 5, rng())(X), relu_features(2, 5, 3), ArcCosine()(X, Y)
gaussian_power_bound(0.5, x, x + 0.03), gaussian_power_bound(0.5, [0.0, 1.0], [[0.5]])
gaussian_power_bound(0.5, X, x)
""",
    "mmd": """
k = Gaussian(0.7)
V = Y[::-1] + 0.3
mean_embedding(k, X)(Y), mean_embedding(k, Measure(X, w)), mean_embedding(k, empirical(X)).norm()
g = GaussianEmbedding([0.1, 0.2], [[1.0, 0.3], [0.3, 0.5]], 0.7)
g(Y), g.inner(g), g @ g, g.norm(), g.inner(mean_embedding(k, X)), GaussianEmbedding(0.0, 1.0)(x), repr(g)
GaussianEmbedding(0.0, -1.0)
mmd2_gaussians(0.0, 1.0, 0.5, 2.0), mmd2_gaussians([0, 0], np.eye(2), [1, 0], np.eye(2), 0.7)
mmd2_v(k, X, Y), mmd2_u(k, X, Y), mmd2_u1(k, Y, V), mmd2_linear(k, Y, V), mmd2_block(k, Y, V)
mmd2_incomplete(k, Y, V)
mmd2_v(k, Measure(X, w), Y), mmd2_u(k, Measure(X, w), Y), mmd2_block(k, Y, V, 3), mmd2_incomplete(k, Y, V, 2)
mmd2_u(k, X[:1], Y)
mmd2_u1(k, X, Y)
witness(k, X, Y)(V), witness(k, X, Y, False), witness(k, X, X)
mmd2_features(Polynomial(2).feature_map(2), X, Y), mmd2_features(lambda z: z, X, Y, unbiased=True)
t = mmd_test(k, X, Y, 49)
t, str(t), t.typical(X, 3), t.typical(X, 2, least=True), t.rejects(), t.critical(), drawn(t.plot())
[mmd_test(k, Y, V, 29, statistic=v, rng=2) for v in ("u", "v", "u1", "linear", "block", "incomplete")]
[mmd_test(k, Y, V, 29, null=v, rng=2) for v in ("permutation", "gamma", "spectral")]
mmd_test(k, Y, V, 29, "wild", "u1", rng=2), mmd_test(k, Y, V, 29, "wild", "linear")
mmd_test(k, Y, V, 19, statistic="block", size=3), mmd_test(k, X, Y, 19, single=True)
mmd_test(k, Measure(X, w), Measure(Y, w[:9]), 19), mmd_test(k, Measure(X, w), Y, 19)
mmd_test(fourier_features(k, 2, 8, rng()), X, Y, 29), mmd_test(Linear().feature_map(2), X, Y, 19, rng=rng())
MMDTest(0.5, 0.1, np.arange(9.0)), mmd_test(k, X, Y, 9, null="wild")
mmd2_threshold(20, 30), mmd2_threshold(20, 20, 0.1, 2.0, "u1"), gaussian_grid(X, Y), gaussian_grid(X, Y, 1)
a = mmd_test_aggregated(None, X, Y, 39)
a, a.best, str(a), mmd_test_aggregated([k, Linear()], X, Y, 19, 3), AggregatedTest(0.5, 0.1, np.arange(9.0))
mmd_test_split(None, BIG[:20], BIG[20:] + 1, 0.5, 29), mmd_test_split([k, Linear()], X, Y, 0.4, 19, rng=2)
check_mmd(k, Y, V), check_mmd(Linear(), Y, V)
check_mmd(k, Y, V, u=mmd2_v)
check_level(lambda U, W, r: r.uniform(), lambda r: (0, 0), 60, rng=1)
check_level(lambda U, W, r: 0.0, lambda r: (0, 0), 60)
DistanceInduced(0.5)(x), DistanceInduced([0.5, 0.5]), herding(k, X, 4)
herding(k, Measure(X, w), 3, candidates=Y)
""",
    "cke": """
k, l = Gaussian(2.0), Linear()
q = image_pairs(4, 3, rng(), side=8, factor=4)
q, low_resolution(q[1], 2), low_resolution(q[1], 2, (8, 8), 1, 0.1, rng()), low_resolution(q[1], 3)
e = coupled_embedding(k, l, X, A12, n_components=2)
e, e.correlations, e.transform_low(Y), e.transform_high(A12[:3]), e.leading(1), e.distances(X, A12)
e.match(X, A12), repr(e)
e.distances(X, A12, "likelihood"), e.match(X, A12, "likelihood"), e.distances(X, A12, [1.0, 2.0])
coupled_embedding(k, l, X, A12, affinity(A12, three, "class"), 2, 0.5, 6, rng())
coupled_embedding(k, k, X, A12, reg=0)
affinity(A12), affinity(A12, three, "class"), affinity(A12, kind="knn", neighbours=3)
affinity(A12, three, "knn", 2, 1.0)
affinity(A12, kind="class")
coupling_loss(X, X[::-1], np.eye(12)), pair_laplacian(affinity(A12, three, "class"))
coupling_loss(X, X, sparse(np.eye(12)))
check_coupling(e, X, A12)
check_coupling(e, X, A12 + 1)
t = tune_coupling([(k, l)], q[0], q[1], q[2], regs=(0.1,), components=(2,), folds=2)
t, t.match(q[0], q[1]), tune_coupling([(l, l)], *q, "class", (1.0,), (2, 3), (None,), 2, True, rng=1).choice
repr(t)
""",
    "datasets": """
smiley(9, 1), smiley_labels(np.abs(X) % 1), hard_1d(), hard_2d(7, rng()), seven_points(), wainwright_11()
[f(2)[::300] for f in (lambda side: digits_low_high(side)[0], lambda side: digits_low_high(side)[2])]
digits_low_high(3)
[v[::90] for v in digits_drift()]
[head(load(n)) for n in ("diabetes", "iris", "wine")], FETCHED, BUNDLED
[head(load(n)) for n in ("breast_cancer", "digits")], [v.shape for v in load("iris")]
load("nothing")
as_rng(-1)
as_rng("a")
Dataset(X, y, "n", "d", "s", ("a", "b"), ()), repr(load("iris")), len(load("diabetes").description)
""",
    "spectra": """
o = GramOperator(Gaussian(0.7), X, w)
o.shape, o.dtype, o.matrix(), o.trace(), o @ y, o @ y2, GramOperator(Linear(), X, centred=True).matrix()
inside(using(result_mib=0.0001), lambda: GramOperator(Gaussian(0.7), X, w, True) @ y)
leading_eigenpairs(KX, 3), leading_eigenpairs(o, 2), leading_eigenpairs(KX.astype("f4"), 2)
leading_eigenpairs(BIG @ BIG.T, 2, 1e-9, rng(), dense=False) # tol 1e-9: a block Krylov iteration
leading_eigenpairs(KX, 13)
leading_eigenpairs(A, 2)
""",
    "lowrank": """
f = pivoted_cholesky(Gaussian(0.7), X, 5)
f, f.rank, f.error, f.triangle, f(Y), f(X32), repr(f), pivoted_cholesky(Linear(), X).rank
pivoted_cholesky(Gaussian(0.7), X, tol=0.01).pivots, pivoted_cholesky(Gaussian(), X, 4, 0, rng())
pivoted_cholesky(Delta(), X, 3)
pivoted_cholesky(Gaussian(0.7), X, 0)
""",
    "convex": """
losses = [squared, absolute, logistic, hinge, squared_hinge]
losses = losses + [huber(0.5), quantile(0.3), epsilon_insensitive(0.2)]
[l(s, y) for l in losses], [l.conjugate(s, -0.3 * s) for l in losses], losses
[l.interval(s) for l in losses if hasattr(l, "interval")], [l.targets(s) for l in losses]
logistic.derivative(s, y), logistic.curvature(s, y)
hinge.targets(y)
[as_loss(n) for n in ("hinge", "quantile(0.9)", "huber", squared, Huber, Logistic())]
as_loss("hing")
as_loss("quantile(2)")
[c() for c in (Squared, Absolute, Huber, Quantile, EpsilonInsensitive, Logistic, Hinge, SquaredHinge)]
Loss()(s, y)
PiecewiseQuadratic().conjugate(s, y)
[check_loss(l, s, 20) for l in losses]
check_loss(Wrong(), s)
c = minimize_convex(KX, s, hinge, 0.1) # tol 1e-6: an interior-point method with a certified gap
c # tol 1e-6: an interior-point method with a certified gap
[minimize_convex(KX, s, l, 0.3, 1e-9).primal for l in losses] # tol 1e-9: iterations stop at this gap
certificate(KX, s, logistic, 0.1, 0.1 * y, -0.3 * s)
minimize_convex(KX, s, logistic, 0.1, max_iter=1, tol=1e-14)
minimize_convex(-KX, s, hinge, 0.1)
""",
    "smo": """
d = PairDistances(Gaussian(0.7), X)
[rows[places] for rows, places in (d.slots(np.array([0, 3])), d.subset(np.arange(3)).slots(np.arange(2)))]
d.in_double().gram_times(y), d.gram_times(y)
PairDistances(Linear(), X, True)
PairDistances(Sigmoid(), X)
b = BoxProblem(s, np.minimum(0, 2 * s), np.maximum(0, 2 * s), 0.1)
b, b.dual(s, y), b.losses(y), b.primal(s, y, 0.2), b.slopes(0 * s, y), b.violation(0 * s, y)
b.offset(0 * s, y)
BoxProblem(s, np.ones(12), np.ones(12))
r = solve_box(d, b)
r, solve_box(d, b, tol=1e-8).b, solve_box(d, b, r.b, max_iter=5), b.violation(r.b, s - r.f)
solve_box(d, BoxProblem(s, 0 * s, 1 + 0 * s, total=3.0))
solve_box(d, BoxProblem(s, 0 * s, 1 + 0 * s, total=3.0), start=np.full(12, 0.25))
""",
    "resampling": """
resampled_pvalue(3.0, [1, 2, 3, 4]), resampled_pvalue(3.0, [1, 2, 3.05, 4], 0.1)
critical_value(np.arange(99.0))
resampled_pvalue(nan, [1, 2])
critical_value(np.arange(9.0), 0.01), critical_value(np.arange(19.0), 0.2), binomial_interval(0.05, 400, 0.9)
t = TestResult.from_draws(2.0, np.arange(19.0), name="S", method="none", hypothesis="this")
t, str(t), t.critical(), t.rejects(0.5), drawn(t.plot()), TestResult(1.0, 0.2, np.arange(5.0), exact=False)
random_labels(3, 8, 5, rng()), random_signs(6, 4, rng())
in_batches(lambda b, r: random_signs(6, b, r), lambda S: S.sum(0), 48, 10, rng())
linear_forms(y, SIGNS), linear_forms(y2, SIGNS), quadratic_forms(KX, SIGNS)
quadratic_forms(KX, SIGNS, single=True)
quadratic_forms(lambda i, j: KX[i, j], SIGNS)
[v(3.0) if callable(v) else v for v in gamma_null(2.0, 1.0, 9, 0.5)], chi2_mixture([3.0, 1.0], 6, rng(), 0.5)
studentised_max(np.array([1.0, 2.0]), X)
""",
    "fourier": """
cosines_and_sines(X, A[:, :2]), cosines_and_sines(sparse(X), A[:, :2], 2.0)
cosines_and_sines(X32, A[:, :2].astype("f4"))
shifted_cosines(X, A[:, :2], y[:5]), shifted_cosines(sparse(X), A[:, :2], y[:5], [1.0, 2.0, 3.0, 4.0, 5.0])
""",
    "plots": """
drawn(plot_classes(X, words)), drawn(plot_classes(x, s[:10])), drawn(heatmap(KX))
drawn(heatmap(-KX, label="a"))
drawn(plot_decision(lambda z: z[:, 0], X, s, resolution=9))
plot_classes(A, s[:5])
use_style(), palette, ACCENT, WARM, GOLD, GREEN, VIOLET, INK, MUTED, SEQUENTIAL, DIVERGING, SINGLE, WIDE
SQUARE
f = frames(lambda v: heatmap(v * KX), {"one": 1, "two": 2}, "factor", alt=lambda v: f"K times {v}")
f.names, f.alts, f.label, f.start, len(f.html()) > 1000, isinstance(f, Frames)
frames(lambda v: heatmap(KX), [])
""",
    "exercises": """
v = check("00.5", lambda p: p * (p + 1) * (p + 2) / math.sqrt(3), rng=rng())
v, check("00.5", lambda p: (p * (p + 1) * (p + 2)) ** 2 / 3, rng=rng())
check("01.1", lambda X, Y: X @ Y.T, 2, rng())
check("99.1", len)
sorted(exercise_table("01.1")), exercise_table("00.5")["answer"](4), Verdict("00.1", True, "fine")
[check_exercises(f"{c:02d}", rng()) for c in range(5)]
[check_exercises(f"{c:02d}", rng()) for c in range(5, 13)]
""",
    "cli": """
notebook_folder(), len(notebook_titles(notebook_folder())) > 10
list(notebook_titles(notebook_folder()).values())[:2]
""",
}

# --- fixtures: what the catalogue's lines may name ---


def data(jitter=None):
    "The small data sets, moved by an ulp if jitter is a seed"
    rng, move = np.random.default_rng(11), np.random.default_rng(jitter)
    X, Y, y, y2 = (
        rng.normal(size=(12, 2)),
        rng.normal(size=(9, 2)),
        rng.normal(size=12),
        rng.normal(size=(12, 3)),
    )
    drawn = dict(
        X=X,
        Y=Y,
        y=y,
        y2=y2,
        A=rng.normal(size=(5, 7)),
        HIGH=rng.normal(size=(6, 70)),
        BIG=rng.normal(size=(60, 2)),
        A12=np.c_[X, X**2] + 0.1 * rng.normal(size=(12, 4)),
        x=np.sort(rng.uniform(0.05, 0.95, 10)),
        T=rng.uniform(0.05, 0.95, 12),
        w=rng.uniform(0.5, 2, 12),
        MIXED=rng.uniform(-1, 1, size=(40, 2)) @ [[1.0, 0.3], [0.5, 1.0]],
    )
    if jitter is not None:
        eps = np.finfo(float).eps
        drawn = {
            name: v * (1 + eps * move.choice([-1, 0, 1], v.shape)) for name, v in drawn.items()
        }
    X, Y = drawn["X"], drawn["Y"]
    s = np.where(np.arange(12) % 3 == 1, -1.0, 1.0)
    gram = np.exp(-((X[:, None] - X) ** 2).sum(2) / 2)
    return drawn | dict(
        X32=X.astype("f4"),
        Y32=Y.astype("f4"),
        s=s,
        KX=gram,
        SIGNS=np.sign(rng.normal(size=(12, 4))),
        words=np.where(s > 0, "yes", "no"),
        three=np.arange(12) % 3,
    )


def points(which, fixtures):
    "P, Q, their float32 copies, weights G of the Gram matrix, the number d of columns: for a set of KERNELS"
    X, Y, T = (fixtures[name] for name in "XYT")
    P, Q, d = {
        "X": (X, Y, 2),
        "T": (T, np.r_[T[:3], 0.01 + T[:2]], 1),
        "I": (np.arange(12.0), np.array([0.0, 3.0]), 1),
    }.get(which, ((X[:6], X[6:]), (X[:4], Y[:4]), 4))
    n, m = (len(Z[0]) if isinstance(Z, tuple) else len(Z) for Z in (P, Q))
    P32, Q32 = (
        tuple(a.astype("f4") for a in Z) if isinstance(Z, tuple) else Z.astype("f4") for Z in (P, Q)
    )
    return dict(P=P, Q=Q, P32=P32, Q32=Q32, d=d, G=np.random.default_rng(5).normal(size=(n, m)))


def inside(context, work):
    with context:
        return work()


def heard(call):
    "What call(use) gives, and what it hands to use"
    found = []
    return [call(lambda *arguments: found.append(arguments)), found]


def tiles(k, P, Q):
    "The Gram matrix from its tiles"
    K = np.full(np.shape(k(P, Q)), math.nan)

    def store(rows, columns, block):
        K[rows, columns] = block

    k.each_tile(P, Q, store)
    return K


def drawn(ax):
    "The data behind what an Axes shows"
    lines = [line.get_xydata() for line in ax.lines]
    pictures = [image.get_array() for image in ax.images]
    marks = [c.get_offsets() for c in ax.collections]
    title = "".join(
        ax.get_title(loc=place) for place in ("left", "center", "right")
    )  # use_style moves it
    words = [title, ax.get_xlabel(), ax.get_ylabel(), [t.get_text() for t in ax.texts]]
    words.append([t.get_text() for t in ax.get_legend().get_texts()] if ax.get_legend() else [])
    ax.clear()
    return dict(lines=lines, pictures=pictures, marks=marks, words=words)


def head(d):
    "A data set in few numbers"
    return [
        d.X.shape,
        d.X.dtype,
        d.X.sum(0),
        d.X[:3],
        d.y[:9],
        d.y.dtype,
        d.name,
        d.feature_names,
        d.target_names,
    ]


def helpers(names):
    "Functions and modules that the catalogue's lines may name"
    import matplotlib

    matplotlib.use("Agg")
    import scipy.sparse
    import sklearn.gaussian_process.kernels as sklearn_kernels

    wrong = type("Wrong", (names["Logistic"],), {"derivative": lambda self, y, f: 0 * f})
    return dict(
        np=np,
        math=math,
        nan=math.nan,
        sparse=scipy.sparse.csr_array,
        SK=sklearn_kernels,
        inside=inside,
        heard=heard,
        tiles=tiles,
        drawn=drawn,
        head=head,
        Wrong=wrong,
        rng=lambda: np.random.default_rng(7),
        pickled=lambda v: pickle.loads(pickle.dumps(v)),
        eval_again=lambda k: k if "<" in repr(k) else eval(repr(k), dict(names)),
        sum_of=lambda ks: sum(ks[1:], start=ks[0]),
        planes=[lambda z: z[:, 0], lambda z: z[:, 1] + 1],
        read_of=lambda m: [m.profile, m.seed, m.block_mib, m.result_mib, m.dpi],
    )


# --- results as plain numbers, arrays and words ---


def worded(text):
    "Without what differs from run to run: addresses in memory, the place of the checkout"
    return re.sub(r"0x[0-9a-f]+", "0x…", str(text)).replace(os.getcwd(), "CHECKOUT")


def plain_text(text):
    "The words, and the numbers with a decimal point: they may differ by rounding"
    number = r"\d+\.\d+(?:e[+-]?\d+)?|\d+e[+-]?\d+"
    found = re.findall(number, text)
    return (
        {"words": re.sub(number, "#", text), "numbers": np.array(found, float)} if found else text
    )


def plain_array(a):
    if a.dtype.kind in "fciub":
        return np.array(a)
    return [plain(v) for v in a.ravel().tolist()]


def plain_object(value, depth):
    "Type, print, fields and properties of a value of ours; a kernel is its print"
    out = {"type": type(value).__name__, "print": plain_text(worded(repr(value)))}
    if any(c.__name__ == "Kernel" for c in type(value).__mro__):
        return out
    fields = (
        [f.name for f in dataclasses.fields(value)]
        if dataclasses.is_dataclass(value)
        else list(vars(value))
    )
    shown = [n for n, v in inspect.getmembers_static(type(value)) if isinstance(v, property)]
    for name in {*fields, *shown}:
        if not name.startswith("_"):
            try:
                out[name] = plain(getattr(value, name), depth + 1)
            except Exception as e:
                out[name] = f"raises {type(e).__name__}"
    return out


def plain(value, depth=0):
    "value as nested dicts and lists of numbers, arrays and words"
    if isinstance(value, np.generic):
        value = value.item()
    if value is None or isinstance(value, (bool, int, float, complex)):
        return value
    if isinstance(value, (str, Path, np.dtype, slice, range)):
        return plain_text(worded(value))
    if isinstance(value, bytes):
        return hashlib.sha1(value).hexdigest()
    if isinstance(value, np.ndarray):
        return plain_array(np.ma.filled(value, math.nan) if np.ma.isMaskedArray(value) else value)
    if hasattr(value, "toarray"):
        return {"sparse": value.toarray()}
    if isinstance(value, dict):
        return {str(key): plain(v, depth + 1) for key, v in value.items()}
    if isinstance(value, (list, tuple, set, types.GeneratorType)):
        return [plain(v, depth + 1) for v in value]
    if isinstance(value, types.ModuleType):
        return value.__name__
    if isinstance(value, type):
        return value.__name__
    ours = type(value).__module__.startswith("rkhs_notes")
    return (
        plain_object(value, depth)
        if ours and depth < 6
        else "function"
        if callable(value)
        else "object"
    )


def leaves(value, path=""):
    "{path: leaf} of nested dicts and lists"
    if isinstance(value, dict):
        return {p: v for key in value for p, v in leaves(value[key], f"{path}.{key}").items()}
    if isinstance(value, list):
        pairs = enumerate(value)
        return {f"{path}.len": len(value)} | {
            p: v for i, x in pairs for p, v in leaves(x, f"{path}[{i}]").items()
        }
    return {path: value}


# --- recording: the process that imports one checkout ---


class Late(Exception):
    "A call took more than its time."


@contextlib.contextmanager
def at_most(seconds):
    def ring(*_):
        raise Late

    signal.signal(signal.SIGALRM, ring)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)


def outcome(work, keep=True):
    "What a call gives: its leaves, or its error; its warnings; its seconds"
    out, start = {}, time.perf_counter()
    with warnings.catch_warnings(record=True) as heard:
        warnings.simplefilter("always")
        try:
            with at_most(PATIENCE), contextlib.redirect_stdout(None):
                value = work()
                out["value"] = leaves(plain(value)) if keep else {"": "accepted"}
        except Late:
            out["late"] = True
        except Exception as e:
            out["error"] = type(e).__name__, worded(e)
    out["warnings"] = sorted(
        {
            w.category.__name__
            for w in heard
            if not issubclass(w.category, (DeprecationWarning, ResourceWarning))
        }
    )
    return out | {"seconds": time.perf_counter() - start}


def statements(block):
    "(source, tree, tolerance) of each statement of a block of the catalogue"
    lines = block.splitlines()
    for node in ast.parse(block).body:
        stated = re.search(r"# tol (\S+):", lines[node.end_lineno - 1])
        yield ast.get_source_segment(block, node), node, float(stated[1]) if stated else 0.0


def run(node, names):
    "Execute a statement; an assignment has the value it binds"
    if isinstance(node, ast.Assign):
        exec(compile(ast.Module([node], []), "catalogue", "exec"), names)
        return [names[n.id] for n in ast.walk(node.targets[0]) if isinstance(n, ast.Name)]
    return eval(compile(ast.Expression(node.value), "catalogue", "eval"), names)


def members(node):
    "The parts of a statement `a, b, c`, which are recorded one by one: one that raises hides no other"
    value = node.value
    if isinstance(node, ast.Expr) and isinstance(value, ast.Tuple):
        return [ast.Expr(v) for v in value.elts]
    return [node]


def blocks():
    "(label, block, set of points, kernel) of the catalogue"
    for which, kernels in KERNELS.items():
        for text in re.split(r"\s*\|\s*|\s*\n\s*", kernels.strip()):
            yield f"{text} on {which}", f"k = {text}\n" + OF_A_KERNEL.strip(), which
    for module, block in CALLS.items():
        yield module, block, None


def spoiled(value, kernel_class):
    "(word, bad value) for an argument"
    if isinstance(value, bool):
        return [("'no'", "no")]
    if isinstance(value, (int, float)):
        return [("-1", -1), ("nan", math.nan), ("'a'", "a")]
    if isinstance(value, str):
        return [("'nonsense'", "nonsense"), ("3.5", 3.5)]
    if isinstance(value, kernel_class):
        return [("'a'", "a"), ("None", None)]
    if isinstance(value, np.ndarray) and value.dtype.kind == "f" and value.ndim and value.size > 1:
        holed = value.copy()
        holed[(0,) * value.ndim] = math.nan
        text = np.full(value.shape, "text")
        return [
            ("with NaN", holed),
            ("text", text),
            ("a row short", value[:-1]),
            ("a cube", value.reshape(1, 1, -1)),
        ]
    return []


def calls_within(node):
    "The calls in a statement, not those inside functions and loops"
    todo = [node]
    while todo:
        node = todo.pop()
        if isinstance(node, ast.Call):
            yield node
        if not isinstance(node, (ast.Lambda, ast.ListComp, ast.DictComp, ast.GeneratorExp)):
            todo.extend(ast.iter_child_nodes(node))


def refusals(node, names, public, bound, seen):
    "Spoil each argument of each call of a public name or a bound object, unless the same was done before"
    for call in calls_within(node):
        root = call.func
        while isinstance(root, ast.Attribute):
            root = root.value
        if not isinstance(root, ast.Name) or root.id not in public | bound:
            continue
        callee = ast.unparse(call.func)
        arguments = [*enumerate(call.args), *((k.arg, k.value) for k in call.keywords if k.arg)]
        for place, argument in arguments:
            key = callee, place, root.id if root.id in bound else ""
            if key not in seen and not isinstance(argument, ast.Starred):
                seen.add(key)
                yield from spoiled_calls(call, callee, place, argument, names)


def spoiled_calls(call, callee, place, argument, names):
    try:
        value = eval(compile(ast.Expression(argument), "catalogue", "eval"), names)
    except Exception:
        return
    bad = ast.Name("BAD", ast.Load())
    args = [bad if i == place else a for i, a in enumerate(call.args)]
    keywords = [ast.keyword(k.arg, bad if k.arg == place else k.value) for k in call.keywords]
    tree = ast.fix_missing_locations(ast.Expression(ast.Call(call.func, args, keywords)))
    code = compile(tree, "catalogue", "eval")
    for word, bad_value in spoiled(value, names["Kernel"]):
        yield (
            f"{callee}(argument {place} = {word})",
            outcome(lambda v=bad_value: eval(code, names | {"BAD": v}), keep=False),
        )


def record_block(label, block, names, public, spoil, out):
    "Run a block statement by statement; spoil is whether to spoil its calls too"
    import matplotlib.pyplot as plt

    bound, seen = set(), out["seen"]
    for source, node, tolerance in statements(block):
        parts = members(node)
        for part in parts:
            text = source if len(parts) == 1 else ast.unparse(part)
            found = outcome(lambda p=part: run(p, names))
            out["calls"][f"{label}: {text}"] = found | {"tolerance": tolerance}
        plt.close("all")
        if isinstance(node, ast.Assign):
            bound |= {n.id for n in ast.walk(node.targets[0]) if isinstance(n, ast.Name)}
            seen -= {key for key in seen if key[2] in bound}
        if spoil:
            for where, refused in refusals(node, names, public, bound, seen):
                out["refusals"][f"{label}: {where}"] = refused
        if label not in CALLS and "error" in found and isinstance(node, ast.Assign):
            return  # no such kernel: nothing to call


def public_value(module, name):
    "rkhs_notes.module.name, None if there is none"
    try:
        return getattr(importlib.import_module(f"rkhs_notes.{module}"), name)
    except (AttributeError, ImportError):
        return None


def record_calls(wanted, jitter):
    "Every line of the catalogue, for data moved by an ulp if jitter is a seed"
    names = {
        name: found for module, name in wanted if (found := public_value(module, name)) is not None
    }
    public, base = set(names), names | {"settings": importlib.import_module("rkhs_notes").settings}
    out = {"calls": {}, "refusals": {}, "seen": set()}
    for label, block, which in blocks():
        fixtures = data(jitter)
        scope = base | helpers(names) | fixtures | (points(which, fixtures) if which else {})
        spoil = jitter is None and (
            which is None or label.startswith("Gaussian(0.8) + Linear() on")
        )
        record_block(label, block, scope, public, spoil, out)
    return out["calls"], out["refusals"]


def public_names():
    "(module, name) of everything in an __all__"
    import rkhs_notes

    stems = sorted(p.stem for p in Path(rkhs_notes.__file__).parent.rglob("[!_]*.py"))
    with warnings.catch_warnings():
        warnings.simplefilter(
            "ignore", DeprecationWarning
        )  # former addresses, which both checkouts know
        modules = {stem: importlib.import_module(f"rkhs_notes.{stem}") for stem in stems}
    return [(stem, name) for stem, module in modules.items() for name in module.__all__]


def signature(value):
    "{argument: default} and the annotations in words"
    try:
        found = inspect.signature(value)
    except (TypeError, ValueError):
        return {}, ""
    arguments = {
        name: f"{p.kind.name}, default {worded(p.default)}" for name, p in found.parameters.items()
    }
    kinds = [p.annotation for p in found.parameters.values()] + [found.return_annotation]
    words = [
        str(m)
        + " "
        + " ".join(v for v in getattr(m, "__dict__", {}).values() if isinstance(v, str))
        for kind in kinds
        for m in getattr(kind, "__metadata__", ())
    ]
    return arguments, "\n".join([*map(str, kinds), *words])


def described(value):
    "The help of a value"
    arguments, words = signature(value)
    own = inspect.getdoc(value) or ""
    if isinstance(value, type) and type(value).__init__ is not object.__init__:
        own += "\n" + (
            vars(value).get("__init__").__doc__ or "" if "__init__" in vars(value) else ""
        )
    bases = {c.__name__ for c in getattr(value, "__mro__", ()) if not c.__name__.startswith("_")}
    return {"doc": own, "words": words, "arguments": arguments, "bases": bases}


def public_members(cls, public):
    "Fields and public attributes of a class that it does not inherit from another public class"
    fields = [n for n in getattr(cls, "__dataclass_fields__", ()) if not n.startswith("_")]
    owner = {n: next((c for c in cls.__mro__ if n in vars(c)), cls) for n in dir(cls)}
    shown = [
        n for n, c in owner.items() if c is cls or c.__name__ not in public and c is not object
    ]
    return sorted({*fields, *(n for n in shown if not n.startswith("_") or n == "__call__")})


def record_help(wanted, members):
    "{name: help}, None where a name is gone; members of classes are those of `members`, or all if it is None"
    import rkhs_notes as rn

    out, public = {}, {name for _, name in wanted}
    for module, name in wanted:
        here = f"{module}.{name}"
        value = public_value(module, name)
        out[here] = None if value is None else described(value)
        out[f"rn.{name}"] = hasattr(rn, name)
        if isinstance(value, type) and not issubclass(value, BaseException):
            for member in (
                public_members(value, public) if members is None else members.get(here, ())
            ):
                out[f"{here}.{member}"] = described_member(value, member)
    return out


def described_member(cls, name):
    "The help of a method, a property or a field (which has none); None if there is no such member"
    if inspect.getattr_static(cls, name, None) is None:
        known = {
            *getattr(cls, "__dataclass_fields__", ()),
            *(n for c in cls.__mro__ for n in inspect.get_annotations(c)),
        }
        return {"doc": "", "words": "", "arguments": {}, "bases": set()} if name in known else None
    value = inspect.getattr_static(cls, name)
    return described(value if isinstance(value, property) else getattr(cls, name))


def members_of(old):
    "{module.class: members} that the help of OLD tells of; None if there is no OLD"
    found = {}
    for module, name, member in (
        k.split(".") for k in (old or {"help": ()})["help"] if k.count(".") == 2
    ):
        found.setdefault(f"{module}.{name}", []).append(member)
    return found if old else None


@contextlib.contextmanager
def functions_run(package, run):
    "Adds (file, first line) of each function of the folder `package` called in here to the set `run`"

    def note(frame, event, arg):
        if event == "call" and frame.f_code.co_filename.startswith(package):
            run.add((frame.f_code.co_filename, frame.f_code.co_firstlineno))

    for setprofile in (threading.setprofile, sys.setprofile):
        setprofile(note)
    try:
        yield
    finally:
        for setprofile in (threading.setprofile, sys.setprofile):
            setprofile(None)


def first_line(function):
    "Where a function begins, with its decorators"
    return min(part.lineno for part in (function, *function.decorator_list))


def documentation(tree):
    "Line numbers of all docstrings of a module"
    owners = (ast.Module, ast.ClassDef, ast.FunctionDef)
    documented = [
        node for node in ast.walk(tree) if isinstance(node, owners) and ast.get_docstring(node)
    ]
    strings = [node.body[0] for node in documented]
    return {line for string in strings for line in range(string.lineno, string.end_lineno + 1)}


def lines_run(checkout, target, old=None):
    "The part of the process that counts: {file: (functions, lines, lines of documentation)} of what is run"
    os.chdir(checkout)
    import rkhs_notes

    wanted, run = pickle.loads(Path(old).read_bytes()) if old else public_names(), set()
    with functions_run(str(Path(rkhs_notes.__file__).parent), run):
        record_calls(wanted, 1)
    found = {}
    for path in sorted({path for path, _ in run}):
        tree = ast.parse(Path(path).read_text(encoding="utf-8"))
        functions = [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)]
        called = [f for f in functions if (path, first_line(f)) in run]
        lines = {line for f in called for line in range(first_line(f), f.end_lineno + 1)}
        found[Path(path).stem] = (len(called), len(lines), len(lines & documentation(tree)))
    Path(target).write_bytes(pickle.dumps({"wanted": wanted, "found": found}))


def compare_run(old_path, new_path):
    "Print how many lines the functions take that the same calls run in two checkouts"
    old = recording(old_path, way="--lines")
    for path, run in ((old_path, old), (new_path, recording(new_path, old["wanted"], "--lines"))):
        functions, lines, documented = np.sum([*run["found"].values()], axis=0)
        print(f"{path}: {functions} functions of {lines} lines, {documented} of them documentation")
        longest = sorted(run["found"].items(), key=lambda item: -item[1][1])
        print("   ", ", ".join(f"{stem} {n[1]}" for stem, n in longest))


def record(checkout, target, source=None):
    "The part of the process that imports: everything about one checkout, pickled"
    os.chdir(checkout)
    import rkhs_notes as rn

    assert Path(rn.__file__).resolve().is_relative_to(Path(checkout).resolve()), rn.__file__
    old = pickle.loads(Path(source).read_bytes()) if source else None
    wanted = old["wanted"] if old else public_names()
    calls, refused = record_calls(wanted, None)
    out = dict(
        wanted=wanted, calls=calls, refusals=refused, help=record_help(wanted, members_of(old))
    )
    if not old:
        out["moved"] = [record_calls(wanted, seed)[0] for seed in (1, 2, 3)]
    Path(target).write_bytes(pickle.dumps(out))


def recording(checkout, source=None, way="--record"):
    "Run `record`, or with way='--lines' `lines_run`, in a process of its own"
    with tempfile.TemporaryDirectory() as folder:
        target = Path(folder) / "record.pickle"
        command = [sys.executable, str(Path(__file__).resolve()), way, str(checkout), str(target)]
        environment = {k: v for k, v in os.environ.items() if not k.startswith("RKHS_NOTES_")}
        environment |= {
            "PYTHONPATH": str(checkout),
            "OMP_NUM_THREADS": "1",
            "MPLBACKEND": "Agg",
            "PYTHONHASHSEED": "0",
        }
        if source is not None:
            (Path(folder) / "old.pickle").write_bytes(pickle.dumps(source))
            command.append(str(Path(folder) / "old.pickle"))
        subprocess.run(command, check=True, env=environment)
        return pickle.loads(target.read_bytes())


# --- comparing ---


def gap(a, b):
    "How far two leaves are apart, relative to the largest entry of a; ∞ if they are of different kinds"
    if isinstance(a, (str, bool, int, type(None))) or isinstance(b, (str, bool, type(None))):
        return 0.0 if type(b) in (type(a), float, int) and a == b else math.inf
    a, b = np.asarray(a), np.asarray(b)
    if a.shape != b.shape or (a.ndim and a.dtype != b.dtype):
        return math.inf
    if a.dtype.kind in "iub":
        return 0.0 if np.array_equal(a, b) else math.inf
    finite = np.isfinite(a)
    if (
        not np.array_equal(a[~finite], b[~finite], equal_nan=True)
        or not np.isfinite(b[finite]).all()
    ):
        return math.inf
    differ = float(np.abs(a[finite] - b[finite]).max(initial=0.0))
    scale = float(np.abs(a[finite]).max(initial=0.0))
    units = np.finfo(a.dtype).eps / np.finfo(float).eps
    return 0.0 if differ <= ROUNDING * units else differ / scale / units if scale else math.inf


def shown(value):
    text = (
        np.array2string(value, threshold=6, edgeitems=2, precision=6)
        if isinstance(value, np.ndarray)
        else repr(value)
    )
    text = " ".join(text.split())
    return text if len(text) < 150 else text[:150] + " …"


def compare_values(where, old, new, moved, stated):
    "Differences of two results, leaf by leaf; how a kernel prints is its value"
    is_kernel = all(path.startswith((".type", ".print")) for path in old)
    for path, a in old.items():
        if path not in new:
            yield "attribute lost", where + path, shown(a)
            continue
        condition = max((gap(a, m[path]) if path in m else math.inf for m in moved), default=0.0)
        distance = gap(a, new[path])
        if distance > max(TOLERANCE, stated, CONDITION * condition):
            kind = "printed differently" if ".print" in path and not is_kernel else "value"
            size = f"by {distance:.1e} of its size, " if distance < math.inf else ""
            yield kind, where + path, f"{size}was {shown(a)}, is {shown(new[path])}"


def compare_call(where, old, new, moved):
    "Differences of two outcomes"
    if "late" in old or "late" in new:
        if "late" not in old:
            yield "too slow", where, f"was {old['seconds']:.2f} s, is over {PATIENCE} s"
        return
    if "error" in old and "error" in new:
        if old["error"][0] != new["error"][0]:
            yield (
                "other error",
                where,
                f"was {' '.join(old['error'])[:150]} — is {' '.join(new['error'])[:150]}",
            )
        elif old["error"][1] != new["error"][1]:
            yield "reworded", where, f"was {old['error'][1][:200]} — is {new['error'][1][:200]}"
    elif "error" in old:
        yield "no longer refused", where, f"was {' '.join(old['error'])[:200]}"
    elif "error" in new:
        yield "refused now", where, f"{' '.join(new['error'])[:250]}"
    else:
        results = [m["value"] for m in moved if "value" in m]
        yield from compare_values(
            where, old["value"], new["value"], results, old.get("tolerance", 0.0)
        )
    if old["warnings"] != new["warnings"]:
        yield "other warnings", where, f"was {old['warnings']}, is {new['warnings']}"


def compare_calls(old, new):
    for group in ("calls", "refusals"):
        for where, found in old[group].items():
            moved = [m[where] for m in old["moved"] if where in m] if group == "calls" else []
            if where in new[group]:
                yield from compare_call(where, found, new[group][where], moved)
            else:
                yield "call not made", where, "an object it needs is of another kind"


ENTRY = r"(?:[^\W\d]\w{0,11}|\d+|…)(?: ?[·/+−*-] ?(?:\w{1,8}))*[²³]?"
SHAPE = re.compile(rf"\((?:{ENTRY}, ?(?:{ENTRY}(?:, ?{ENTRY})*)?)\)")
HEADING = re.compile(r"(?m)^([A-Z][\w ]+)\n-{3,}\n")


def section(doc, title):
    "The lines of a section of a docstring in NumPy's style"
    parts = HEADING.split(doc)
    return dict(zip(parts[1::2], parts[2::2], strict=True)).get(title, "")


def left_column(text):
    "The words before the two spaces, of the lines that are not indented"
    heads = [
        re.split(r"\s{2,}| : ", line)[0]
        for line in text.splitlines()
        if line and not line[0].isspace()
    ]
    return {w.strip(" *") for head in heads for w in re.split(r", | or ", head)}


def cited(text):
    "Names and years, and places such as L2"
    return set(re.findall(r"\b(?:[A-ZÀ-Þ][\w’'-]+|L\d|\d{4})", text))


def facts(help_):
    "What a reader must not lose"
    doc = help_["doc"]
    everything = doc + "\n" + help_["words"]
    references = section(doc, "References")
    return {
        "shape": {re.sub(r"\s", "", s) for s in SHAPE.findall(everything)},
        "exception": {
            w for w in left_column(section(doc, "Raises")) if re.fullmatch(r"[A-Z]\w+", w)
        },
        "documented argument": left_column(section(doc, "Parameters")),
        "section": set(HEADING.findall(doc)),
        "base": help_["bases"],
        "citation": cited(references),
        "references": {" ".join(references.split())} if references else set(),
    }


def said(was, now):
    "Facts that a docstring has in its sentences, and so the headings that it does without"
    parts = HEADING.split(now["doc"])
    words = set(re.findall(r"\w+", parts[0]))
    asked = {
        "Parameters": left_column(section(was["doc"], "Parameters")),
        "Raises": left_column(section(was["doc"], "Raises")),
        "Returns": set(re.findall(r"\w+", " ".join(left_column(section(was["doc"], "Returns"))))),
    }
    small = {"array", "or", "of"}
    named = {kind: {w for w in left - small if w in words} for kind, left in asked.items()}
    headings = {kind for kind, left in asked.items() if left and left - small <= words}
    arguments = named["Parameters"] if "Parameters" not in parts[1::2] else set()
    return {"section": headings, "documented argument": arguments, "exception": named["Raises"]}


def compare_help(old, new):
    "What the help of OLD says and that of NEW does not"
    for where, was in old.items():
        now = new.get(where)
        if was is True or was is False:
            if was and not now:
                yield "name lost", where, "does not resolve"
            continue
        if was is None:
            continue
        if now is None:
            yield "name lost", f"rkhs_notes.{where}", "does not resolve"
            continue
        before, after = facts(was), facts(now)
        after["shape"] |= {
            s for s in before["shape"] if s in re.sub(r"\s", "", now["doc"] + now["words"])
        }
        after["documented argument"] |= set(re.findall(r"\w+", section(now["doc"], "Parameters")))
        for kind, facts_in_words in said(was, now).items():
            after[kind] |= facts_in_words
        for kind in before:
            for lost in sorted(before[kind] - after[kind]):
                if kind == "references":
                    if not before["citation"] - after["citation"]:
                        yield (
                            "references reworded",
                            where,
                            f"was {lost} — is {' '.join(after[kind]) or 'none'}",
                        )
                else:
                    yield f"{kind} lost", where, lost
        if len(was["doc"]) > 0 and not now["doc"]:
            yield "help lost", where, was["doc"][:80]
        for name, form in was["arguments"].items():
            if now["arguments"].get(name) != form:
                yield (
                    "signature",
                    where,
                    f"{name} was {form}, is {now['arguments'].get(name, 'gone')}",
                )


MILD = ("reworded", "references reworded", "printed differently", "other warnings")


def report(differences, limit):
    "Print by kind; the number of real ones"
    kinds, expected = {}, Counter()
    for kind, where, text in differences:
        said = f"{kind}: {where}", f"{kind}: {where}: {text}"
        reason = next((r for p, r in EXPECTED.items() if any(re.search(p, s) for s in said)), None)
        if reason:
            expected[reason] += 1
        else:
            kinds.setdefault(kind, []).append((where, text))
    for kind in sorted(kinds, key=lambda k: (k in MILD, k)):
        found = kinds[kind]
        print(
            f"\n== {kind}: {len(found)}"
            + (" (no loss in itself: read them)" if kind in MILD else "")
        )
        for where, text in found[:limit]:
            print(f"  {where}\n      {text}")
        if len(found) > limit:
            print(f"  … and {len(found) - limit} more (--all)")
    for reason, n in expected.items():
        print(f"expected: {n:4} {reason}")
    real = sum(len(v) for kind, v in kinds.items() if kind not in MILD)
    mild = sum(map(len, kinds.values())) - real
    print(f"\n{real} differences, {mild} reworded, {sum(expected.values())} expected")
    return real


def is_unsteady(where, old):
    "Does an ulp in the data change a count or a word of this call?"
    values = old["calls"][where].get("value", {})
    moved = [m[where].get("value", {}) for m in old["moved"]]
    return any(gap(a, m.get(path)) == math.inf for m in moved for path, a in values.items())


def coverage(old):
    "Print how much is compared, and what is not"
    text = "\n".join([*KERNELS.values(), OF_A_KERNEL, *CALLS.values()])
    used = set(re.findall(r"\w+", text))
    seen = {
        p.split(".")[-1].split("[")[0] for c in old["calls"].values() for p in c.get("value", ())
    } | used
    uncalled = [f"{m}.{n}" for m, n in old["wanted"] if n not in used]
    members = [k for k in old["help"] if k.count(".") == 2]
    unseen = sorted({k for k in members if k.split(".")[-1] not in seen and "__" not in k})
    calls, ways = old["calls"], Counter("error" in c for c in old["calls"].values())
    slow = [w for w, c in calls.items() if c["seconds"] > 0.5]
    unsteady = [where for where in calls if is_unsteady(where, old)]
    print(
        f"{len(calls)} calls ({ways[True]} of which raise), {len(old['refusals'])} spoiled calls, "
        f"{sum(len(c.get('value', ())) for c in calls.values())} values; "
        f"{len(old['wanted'])} public names, {len(members)} members, {len(old['help'])} entries of help"
    )
    print(f"public names in no call ({len(uncalled)}): {', '.join(uncalled)}")
    print(f"members in no call ({len(unseen)}): {', '.join(unseen)}")
    print(f"calls over half a second ({len(slow)}): {'; '.join(slow)}")
    print(
        f"calls with a count or word that an ulp in the data changes ({len(unsteady)}):",
        "; ".join(unsteady),
    )


# --- counts ---


def group_of(stem):
    "Which part of the book a notebook is"
    if number := re.match(r"\d\d", stem):
        n = int(number[0])
        return "Part I" if n <= 4 else "Parts II, III" if n <= 12 else "Part IV"
    return (
        {"S": "engines", "V": "exercises", "W": "above", "X": "above", "Y": "above"}.get(
            stem[0], "appendices"
        )
        if stem[1:2] == "_"
        else "index"
    )


def exported_cells(notebook):
    "Lengths of the exported cells: neither blank lines, nor directives, nor cells of imports only"
    for cell in json.loads(notebook.read_text(encoding="utf-8"))["cells"]:
        source = "".join(cell["source"])
        if cell["cell_type"] != "code" or not re.search(r"(?m)^#\|\s*exporti?\b", source):
            continue
        body = [line for line in source.splitlines() if line.strip() and not line.startswith("#|")]
        if not all(re.match(r"(from|import|\s|\)|use_style|rng\b)", line) for line in body):
            yield len(body)


def count_cells(checkout):
    "{group: {notebook: lengths of its exported cells}}"
    groups = {}
    for notebook in sorted((checkout / "nbs").rglob("*.ipynb")):
        if lengths := list(exported_cells(notebook)):
            groups.setdefault(group_of(notebook.stem), {})[notebook.stem] = lengths
    return groups


def our_errors(package):
    "TypeError, ValueError, MemoryError, and the classes of errors of this package"
    found, grew = {"TypeError", "ValueError", "MemoryError"}, True
    classes = [
        n
        for p in package.rglob("*.py")
        for n in ast.walk(ast.parse(p.read_text(encoding="utf-8")))
        if isinstance(n, ast.ClassDef)
    ]
    ours = {"RKHSError"}
    while grew:
        new = {
            c.name
            for c in classes
            if any(isinstance(b, ast.Name) and b.id in ours for b in c.bases)
        }
        ours, grew = ours | new, not new <= ours
    return found | ours


def guard_lines(tree, errors):
    "(number of guards, lines that they and the `if`, `try` or `except` above them span)"
    parent = {child: node for node in ast.walk(tree) for child in ast.iter_child_nodes(node)}
    count, lines = 0, set()
    for node in ast.walk(tree):
        raised = (
            node.exc.func
            if isinstance(node, ast.Raise) and isinstance(node.exc, ast.Call)
            else getattr(node, "exc", None)
        )
        if (
            not isinstance(node, ast.Raise)
            or not isinstance(raised, ast.Name)
            or raised.id not in errors
        ):
            continue
        count += 1
        lines |= set(range(node.lineno, node.end_lineno + 1))
        above = parent[node]
        if isinstance(above, ast.If):
            lines |= set(range(above.lineno, above.test.end_lineno + 1))
        elif isinstance(above, ast.ExceptHandler):
            lines |= {above.lineno, parent[above].lineno}
        elif isinstance(above, ast.Try):
            lines.add(above.lineno)
    return count, len(lines)


def counts(checkout):
    "Print lines of the package, exported cells and guards"
    checkout = Path(checkout)
    package = [p for p in sorted((checkout / "rkhs_notes").rglob("*.py")) if p.name != "_modidx.py"]
    sources = {p.stem: p.read_text(encoding="utf-8") for p in package}
    full = sum(bool(line.strip()) for s in sources.values() for line in s.splitlines())
    lines = sum(len(s.splitlines()) for s in sources.values())
    print(
        f"\nCOUNTS of {checkout}: {lines} lines of the package, {full} not blank, {len(sources)} modules"
    )
    errors = our_errors(checkout / "rkhs_notes")
    guards = {stem: guard_lines(ast.parse(s), errors) for stem, s in sources.items()}
    print(
        f"guards: {sum(g for g, _ in guards.values())} raise statements, "
        f"{sum(n for _, n in guards.values())} lines with the lines that guard them"
    )
    for group, pages in count_cells(checkout).items():
        n = sorted(length for lengths in pages.values() for length in lengths)
        print(
            f"{group:14} {len(n):4} exported cells: median {statistics.median(n):g}, "
            f"p90 {n[int(0.9 * (len(n) - 1))]}, longest {n[-1]}, over 40: {sum(a > 40 for a in n)}, "
            f"over 60: {sum(a > 60 for a in n)}; lines {sum(n)}, median {_median_lines(pages):g} a page"
        )
        for page, lengths in pages.items():
            raised, spanned = guards.get(re.sub(r"^(\d+[a-z]?|[A-Z])_", "", page), (0, 0))
            print(
                f"    {page:22} {len(lengths):3} cells {sum(lengths):5} lines, longest {max(lengths):3}, "
                f"{raised:3} guards on {spanned:4} lines"
            )


def _median_lines(pages):
    return statistics.median(sum(lengths) for lengths in pages.values())


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("checkouts", nargs="*", type=Path, help="OLD and NEW")
    parser.add_argument("--all", action="store_true", help="list every difference")
    parser.add_argument(
        "--counts", type=Path, metavar="CHECKOUT", help="counts of one checkout, nothing else"
    )
    parser.add_argument(
        "--run", action="store_true", help="lines of the functions that the catalogue runs"
    )
    parser.add_argument("--record", nargs="+", help=argparse.SUPPRESS)
    parser.add_argument("--lines", nargs="+", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.record:
        return record(*arguments.record)
    if arguments.lines:
        return lines_run(*arguments.lines)
    if arguments.counts:
        return counts(arguments.counts)
    if len(arguments.checkouts) != 2:
        parser.error("pass two checkouts, OLD and NEW")
    old_path, new_path = (path.resolve() for path in arguments.checkouts)
    if arguments.run:
        return compare_run(old_path, new_path)
    old = recording(old_path)
    new = recording(new_path, {key: old[key] for key in ("wanted", "help")})
    coverage(old)
    real = report(
        [*compare_calls(old, new), *compare_help(old["help"], new["help"])],
        10**9 if arguments.all else 10,
    )
    for path in (old_path, new_path):
        counts(path)
    sys.exit(min(real, 100))


if __name__ == "__main__":
    main()
