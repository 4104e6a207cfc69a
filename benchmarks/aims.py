"""What each race should reach, and why a peer is faster where one is: the one place where both are written.

A line names a row file, races by their titles (* stands for anything), a contender, and how many times
longer than ours it should take. Of a limit, which ours cannot undercut, it is the share: 1 / 1.3 says
that ours takes at most 1.3 times as long. Contenders that are not named are shown without an aim.

A line of FASTER has a reason in place of the number. The page tells it where the peer was faster, and says
so where no line has one.
"""

from fnmatch import fnmatchcase

AIMS = [
    ("binning", "*", "dictionaries*", 10),
    ("cke", "*all columns*", "scipy eigh, dense", 1),
    ("dependence", "*", "loop*", 10),
    ("double_descent", "*", "numpy lstsq*", 5),
    ("estimators", "*", "sklearn GridSearchCV*", 5),
    ("features", "mapping*float64", "sklearn RBFSampler", 1.5),
    ("features", "mapping*float32", "sklearn RBFSampler", 1.3),
    ("features", "monomials* degree=[23]", "sklearn PolynomialFeatures", 1),
    (
        "features",
        "monomials* degree=6",
        "sklearn PolynomialFeatures",
        0.8,
    ),  # lower degrees are made anew
    ("gp", "*, 3 of them", "sklearn GaussianProcessRegressor", 2.5),
    ("gp", "*, 6 of them", "sklearn GaussianProcessRegressor", 2),
    ("gp", "*, 6 of them", "gpflash", 0.5),
    ("gram", "Gaussian k(X), n=5000, d=10,*", "sklearn rbf_kernel", 3),
    ("gram", "Gaussian k(X), n=5000, d=10,*", "GEMM + exp", 1 / 1.4),
    ("gram", "Gaussian k(X, Y), n=5000, d=10, float64", "sklearn rbf_kernel", 1.3),
    ("gram", "Gaussian k(X), *d=784, float64", "sklearn rbf_kernel", 1),
    ("gram", "Gaussian k(X, Y), *d=784, float64", "sklearn rbf_kernel", 1.1),
    ("gram", "Gaussian k(X), *d=784, float32", "sklearn rbf_kernel", 2),
    ("gram", "Gaussian k(X, Y), *float32", "sklearn rbf_kernel", 2),
    ("gram", "*", "its parts + one pass", 1),
    ("graphs", "*", "dictionaries in Python", 20),
    ("graphs", "fragments*", "recursion in Python", 10),
    ("imports", "*", "sklearn KernelRidge", 1),
    ("kpca", "*components*", "sklearn *", 1.5),
    ("mercer", "Mercer*", "scipy *", 1),
    ("mercer", "no matrix*", "scipy *", 1),
    ("mmd", "permutation test, n=m=250*", "loop*", 50),
    ("mmd", "permutation test, n=m=250*", "hyppo MMD", 500),
    ("mmd", "*in part*", "loop*, 4 of 1000", 2),  # 2 · 1001 / 5: 400 times for all thousand
    ("mmd", "*in part*", "hyppo MMD, 4 of 1000", 5),
    ("mmd", "test of*", "goodpoints CTT", 3),
    ("path", "*", "sklearn GridSearchCV*", 2),  # 20 times for all fifty
    ("path", "*", "eigh", 1 / 1.3),  # eigh itself leaves no more than 23 times
    ("ridge", "*", "sklearn KernelRidge", 1),
    ("ridge", "*", "Cholesky", 1 / 1.3),
    ("scale", "*", "*", 1.5),
    ("scale_million", "*", "*", 1.5),
    ("sgd", "*", "numba loop", 1 / 2.5),
    ("sgd", "*", "NumPy loop", 1),
    ("stein", "goodness of fit*", "NumPy matrix, loop over draws", 4),
    ("streams", "*", "sklearn RBFSampler + Ridge", 2),
    ("streams", "*", "GEMM + syrk", 0.6),
    ("structured", "spectrum*", "plain Python", 50),
    ("structured", "subsequences*", "plain Python", 30),
    ("svc", "svc, generated*", "sklearn SVC", 1.1),
    ("svc", "svc, generated*", "sklearnex SVC", 1.0),
    ("svc", "svc, grid*", "sklearn SVC", 1.0),
]

FASTER = [
    (
        "features",
        "monomials*",
        "sklearn PolynomialFeatures",
        "ours gives every column the weight that it has in the kernel, and looks whether all entries are "
        "finite: two passes more",
    ),
    (
        "gp",
        "*, 6 of them",
        "gpflash",
        "a fourth of an evaluation at n = 200 is LAPACK; the rest is 1300 calls of Python and passes "
        "of NumPy over the matrix, which C++ makes one loop",
    ),
    (
        "gram",
        "Gaussian k(X*, *d=784, float64",
        "sklearn rbf_kernel",
        "the product is most of the work, and the same; ours takes it in tiles, and at n = 1000 its "
        "threads cost about 2 ms to begin",
    ),
    (
        "mercer",
        "Mercer, *",
        "scipy eigsh of K",
        "the basis for 50 pairs grows to 250 vectors, whose own eigenproblems take a third of the time "
        "at n = 600, and less of it beyond",
    ),
    (
        "sgd",
        "*",
        "numba loop",
        "a step is one row of the matrix, .3 µs when compiled at n = 1024; the calls of NumPy take longer",
    ),
    (
        "svc",
        "svc, grid*",
        "sklearn SVC",
        "ours calls libsvm on parts and checks the optimum of the whole in float64: one or two "
        "milliseconds, of 26 classes a fourth of one for each pair, which show where libsvm is quick",
    ),
    (
        "svc",
        "*",
        "sklearnex SVC",
        "at n = 1000 more than half of the time are libsvm's steps on our matrix, which have one thread",
    ),
]


def aims_of(row, race, aims=AIMS):
    """{contender's pattern: ratio} of one race

    Parameters
    ----------
    row : str       name of the file, without .py
    race : str      title
    """
    return {
        who: times
        for file, title, who, times in aims
        if fnmatchcase(row, file) and fnmatchcase(race, title)
    }


def idle(row, seen, lines=AIMS + FASTER):
    "The lines of a row that no (title, contender) meets: one of both has changed"
    return [
        (title, who)
        for file, title, who, _ in lines
        if file == row
        and not any(fnmatchcase(race, title) and fnmatchcase(name, who) for race, name in seen)
    ]
