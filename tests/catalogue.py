"""What everyone may ask: calls of the whole public surface, a line each (answers.py keeps what they give).

KERNELS holds kernels on a set of points, and each line of OF_A_KERNEL is asked of every one. CALLS holds the
lines of a module, in order; what a line assigns, the next ones may name. `# tol` after a line states the
tolerance of a solver that stops there. Below them stands what the lines may name.
"""

import contextlib
import io
import math
import pickle
import re
import tempfile
from pathlib import Path

import numpy as np

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
lp_norm([[1e-250, 1e-250], [1e250, 1e250]], 2)
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
drawn(mmd_test_split(None, BIG[:20], BIG[20:] + 1, 0.5, 19).plot())
drawn(mmd_test_split(None, BIG[:20, 0], BIG[20:, 0] + 1, 0.5, 19).plot())
drawn(mmd_test_split(None, A12[:6], A12[6:] + 1, 0.5, 19).plot())
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
use_style(), style_now(), palette, ACCENT, WARM, GOLD, GREEN, VIOLET, INK, MUTED, SEQUENTIAL, DIVERGING
SINGLE, WIDE, SQUARE
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
    "estimators": """
BX, by, bs = BIG[:40], np.sin(BIG[:40, 0]) + 0.1 * BIG[:40, 1], np.where(BIG[:40, 0] > 0.2, "b", "a")
b3 = np.where(BIG[:40, 1] > 0.5, 2, np.where(BIG[:40, 0] > 0, 1, 0))
r = KernelRidge().fit(BX, by)
fitted(r), r.predict(Y), r.score(BX, by), r, r.get_params()
fitted(KernelRidge(Gaussian(0.7), lam=0.1).fit(BX, by, np.arange(40) + 1.0))
KernelRidge(Gaussian(0.7), lam=0.1, offset=False).fit(BX, np.c_[by, -by]).predict(Y)
KernelRidge(route="nystrom").fit(BX, by)
KernelRidge(Gaussian(0.7), 0.1, route="landmarks").fit(BX, by).predict(Y)
KernelRidge(Gaussian(0.7), 0.1, route="features").fit(BX, by).predict(Y)
KernelRidge(effort="full").fit(BX, by).predict(Y)
r.predict(HIGH)
KernelRidge().predict(Y)
KernelRidge(lam=-1.0).fit(BX, by)
KernelRidge(effort="x").fit(BX, by)
KernelRidge().fit(BX, by[:3])
KernelRidge().set_params(lamb=2)
KernelRidge(bandwidth="x").fit(BX, by)
KernelRidge("gauss").fit(BX, by)
r.predict(pd.DataFrame(Y, columns=["u", "v"]))
q = KernelRidge(Gaussian(), 0.1).fit(pd.DataFrame(BX, columns=["u", "v"]), by)
fitted(q), q.predict(pd.DataFrame(Y, columns=["u", "v"]))
q.predict(pd.DataFrame(Y, columns=["v", "u"]))
g = EST.GaussianProcess().fit(BX, by) # tol 1e-4
g.predict(Y), g.predict(Y, return_std=True), g.predict(Y, return_cov=True) # tol 1e-4
h = EST.GaussianProcess(Gaussian(0.7), noise=0.1).fit(BX, by)
fitted(h), h.predict(Y, return_std=True), h.sample_y(Y, 2, 3), h.score(BX, by), h
h.predict(Y, return_std=True, return_cov=True)
c = KernelSVC(Gaussian(0.7), 1.0).fit(BX, bs)
fitted(c), c.predict(Y), c.decision_function(Y), c.score(BX, bs), c # tol 2e-3
KernelSVC(Gaussian(0.7), 1.0).fit(BX, b3).decision_function(Y) # tol 2e-3
KernelSVC(Gaussian(0.7), 1.0, class_weight="balanced").fit(BX, bs).decision_function(Y) # tol 2e-3
KernelSVC(Gaussian(0.7), 1.0, class_weight={"a": 2.0, "b": 1.0}).fit(BX, bs).decision_function(Y) # tol 2e-3
KernelSVC(Gaussian(0.7), 1.0, probability=True).fit(BX, bs).predict_proba(Y) # tol 5e-3
KernelSVC(Gaussian(0.7), 1.0, probability=True).fit(BX, b3).predict_proba(Y) # tol 5e-3
KernelSVC().fit(BX, bs).C_, KernelSVC(Gaussian(0.7)).fit(BX, bs).predict(Y)
KernelSVC(class_weight={"z": 1.0}).fit(BX, bs)
c.predict_proba(Y)
KernelSVC().fit(BX, np.ones(40))
v = KernelSVR(Gaussian(0.7), 1.0, 0.1).fit(BX, by)
fitted(v), v.predict(Y), v # tol 2e-3
KernelSVR(Gaussian(0.7)).fit(BX, by).C_, KernelSVR(C=1.0).fit(BX, by).epsilon_
o = OneClassKernelSVM().fit(BX)
o.score_samples(Y), o.decision_function(Y), o.predict(Y), fitted(o), o # tol 2e-3
OneClassKernelSVM(nu=1.5).fit(BX)
l = KernelLogistic().fit(BX, bs) # tol 1e-4
l.predict_proba(Y), l.decision_function(Y), l.predict(Y) # tol 1e-4
KernelLogistic(Gaussian(0.7), 2.0).fit(BX, b3).predict_proba(Y) # tol 1e-4
KernelLogistic(Gaussian(0.7), 2.0, class_weight="balanced").fit(BX, bs).predict_proba(Y) # tol 1e-4
fitted(KernelLogistic(Gaussian(0.7), 2.0).fit(BX, bs)) # tol 1e-4
p = KernelPCA().fit(BX)
fitted(p), (lambda T: T @ T.T)(p.transform(Y)), p.inverse_transform(p.transform(Y)), p
(lambda T: T @ T.T)(KernelPCA(Gaussian(0.7), 3).fit_transform(BX)), p.get_feature_names_out()
KernelPCA(n_components=41).fit(BX)
f = RandomFeatures(n_features=20).fit(BX)
f.transform(Y), fitted(f), f, f.get_feature_names_out()
n = NystromFeatures(n_landmarks=5).fit(BX)
(lambda T: T @ T.T)(n.transform(Y)), fitted(n), NystromFeatures(n_landmarks=99).fit(BX).transform(Y).shape
(lambda T: T @ T.T)(NystromFeatures(Gaussian(), 5, landmarks="kmeans").fit(BX).transform(Y))
a = KernelCCA(reg=0.1).fit(BX, BX @ [[1.0, 0.5], [0.0, 1.0]])
np.abs(a.transform(Y)), np.abs(a.transform_y(Y)), fitted(a), a
e = CoupledEmbedding(n_components=2).fit(BX, np.c_[BX, BX**2])
e.transform(BX), fitted(e), e
d = TwoSampleDrift(n_permutations=99).fit(BX)
d.test(BX + 1), d.drifted(BX + 1), d.drifted(BX), d.score(BX + 1), fitted(d), d, d.compare(BX + 1)
[i for i in (KernelRidge()._repr_html_(), c._repr_html_())]
""",
    "streaming": """
BX, by, bs = BIG, np.sin(BIG[:, 0]) + 0.1 * BIG[:, 1], np.where(BIG[:, 0] > 0.2, "b", "a")
r = StreamingKernelRidge(n_features=12, random_state=3)
[r.partial_fit(BX[i : i + 20], by[i : i + 20]) for i in (0, 20, 40)][-1].predict(Y)
r, fitted(r), StreamingKernelRidge(Gaussian(0.7), 0.1, 12).fit(BX, by).predict(Y)
StreamingKernelRidge(Gaussian(0.7), n_features=12).fit(BX, np.c_[by, -by], np.arange(60) + 1.0).predict(Y)
StreamingKernelRidge(Gaussian(0.7), 0.1, 12).fit_blocks([(BX[:30], by[:30]), (BX[30:], by[30:])]).predict(Y)
StreamingKernelRidge(lam="x").fit(BX, by)
StreamingKernelRidge().predict(Y)
r.partial_fit(HIGH, y[:6])
c = StreamingKernelClassifier(n_features=12, random_state=3)
[c.partial_fit(BX[i : i + 20], bs[i : i + 20], ["a", "b"]) for i in (0, 20, 40)][-1].predict(Y)
c, fitted(c), c.predict_proba(Y), c.decision_function(Y), c.score(BX, bs)
StreamingKernelClassifier(Gaussian(0.7), 0.1, 12, class_weight="balanced").fit(BX, bs).decision_function(Y)
StreamingKernelClassifier(Gaussian(0.7), n_features=12).fit(BX, np.arange(60) % 3).predict_proba(Y)
StreamingKernelClassifier(Gaussian(), 0.1, 12).fit_blocks([(BX[:30], bs[:30]), (BX[30:], bs[30:])]).predict(Y)
c.partial_fit(BX, np.full(60, "c"))
StreamingKernelClassifier().fit(BX, np.ones(60))
""",
    "streams": """
phi = fourier_features(Gaussian(0.7), 2, 8, rng())
s1, s2 = StreamingRidge(phi).update(X[:7], y[:7]), StreamingRidge(phi).update(X[7:], y[7:])
t = s1.merge(s2)
t, t.solve(0.1)(Y), t.solve(0.1, offset=True)(Y), t.gcv([0.1, 1.0]), t.gcv([0.1, 1.0], True)
t.mean_embedding()
[f(Y) for f in t.solve([0.1, 1.0])]
t.leave_one_out([(X[:7], y[:7]), (X[7:], y[7:])], [0.1, 1.0])
t.leave_one_out([(X[:7], y[:7])], [0.1, 1.0])
StreamingRidge(phi, 3).update(X, y2, w).solve(0.1)(Y), StreamingRidge(phi).update(X, y, w).gcv([0.1, 1.0])
m1, m2 = StreamingMeans(phi).update(X), StreamingMeans(phi).update(Y)
m1, m1.mmd2(m2), m1.mmd2(m2, True), m1.components(2), m1.components(2)(Y), m1.mean_embedding()(Y)
m1.merge(m2).components(3).eigenvalues, StreamingMeans(phi).update(X, weights=w).mean_embedding()(Y)
m1.components(99)
m1.merge(StreamingMeans(fourier_features(Gaussian(), 2, 8, 5)))
StreamingRidge(phi).solve(0.1)
StreamingMeans(phi).mmd2(m1)
s1.update(X, y[:3])
stream_ridge(phi, [(X, y), (Y, y[:9])], 0.1)(Y), stream_means(phi, [X, Y]).mean_embedding()(Y)
stream_ridge(phi, [(X, y, w)], 0.2, into=s1)(Y), stream_ridge(phi, [], 0.1), stream_means(phi, [X, HIGH])
check_merge(phi, X, y, 0.1)
b = FileBlocks(file("rows.csv", "u,v,t\\n1,2,3\\n4,5,6\\n7,8,10\\n"), "t")
b, list(b), list(FileBlocks(file("rows.csv"), "t", ["v"], 2))
list(FileBlocks(file("rows.csv"), "t", weights="v"))
stream_ridge(phi, b, [0.1, 1.0])[1](Y), StreamingKernelRidge(Gaussian(2.0), 0.1, 6).fit_blocks(b).predict(Y)
list(FileBlocks(file("gaps.csv", "u,v,t\\n1,2,3\\n4,,6\\n7,8,10\\n"), "t"))
list(FileBlocks(file("gaps.csv"), "t", gaps="drop")), list(FileBlocks(file("gaps.csv"), "none"))
list(FileBlocks("no such file", "t"))
FileBlocks(file("rows.csv"), "t", ["u", 3]), FileBlocks(file("rows.csv"), ["t", "v"], "u")
stored(t).solve(0.1)(Y), stored(m1).mean_embedding()(Y)
""",
    "tables": """
t = read_table(file("rows.csv", "u,v,t\\n1,2,a\\n4,5,b\\n7,8,a\\n2,3,b\\n"))
t, list(t.blocks()), list(t.blocks(["v"])), list(t.numbers(["u", "v"], 2)), list(t.numbers(["u", "t"], 2))
read_table(file("half.csv", "u;v\\n1,5;2\\n3,25;4\\n")), list(read_table(file("half.csv")).blocks())
read_table(file("bare.csv", "1,2\\n3,4\\n")), list(read_table(file("bare.csv"), header=["p", "q"]).blocks())
list(read_table(file("quoted.csv", 'u,v\\n"a, b",2\\n"c \\x22\\x22d",4\\n')).blocks())
list(read_table(file("short.csv", "u,v\\n1,2\\n3\\n")).blocks())
list(read_table(file("wide.csv", "u,v\\n1,2,9\\n3,4\\n")).blocks())
read_table(file("twice.csv", "u,u\\n1,2\\n"))
read_table(file("empty.csv", ""))
read_table(file("rows.csv"), encoding="utf-99")
read_table("no such file.csv")
read_table(pd.DataFrame({"u": [1.0, 2.0], "w": ["a", None]})), list(read_table(X, name="X").blocks())
read_table({"a": [1]})
list(read_table(file("latin.csv", b"u,v\\n1,2\\n3,caf\\xe9 au lait\\n")).blocks())
list(read_table(file("latin.csv"), encoding="cp1252").blocks())
list(read_table(file("wide16.csv", "u,v\\n1,2\\n".encode("utf-16"))).blocks())
list(read_table(file("packed.csv", b"\\x1f\\x8b\\x08 and more\\n")).blocks())
list(read_table(file("bytes.csv", b"u,v\\n1,\\x81\\n"), encoding="cp1252").blocks())
A, B = pd.DataFrame({"u": X[:, 0], "w": words}), pd.DataFrame({"u": Y[:, 0] + 1, "w": words[:9]})
encoded(A, B), encoded(A, B, ["u"]), encoded(X, Y)
encoded(A, B, ["z"])
m = compare_tables(A, B, n_permutations=49, rng=1)
m, m.columns, m.notes, str(m), m.differs, m.to_dict(), m.to_html()
compare_tables(X, V4, n_permutations=49, rng=1), compare_tables(A, X)
compare_tables(A, B, columns=["w"], n_permutations=19, rng=2)
main_says(["compare", file("a.csv", csv_of(X)), file("b.csv", csv_of(Y + 1)), "--permutations", "49"])
main_says(["compare", file("a.csv"), file("a.csv"), "--permutations", "49"])
main_says(["compare", file("a.csv"), "nothing.csv"])
main_says(["compare", file("a.csv"), file("empty.csv")])
main_says(["compare", file("a.csv")])
main_says(["nonsense"])
main_says([])
main_says(["compare", "--help"])
""",
    "structured": """
texts, others = ["abracadabra", "cadabra", "abba", "barb"], ["dab", "bra"]
kernels = [Spectrum(2), Blended(3), Mismatch(3, 1, "abcdr"), Spectrum(1)]
kernels = kernels + [Subsequence(2, 0.7), Subsequence(3, 0.4)]
[k(texts, others) for k in kernels], [k(texts) for k in kernels], [k.diag(texts) for k in kernels], kernels
[k.normalized()(texts) for k in kernels]
[check_kernel(k, texts) for k in kernels], [k.distance(texts) for k in kernels]
[k.pairs(texts[:2], others) for k in kernels]
Spectrum(2)([1, 2])
Spectrum(0)
Mismatch(2, 3, "ab")
Mismatch(2, 1, "ab")(["abz"])
Subsequence(2, 1.5)
Subsequence(2, 0.5)(["a" * 7, [1, 2, 3]]), Subsequence(2, 0.5)([[1, 2, 3], (2, 3)])
sets = [X[:3], X[3:5], Y[:4]]
SetKernel(Gaussian(0.7))(sets), SetKernel(Linear())(sets, sets[:1]), SetKernel(Gaussian()).diag(sets)
SetKernel(Linear()).feature_map(2)(sets)
SetKernel(Gaussian())([X[:0]])
h = markov_chain(["abab", "abba"], "ab")
h, h.score(["aba", "bb"]), Fisher(h, fisher_information(h, ["abab", "bba", "aab"]))(["aba", "bb"])
MarkovChain("ab", [[0.5, 0.6], [0.5, 0.5]])
h.score(["abc"])
G = GaussianMixture([0.4, 0.6], [[0.0, 0.0], [1.0, 1.0]], [1.0, 0.5])
G, G.score(X), fisher_information(G, X), Fisher(G, fisher_information(G, X))(X, Y)
GaussianMixture([0.4, 0.7], [[0.0], [1.0]], [1.0, 0.5])
""",
    "graphs": """
path, ring = Graph([(0, 1), (1, 2), (2, 3)], list("abba")), Graph([(0, 1), (1, 2), (2, 0)], list("aba"))
star, bare = Graph([(0, 1), (0, 2), (0, 3)], list("abbb")), Graph([(0, 1), (1, 2)])
gs = [path, ring, star]
path, path == ring, hash(path) == hash(Graph([(0, 1), (1, 2), (2, 3)], list("abba"))), bare
kernels = [WeisfeilerLehman(2), WeisfeilerLehman(0), ShortestPath(), RandomWalk(0.1), RandomWalk(0.05)]
[k(gs) for k in kernels], [k(gs, [star]) for k in kernels], [k.diag(gs) for k in kernels], kernels
[k.normalized()(gs) for k in kernels], [k.pairs(gs, gs[::-1]) for k in kernels]
[check_renumbering(k, gs, rng()) for k in kernels], [k.occurrences(gs) for k in kernels[:3]]
RandomWalk(5.0)(gs)
RandomWalk(-0.1)
WeisfeilerLehman(2)([path, bare])
WeisfeilerLehman(2)(["a"])
Graph([(0, 0)], ["a"])
Graph([(0, 5)], ["a", "b"])
Graph([(0, 1), (1, 0)], ["a", "b"])
trees = [("s", ("n", "a"), ("v", "b")), ("s", ("n", "a"), ("v", "c")), ("n", "a")]
Subtree()(trees), Subtree(0.5)(trees, trees[:1]), Subtree(0.5).diag(trees), Subtree(0.5).normalized()(trees)
Subtree(0.5).pairs(trees, trees[::-1]), Subtree(2.0)
Subtree()([1])
""",
    "conditioning": """
k, l = Gaussian(0.8), Gaussian(1.0)
E = conditional_embedding(k, l, X, y2, 0.1)
E, E.weights(Y), E.mean(X[0])(y2), E.expectation(lambda u: u[:, 0], Y), check_conditional_embedding(E)
P = conditional_path(k, l, X, y2)
P, P.best, P.embedding_at(), P.embedding_at(0.5), P.loo, conditional_path(k, l, X, y2, [0.1, 1.0]).loo
kernel_sum_rule(E, Y)(y2), kernel_sum_rule(E, Measure(Y, w[:9]))(y2), kernel_chain_rule(E, Y)
B = kernel_bayes(k, l, X, y2, Y, 0.1, 0.1)
B, B.weights(y2[:3]), B.expectation(lambda u: u[:, 0], y2[:3])
F = conditional_embedding(k, l, X + 0.2, y2 + 1, 0.1)
conditional_effect(E, F, Y), nearest_measure(RKHS(l).function(y2, w / w.sum()), y2[:6])
conditional_embedding(k, l, X, y2[:3], 0.1)
""",
    "machines": """
k = Gaussian(0.7)
m, z = svc(k, X, s, 1.0), np.arange(12) % 3
m, m.predict(Y), m(Y), m.margin, m.support # tol 2e-3
nu_svc(k, X, s, 0.3)(Y), nu_svr(k, X, y, 0.4, 1.0)(Y) # tol 2e-3
nu_svc(k, X, s, 0.9)
M = svc_multiclass(k, X, z, 1.0)
M, M.predict(Y), M(Y), svc_multiclass(k, X, z, 1.0, "one-vs-rest")(Y) # tol 2e-3
svc_leave_one_out(k, X, s, [0.1, 1.0])
p = svc_probability(k, X, s, 1.0, rng=2)
p, p.probability(Y) # tol 5e-3
R = relevance_machine(k, X, y) # tol 1e-4
R.predict(Y), R.support, R.noise, R.covariance # tol 1e-4
svr_primal(lambda Z: Z, X, y, 1.0)(Y), logistic_primal(lambda Z: Z, X, s, 1.0)(Y) # tol 1e-4
svm_primal(lambda Z: Z, X, s, 1.0)(Y) # tol 1e-4
perceptron_dual(X @ X.T + 5 * np.eye(12), s, 50) # tol 1e-4
perceptron_primal(np.c_[X, 9 * np.eye(12)], s, 50), logistic_primal(lambda Z: Z, X, s, 1.0) # tol 1e-4
widest_margin(np.c_[s, X], s)
""",
    "evidence": """
k = Gaussian(0.7)
p = gaussian_process(k, X, y, 0.1)
p, p(Y), p.var(Y), p.cov(Y), p.sample(Y, 2, rng()), p.conformal_interval(Y)
fit_hyperparameters(k, X, y, 0.1), log_marginal(k, X, y, 0.1) # tol 1e-4
irrelevant_columns(Mahalanobis([1.0, 0.001]), X, y, 0.1) # tol 1e-4
L = learn_noise(k, X, y, 0.1, max_iter=5) # tol 1e-3
L # tol 1e-3
j = jackknife_plus(k, X, y, 0.1)
j, j(Y), j.conformal_interval(Y), j.conformal_interval(Y, 0.5), j.of_labels
c = gp_classification(k, X, s)
c, c(Y), c.probability(Y) # tol 1e-6
""",
    "scale": """
k, f = Gaussian(0.7), np.sin(BIG[:, 0])
O = KernelOperator(k, BIG, Y)
O, O.shape, O @ y[:9], O.T @ f, KernelOperator(k, X) @ y2
r = ridge_large(k, BIG, f, 0.1, 10, rng=1)
r, r(Y), r.error_bound, check_large_fit(r, BIG, f), ridge_large(k, BIG, f, 0.1, 60, rng=1)(Y) # tol 1e-6
g = gaussian_process_large(k, BIG, f, 0.1, 10, 4, rng=1) # tol 1e-6
g, g(Y), g.var(Y), g.cov(Y), g.sample(Y, 2, rng()), g.paths(Y) # tol 1e-6
K = kernel_pca_large(k, BIG, 2, 10, rng=1)
K, K.residual(Y), K.first(1), np.abs(K.transform(Y)) # tol 1e-6
""",
    "rates": """
fit = lambda U, v: ridge(Gaussian(0.7), U, v, 0.1)
C = learning_curve(fit, (BIG, np.sin(BIG[:, 0])), [8, 16, 24, 32], 1, 3)
C, C.at(64), C.between(64), C.gain(64), C.interval, shown(C.plot(label="c"))
check_rate(C, 0.1)
ridge_rate(2.0, 1.0), spectral_risk(1 / np.arange(1.0, 9) ** 2, np.ones(8), 0.1, 20, [0.1, 0.2], 2)
leave_groups_out(Gaussian(), X, y, 0.1, np.arange(12) % 3)
bias_variance(Gaussian(), X, lambda Z: np.sin(Z[:, 0]), 0.1, [0.1, 1.0], Y)
bias_variance(Gaussian(), X, lambda Z: Z[:, 0], 0.1, 0.1)
rademacher(Gaussian(), X, 1.0, rng=1), gap_bound(Gaussian(), X, 2.0) # tol 2e-3
margin_bound(svc(Gaussian(), X, s, 1.0), X, s), stability_bound(ridge(Gaussian(), X, y, 0.1), X) # tol 2e-3
loo_bound(svc(Gaussian(), X, s, 1.0), X, s) # tol 2e-3
""",
    "stored": """
k = Gaussian(0.7)
models = [ridge(k, X, y, 0.1), svc(k, X, s), mean_embedding(k, X), kernel_pca(k, X, 2)]
[stored(m) for m in models], [to_expression(m) for m in models], to_expression({"a": (1, [2.0, None], X)})
from_expression(*to_expression(Gaussian(0.7) + 2 * Linear()))
to_expression(lambda: 1)
load_model(file("no.npz", "text"))
load_model("nothing")
write_expression(folder, 1)
stored(fourier_features(Gaussian(), 2, 4, 1))(Y), stored(nystrom_features(Gaussian(), X, 4, 1))(Y)
""",
    "play": """
[spec_of(drag_interpolant(X[:4, 0], y[:4], 0.7, "c")), spec_of(drag_posterior(X[:4, 0], y[:4], 0.7, 0.1))]
spec_of(drag_witness(X[:5, 0], Y[:4, 0], 0.7)), spec_of(drag_machine(X[:6], s[:6], 0.7, 1.0, "<c>"))
drag_interpolant(BIG[:21, 0], BIG[:21, 1], 0.7)
drag_interpolant(X[:1, 0], y[:1], 0.7)
script()[:200], len(script()) > 1000
""",
    "diagrams": """
shown(diagram({"a": (0, 0), "b": (2, 1)}, [("a", "b", "f")]))
partial_dependence(ridge(Gaussian(), X, y, 0.1), X, 0)
shown(partial_dependence(ridge(Gaussian(), X, y, 0.1), X, 1).plot())
partial_dependence(ridge(Gaussian(), A12, y, 0.1), A12, (0, 1))
size(3, 4)
fuzz(median_bandwidth)
[print_of(e) for e in (SEPARATE, FORMAT)]
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
        V4=Y + 0.4,
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
    "What an Axes shows: the data, the looks and the words of its marks"
    marks = [*ax.lines, *ax.images, *ax.collections, *ax.patches, *ax.texts]
    looks = [
        [type(a).__name__, a.get_alpha(), a.get_zorder(), str(a.get_label())[:1]]
        + [getattr(a, f"get_{name}", lambda: None)() for name in LOOKS]
        for a in marks
    ]
    lines = [line.get_xydata() for line in ax.lines]
    pictures = [image.get_array() for image in ax.images]
    places = [c.get_offsets() for c in ax.collections]
    places += [p.vertices for c in ax.collections for p in c.get_paths()[:20]]
    places += [b.get_path().vertices for b in ax.patches]
    title = "".join(ax.get_title(loc=place) for place in ("left", "center", "right"))
    words = [title, ax.get_xlabel(), ax.get_ylabel(), [t.get_text() for t in ax.texts]]
    words.append([t.get_text() for t in ax.get_legend().get_texts()] if ax.get_legend() else [])
    scales = [ax.get_xscale(), ax.get_yscale(), ax.get_aspect(), ax.axison]
    limits = np.array([*ax.get_xlim(), *ax.get_ylim()])
    ax.clear()
    shown = dict(lines=lines, pictures=pictures, marks=places, words=words)
    return shown | dict(looks=looks, scales=scales, limits=limits)


LOOKS = "color linestyle linewidth marker markersize facecolor edgecolor hatch cmap ha va fontsize"
LOOKS = LOOKS.split()


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


ROOM = tempfile.TemporaryDirectory()  # taken away when Python ends
FOLDER = ROOM.name


def file(name, text=None):
    "The path of a file that holds this text, or that a line before has made"
    path = Path(FOLDER) / name
    if text is not None:
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return str(path)


def csv_of(X):
    return "u,v\n" + "".join(f"{a!r},{b!r}\n" for a, b in X.tolist())


def main_says(arguments):
    "What a command prints, and the status that it ends with"
    from rkhs_notes.apps.cli import main

    said, status = io.StringIO(), 0
    with contextlib.redirect_stdout(said), contextlib.redirect_stderr(said):
        try:
            status = main(arguments)
        except SystemExit as end:
            status = end.code
    return said.getvalue(), status


def fitted(estimator):
    "What an estimator has learned"
    return {n: v for n, v in sorted(vars(estimator).items()) if n[-1] == "_" and n[0] != "_"}


def helpers(names):
    "Functions and modules that the catalogue's lines may name"
    import matplotlib

    matplotlib.use("Agg")
    import pandas
    import scipy.sparse
    import sklearn.gaussian_process.kernels as sklearn_kernels

    from rkhs_notes.apps import estimators

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
        EST=estimators,
        file=file,
        folder=FOLDER,
        csv_of=csv_of,
        main_says=main_says,
        fitted=fitted,
        shown=drawn,
        print_of=repr,
        style_now=lambda: [f"{n} {v}" for n, v in sorted(matplotlib.rcParams.items()) if v != []],
        spec_of=lambda d: (
            d.spec,
            d.caption,
            re.sub(r"[A-Za-z0-9+/=]{200,}", "PNG", d.html())[-900:],
        ),
        pd=pandas,
        stored=lambda v: (v.save(file("v.npz")), names["load_model"](file("v.npz")))[1],
        read_of=lambda m: [m.profile, m.seed, m.block_mib, m.result_mib, m.dpi],
    )
