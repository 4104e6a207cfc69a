"""Figures to drag: their script computes what the library computes, and each page is complete and small."""

import html.parser
import json
import shutil
import subprocess

import matplotlib.pyplot as plt
import numpy as np
import pytest

from conftest import ROOT
from rkhs_notes import RKHS, Gaussian, gaussian_process, mmd2_v, play, svc, witness
from rkhs_notes.base.errors import NotPositiveDefinite

NODE = shutil.which("node")
in_node = pytest.mark.skipif(
    not NODE, reason="node is not installed: the figures' script was not run"
)
T = np.linspace(-1, 2, 7)
X5 = np.array([-0.9, -0.2, 0.4, 1.1, 1.9])
Y5 = np.array([0.3, 1.0, -0.7, 0.2, 0.8])


def computed(call, state, places, script=None):
    "What numerics.js makes of a state, in node"
    numerics = script or (ROOT / "rkhs_notes" / "figures" / "numerics.js").read_text()
    answer = f"JSON.stringify({call}({json.dumps(state)}, {json.dumps(places)}))"
    program = f'"use strict";{numerics}\nconsole.log({answer})'
    run = subprocess.run([NODE, "-e", program], capture_output=True, text=True, timeout=60)
    assert run.returncode == 0, run.stderr
    return json.loads(run.stdout)


def two_clouds(seed, n=14, apart=1.2):
    rng = np.random.default_rng(seed)
    signs = np.where(np.arange(n) % 2, 1, -1)
    return rng.normal(size=(n, 2)) + apart * signs[:, None] * [1, 0], signs


def machine_by_library(points, signs, bandwidth, C, places):
    m = svc(Gaussian(bandwidth), points, signs, C=C, tol=1e-10)
    return m.decision(np.array(places)), m.margin, m.offset


@in_node
@pytest.mark.parametrize("bandwidth", [0.2, 0.7])
def test_interpolant(bandwidth):
    state = dict(points=np.stack([X5, Y5], axis=1).tolist(), bandwidth=bandwidth)
    found = computed("interpolant", state, T.tolist())
    f = RKHS(Gaussian(bandwidth)).interpolate(X5, Y5)
    np.testing.assert_allclose(found["f"], f(T), atol=1e-6)
    np.testing.assert_allclose(found["norm"], f.norm(), rtol=1e-6)


@in_node
def test_points_that_the_kernel_cannot_tell_apart_have_no_interpolant():
    twice = [[0, 1], [0, 2], [1, 0]]
    assert computed("interpolant", dict(points=twice, bandwidth=1), [0.0]) is None
    with pytest.raises(NotPositiveDefinite):
        RKHS(Gaussian(1)).interpolate([0.0, 0.0, 1.0], [1.0, 2.0, 0.0])


@in_node
@pytest.mark.parametrize("bandwidth, noise", [(0.3, 0.1), (1.0, 1e-3), (6.0, 0.01)])
def test_posterior(bandwidth, noise):
    state = dict(points=np.stack([X5, Y5], axis=1).tolist(), bandwidth=bandwidth, noise=noise)
    found, gp = (
        computed("posterior", state, T.tolist()),
        gaussian_process(Gaussian(bandwidth), X5, Y5, noise),
    )
    np.testing.assert_allclose(found["mean"], gp(T), atol=1e-6)
    np.testing.assert_allclose(found["sd"], np.sqrt(gp.var(T)), atol=1e-6)
    np.testing.assert_allclose(found["evidence"], gp.log_marginal, rtol=1e-6)


@in_node
@pytest.mark.parametrize("kind, make", [
    ("interpolant", lambda X, y: play.drag_interpolant(X, y, 1.0, ax=picture())),
    ("posterior", lambda X, y: play.drag_posterior(X, y, 1.0, 1e-12, ax=picture())),
])  # fmt: skip
def test_a_matrix_that_is_singular_up_to_rounding_is_said(kind, make):
    for X, words in (([0.0, 0.0, 1.0], "singular up to rounding"), ([0.0, 0.5, 1.0], " = ")):
        spec = make(X, [1.0, 2.0, 0.0]).spec
        says = (
            f"(state, window) => [0].map(_ => FIGURES.{kind}).map(f => [f.compute(state, window)]"
        )
        says += ".flatMap(found => [f.draw(found, state, p => p), f.say(found, state)]))[0]"
        drawn, said = computed(
            f"({says})", spec["sliders"] | {"points": spec["points"]}, spec["window"], play.script()
        )
        assert words in said and (drawn == "") == ("singular" in said)


