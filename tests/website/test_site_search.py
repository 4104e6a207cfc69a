"""The site's search lists the right page first: a table of queries, run by Sphinx's own script in node."""

import json
import shutil
import subprocess

import pytest

from conftest import refuse
from website import finding
from website.links import places
from website.notebooks import ROOT

SITE, TOOLS = ROOT / "_site", ROOT / "website"
# {what a reader types: the page that stands first}
FIRST = {
    "inner product": "00_hilbert",
    "Cauchy–Schwarz": "00_hilbert",
    "Riesz": "00_hilbert",
    "adjoint": "00a_adjoints",
    "positive semidefinite": "01_kernels",
    "Gram matrix": "01_kernels",
    "Schoenberg": "01b_metrics",
    "conditionally negative definite": "01b_metrics",
    "feature map": "02_features",
    "perceptron": "02_features",
    "Moore–Aronszajn": "03_rkhs",
    "reproducing property": "03_rkhs",
    "power function": "03a_interpolation",
    "Mercer": "04_mercer",
    "effective dimension": "04_mercer",
    "representer theorem": "05_representer",
    "kernel ridge regression": "05_representer",
    "leave-one-out": "05_representer",
    "smoothing spline": "05_representer",
    "Gaussian process": "05a_processes",
    "evidence": "05a_processes",
    "support vector": "07_svm",
    "soft margin": "07_svm",
    "kernel PCA": "08_kpca",
    "pre-image": "08_kpca",
    "kernel CCA": "08a_cca",
    "Bochner": "09_random_features",
    "random features": "09_random_features",
    "Nyström": "09a_grids_landmarks",
    "leverage score": "09a_grids_landmarks",
    "double descent": "10_double_descent",
    "mean embedding": "11_mmd",
    "characteristic kernel": "11_mmd",
    "witness": "11_mmd",
    "exact level": "11a_two_samples",
    "HSIC": "15_dependence",
    "kernel Bayes rule": "15a_conditioning",
    "Stein kernel": "15b_stein",
    "Rademacher": "16_generalization",
    "median heuristic": "01_kernels",
    "ridge_path": "api/engines.solving.ridge_fits",
    "mmd_test": "api/deeper.two_samples",
    "kernel_pca": "api/kpca",
    "StreamingRidge": "api/deeper.streams",
}


def first(queries):
    "The pages that the search of the built site lists first, for each query"
    command = ["node", TOOLS / "queries.js", SITE]
    done = subprocess.run(
        command, input=json.dumps(queries), text=True, capture_output=True, check=True
    )
    return [[place.partition("#")[0] for place in places] for places in json.loads(done.stdout)]


@pytest.mark.skipif(not (SITE / "searchindex.js").exists(), reason="make notes builds the site")
@pytest.mark.skipif(not shutil.which("node"), reason="the site's search runs in node")
def test_the_right_page_stands_first():
    found = first(list(FIRST))
    refuse(
        [
            f"{query}: {page} expected, {places[:1]} stands first"
            for (query, page), places in zip(FIRST.items(), found, strict=True)
            if places[:1] != [page]
        ]
    )


def test_names_that_one_would_type():
    assert finding.plain("leave one out") == ["leave one out"]
    assert finding.plain("residuals; Daudin 1980, Zhang et al. 2011") == [
        "residuals",
        "Daudin",
        "Zhang",
    ]
    assert finding.plain(r"samples lie outside $\mathcal H$") == ["samples lie outside"]
    assert finding.other_names("scikit-learn's `alpha`; 1/(2C); weight decay") == ["weight decay"]


def test_entries_lead_to_the_places_that_define():
    known = finding.entries("05_representer", places())
    assert ("representer theorem", "thm-5-1", "main") in known and (
        "Theorem 5.2",
        "thm-5-2",
        "main",
    ) in known
    assert ("jackknife", "thm-5-3", "main") in known and "Mercer" not in {
        name for name, *_ in known
    }
    elsewhere = finding.entries("03a_interpolation", places())
    assert ("Leave-one-out", "prop-3-8", "") in elsewhere  # the word is defined in chapter 05
