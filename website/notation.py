r"""The page of notation: one letter, one meaning. TABLE is the only source; tests compare the notebooks.

A row: the symbol as it is typed in the statement or formula that defines it, the name in code (an argument or
a public name), what it is, its shape in code, the statement 5.2 or the formula (5.2).
"""

from .labels import formulas, slug, statements
from .notebooks import chapters

TABLE = [
    (r"\mathcal X", "", "the set that points come from", "", "1.1"),
    (r"x_1,\dots,x_n", "X", "data, a row a point", "array (n, d)", "5.1"),
    (r"y\in\mathbb R^n", "y", "targets, or labels ±1 of two classes", "array (n,)", "5.2"),
    (r"y_j", "Y", "a second sample", "array (m, d)", "11.7"),
    (
        r"k_{z_1},\dots,k_{z_m}",
        "Z",
        "centres or landmarks z, here their sections",
        "array (m, d)",
        "9a.5",
    ),
    (r"n", "n", "number of points", "int ≥ 1", "5.2"),
    (r"m", "m", "number of other points, terms or landmarks", "int ≥ 1", "9a.5"),
    (r"\mathbb R^d", "d", "dimension of the points", "int ≥ 1", "2.2"),
    (r"k(x,y)", "k", "kernel; `k(X, Y)` is the matrix (n, m)", "Kernel", "1.1"),
    (r"K_{ij}", "K", "Gram matrix, the kernel at all pairs of points", "array (n, n)", "1.1"),
    (r"k(x,z_j)", "Kxz", "cross-Gram matrix of new points and centres", "array (m, n)", ""),
    (r"\tilde K", "center", "Gram matrix of centred features", "array (n, n)", "8.2"),
    (r"\sigma", "bandwidth", "width of a kernel, in the units of x", "float > 0", "4a.3"),
    (r"d_k(x,y)", "", "distance of two points in H, the norm of k_x − k_y", "", "3b.8"),
    (r"\varphi", "phi", "feature map", "FeatureMap", "2.1"),
    (r"\Phi", "Phi", "features of all points, a row a point", "array (n, D)", "10.1"),
    (r"D", "D", "number of features, outputs that are real numbers", "int ≥ 1", "2.1"),
    (r"\mathcal H", "RKHS", "the RKHS of k", "", "3.1"),
    (r"\mathcal H_0", "", "finite sums of sections, dense in H", "", "3.3"),
    (r"k_x", "RKHS.section", "section of the kernel, the function k(x, ·)", "RKHSFunction", "3.2"),
    (r"f", "f", "a function of the RKHS", "RKHSFunction", "3.3"),
    (r"g", "g", "another one", "RKHSFunction", "3.3"),
    (r"\langle f,k_x\rangle", "", "inner product of H; in code `f @ g`", "", "3.2"),
    (r"\|f\|", "RKHSFunction.norm", "norm of H", "float ≥ 0", "3.3"),
    (r"\alpha", "alpha", "coefficients of an expansion in sections", "array (n,)", "5.2"),
    (r"\lambda", "lam", "weight of ‖f‖² beside the *sum* of losses", "float > 0", "5.2"),
    (r"\ell(y_i,", "loss", "loss at one target and one value", "Loss", "5b.2"),
    (r"\ell^*", "", "conjugate of the loss", "", "5b.2"),
    (r"w_i", "weights", "weights of the points in the sum of losses", "array (n,), ≥ 0", "5.5"),
    (r"\eta", "", "step size", "float > 0", "6.1"),
    (
        r"C",
        "C",
        "upper bound of the dual variables, weight of the slacks",
        "float > 0, or inf",
        "7.1",
    ),
    (r"\nu", "nu", "share of margin errors; smoothness of a Matérn kernel", "float > 0", "7a.1"),
    (
        r"\varepsilon",
        "eps",
        "half width of the tube; accuracy of an approximation",
        "float > 0",
        "7a.3",
    ),
    (
        r"\lambda_j",
        "MercerExpansion",
        "eigenvalues of the integral operator, falling",
        "array (m,)",
        "4.4",
    ),
    (r"\psi_j", "MercerExpansion", "eigenfunctions, orthonormal in L²(μ)", "", "4.4"),
    (r"\mu", "Measure", "measure on the points", "", "4.1"),
    (r"d(\lambda)", "effective_dimension", "effective dimension", "float ≥ 0", "4.6"),
    (
        r"\omega",
        "SpectralMeasure",
        "frequency, drawn from the spectral measure",
        "array (D, d)",
        "9.1",
    ),
    (r"\mu_P", "mean_embedding", "mean embedding of a law P", "RKHSFunction", "11.1"),
    (
        r"\operatorname{MMD}",
        "mmd_test",
        "maximum mean discrepancy of two laws",
        "float ≥ 0",
        "11.5",
    ),
    (r"\operatorname{HSIC}", "hsic", "Hilbert–Schmidt independence criterion", "float ≥ 0", "15.2"),
    (r"\mathfrak R", "rademacher", "Rademacher complexity of a ball", "float ≥ 0", "16.4"),
    ("", "kx", "kernel of the first of two variables", "Kernel", ""),
    ("", "ky", "kernel of the second of two variables", "Kernel", ""),
    ("", "labels", "classes, of any type that can be compared", "array (n,), labels", ""),
    ("", "level", "level of a test", "float > 0, < 1", ""),
    ("", "tol", "tolerance at which an iteration stops", "float > 0", ""),
    ("", "max_iter", "the most steps that an iteration takes", "int ≥ 1", ""),
    (
        "",
        "rng",
        "source of randomness; `None` is the seed of the settings",
        "Generator or seed",
        "",
    ),
]
PAGE = """# Notation

One letter means one thing: in the text, and as the name of an argument in code. {count} symbols and names,
each with the statement or the formula where it is first used in earnest.

| symbol | name in code | what it is | shape | where |
|---|---|---|---|---|
{rows}

Three conventions that differ elsewhere. `lam` stands beside the *sum* of losses, so kernel ridge solves
$(K+\\lambda I)\\alpha=y$ and `lam` is the variance of a Gaussian process's noise. A kernel's `bandwidth`
is $\\sigma$ in $\\exp(-\\lVert x-y\\rVert^2/(2\\sigma^2))$. `D` counts real
features: a cosine and its sine are two.
"""


def definitions():
    "{5.2 or (5.2): (page, anchor, title, text)} of the numbered things of the chapters"
    found = {}
    for path in chapters():
        for box in statements(path):
            found[box.number] = (path.stem, box.anchor, box.title, box.text)
        for tag, text in formulas(path).items():
            found[f"({tag})"] = (path.stem, slug("eq", tag), f"({tag})", text)
    return found


def row(symbol, name, meaning, shape, number, found):
    "A line of the table; bars would end its columns"
    page, anchor, title, _ = found.get(number, ("", "", "", ""))
    place = f"[{title}](../{page}.ipynb#{anchor})" if number else "in signatures"
    code, formula = f"`{name}`" if name else "", f"${symbol}$" if symbol else ""
    return f"| {formula.replace(chr(92) + '|', chr(92) + 'Vert ')} | {code} | {meaning} | {shape} | {place} |"


def page():
    "The page, as Markdown"
    found = definitions()
    return PAGE.format(count=len(TABLE), rows="\n".join(row(*line, found) for line in TABLE))