@in_node
@pytest.mark.parametrize("apart", [0.2, 1.2])  # many points at the price C, and few
@pytest.mark.parametrize("bandwidth, C", [(0.5, 1.0), (1.0, 5.0), (3.0, 40.0)])
def test_machine(apart, bandwidth, C):
    points, signs = two_clouds(3, apart=apart)
    places = two_clouds(4)[0].tolist()
    state = dict(points=points.tolist(), labels=signs.tolist(), bandwidth=bandwidth, C=C)
    found = computed("machine", state, places)
    decision, margin, offset = machine_by_library(points, signs, bandwidth, C, places)
    np.testing.assert_allclose(found["decision"], decision, atol=1e-6)
    np.testing.assert_allclose([found["margin"], found["offset"]], [margin, offset], atol=1e-6)
    alpha = np.array(found["alpha"])
    m = signs * computed("machine", state, points.tolist())["decision"]
    assert (
        found["violation"] < 1e-8
        and alpha.min() >= 0
        and alpha.max() <= C
        and abs(alpha @ signs) < 1e-9
    )
    assert (m[alpha == 0] > 1 - 1e-8).all() and (m[alpha == C] < 1 + 1e-8).all()  # (7.5)
    assert (np.abs(m[(alpha > 0) & (alpha < C)] - 1) < 1e-8).all()


@in_node
def test_machine_of_equal_points_with_both_labels():
    state = dict(points=[[0, 0], [0, 0]], labels=[1, -1], bandwidth=1, C=2)
    found = computed("machine", state, [[0, 0], [3, 1]])
    np.testing.assert_allclose(found["decision"], 0, atol=1e-12)
    assert found["alpha"] == [2, 2] and found["offset"] == 0


@in_node
def test_witness():
    points = [[x, -0.6] for x in X5] + [[x, -0.72] for x in Y5]
    state = dict(points=points, labels=[1] * 5 + [-1] * 5, bandwidth=0.4)
    found = computed("witness", state, T.tolist())
    np.testing.assert_allclose(
        found["f"], witness(Gaussian(0.4), X5, Y5, normalized=False)(T), atol=1e-12
    )
    np.testing.assert_allclose(found["squared"], mmd2_v(Gaussian(0.4), X5, Y5), atol=1e-12)


@in_node
@pytest.mark.parametrize(
    "right, wrong, call",
    [
        ("2 * bandwidth ** 2", "bandwidth ** 2", "interpolant"),
        ("k + noise", "k + noise * noise", "posterior"),
        ("rise - fall < 1e-9", "rise - fall < 1e-2", "machine"),
        ("- 2 * average(X, Y)", "- average(X, Y)", "witness"),
    ],
)
def test_a_fault_in_the_script_is_noticed(right, wrong, call, monkeypatch):
    numerics = (ROOT / "rkhs_notes" / "figures" / "numerics.js").read_text()
    assert numerics.count(right) == 1
    faulty = numerics.replace(right, wrong)
    monkeypatch.setitem(globals(), "computed", lambda *state: COMPUTED(*state, script=faulty))
    checks = dict(
        interpolant=lambda: test_interpolant(0.7),
        posterior=lambda: test_posterior(0.3, 0.1),
        machine=lambda: test_machine(0.2, 1.0, 5.0),
        witness=test_witness,
    )
    with pytest.raises(AssertionError):
        checks[call]()


COMPUTED = computed


def picture():
    return plt.subplots(figsize=(2, 2))[1]


FIGURES = {
    "interpolant": lambda: play.drag_interpolant(X5, Y5, 0.7, "A & <b>", picture()),
    "posterior": lambda: play.drag_posterior(X5, Y5, 0.7, 0.1, "A", picture()),
    "machine": lambda: play.drag_machine(*two_clouds(0), 1.0, 5.0, "A", picture()),
    "witness": lambda: play.drag_witness(X5, Y5[:4], 0.5, "A", picture()),
}


@pytest.fixture(params=FIGURES)
def figure(request):
    return FIGURES[request.param]()


class Tags(html.parser.HTMLParser):
    "Opened and closed tags must match; collects (tag, attributes)"

    def __init__(self, page):
        super().__init__()
        self.open, self.seen = [], []
        self.feed(page)
        self.close()

    def handle_starttag(self, tag, attributes):
        self.seen.append((tag, dict(attributes)))
        if tag not in {"input", "img"}:
            self.open.append(tag)

    def handle_startendtag(self, tag, attributes):
        self.seen.append((tag, dict(attributes)))

    def handle_endtag(self, tag):
        assert self.open.pop() == tag


def test_the_page_is_well_formed_and_everything_that_moves_has_a_name(figure):
    page = Tags(figure.html())
    assert not page.open
    handles = [a for _, a in page.seen if "data-point" in a]
    assert len(handles) == len(figure.spec["points"])
    assert all(a["role"] == "slider" and a["tabindex"] == "0" and a["aria-label"] for a in handles)
    edges = [[float(a[f"aria-value{end}"]) for end in ("min", "now", "max")] for a in handles]
    assert all(low < now < high for low, now, high in edges)
    assert len({a["aria-label"] for a in handles}) == len(handles)
    bars = [a for tag, a in page.seen if tag == "input"]
    assert [a["aria-label"] for a in bars] == list(figure.spec["sliders"])
    assert [a["aria-label"] for tag, a in page.seen if a.get("role") == "group"] == [figure.caption]
    assert [a["aria-live"] for tag, a in page.seen if a.get("role") == "status"] == ["polite"]
    assert [a["alt"] for tag, a in page.seen if tag == "img"] in ([], [figure.caption])


def test_the_script_is_small_and_asks_no_other_host(figure):
    page = figure.html()
    assert page.count("</script>") == 1
    assert "http" not in page.replace(figure._repr_mimebundle_()["image/png"], "")
    assert len(play.script().encode()) < 40_000


@in_node
def test_the_script_of_a_page_is_javascript(figure):
    script = figure.html().split("<script>")[1].split("</script>")[0]
    subprocess.run([NODE, "--check", "-"], input=script, text=True, check=True)


def test_the_same_figure_is_the_same_page_and_another_one_has_another_key():
    pages = [FIGURES[kind]().html() for kind in ("witness", "witness", "posterior")]
    page, again, other = [page.split('data-play="')[1][:16] for page in pages]
    assert page == again != other and pages[0] == pages[1]


@pytest.mark.parametrize("n", [1, 21])
def test_as_many_points_as_a_finger_can_tell_apart(n):
    with pytest.raises(ValueError, match="the number of points"):
        play.drag_interpolant(np.arange(n), np.zeros(n), 1.0, ax=plt.subplots()[1])
    plt.close("all")


def test_signs_colours_and_names_belong_together():
    "The label that sorts last is +1, blue and a circle, as the first sample is"
    machine = play.drag_machine(
        [[0.0, 0], [1, 0], [0, 1]], ["yes", "no", "no"], 1.0, 5.0, ax=picture()
    )
    assert machine.spec["labels"] == [1, -1, -1]
    assert machine.spec["names"] == ["blue point 1 of 3", "red point 2 of 3", "red point 3 of 3"]
    samples = play.drag_witness(X5, Y5[:4], 0.5, ax=picture())
    assert samples.spec["labels"] == [1] * 5 + [-1] * 4 and "first" in samples.spec["names"][0]
    for figure in (machine, samples):
        shown = [
            (a["data-point"], a["aria-label"])
            for _, a in Tags(figure.html()).seen
            if "data-point" in a
        ]
        sides = ["a" if label > 0 else "b" for label in figure.spec["labels"]]
        assert shown == list(zip(sides, figure.spec["names"], strict=True))
        assert figure.html().count("<rect") == sides.count("b")


def test_windows_hold_the_points_and_the_sliders_what_was_passed():
    before = plt.get_fignums()
    spec = play.drag_posterior([0.0, 10.0], [1.0, 2.0], 0.7, 0.1, ax=picture()).spec
    np.testing.assert_allclose(spec["window"], [-2, 12, 0.4, 2.6])
    assert spec["sliders"] == {"bandwidth": 0.7, "noise": 0.1}
    flat = play.drag_interpolant([3.0, 4.0], [2.0, 2.0], 0.7, ax=picture()).spec["window"]
    np.testing.assert_allclose(flat, [2.8, 4.2, 1.4, 2.6])
    wide = play.drag_machine([[0.0, 0], [10, 1]], [0, 1], 1.0, 5.0, ax=picture()).spec["window"]
    np.testing.assert_allclose(wide, [-1, 11, -3.25, 4.25])
    assert plt.get_fignums() == before


def test_other_points_make_another_figure_and_no_name_ends_its_script():
    one, other = (
        play.drag_interpolant([0.0, x], [1.0, 2.0], 0.7, ax=picture()) for x in (1.0, 2.0)
    )
    assert one.html().split('data-play="')[1][:16] != other.html().split('data-play="')[1][:16]
    named = play.Draggable(one.spec | {"names": ["</script>", "<b>"]}, "<b>", one.still).html()
    assert named.count("</script>") == 1 and "<b>" not in named
