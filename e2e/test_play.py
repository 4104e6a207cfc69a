"""Figures to drag, in Chromium: by mouse, finger and keyboard they show what the library computes."""

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt  # noqa: E402
import numpy as np  # noqa: E402
import pytest  # noqa: E402
from browser import chromium  # noqa: E402

from rkhs_notes import RKHS, Gaussian, gaussian_process, mmd2_v, play, svc, witness  # noqa: E402

PAGE = "<!doctype html><html lang='en'><meta charset='utf-8'><title>A figure</title><main>{}</main></html>"
X, Y = np.array([-2.0, -1.0, 0.0, 0.8, 1.8]), np.array([0.2, 1.0, -0.5, 0.4, 0.0])
CLOUD = np.random.default_rng(0).normal(size=(12, 2)) + np.repeat([[-1, 0], [1, 0]], 6, axis=0)


def interpolant(v):
    f = RKHS(Gaussian(v["bandwidth"])).interpolate(*np.array(v["points"]).T)
    return {"f": f(v["ts"]), "norm": f.norm()}


def posterior(v):
    gp = gaussian_process(Gaussian(v["bandwidth"]), *np.array(v["points"]).T, noise=v["noise"])
    return {"mean": gp(v["ts"]), "sd": np.sqrt(gp.var(v["ts"])), "evidence": gp.log_marginal}


def machine(v):
    m = svc(Gaussian(v["bandwidth"]), np.array(v["points"]), v["labels"], C=v["C"], tol=1e-10)
    grid = np.stack(np.meshgrid(v["xs"], v["ys"]), axis=-1).reshape(-1, 2)
    return {"decision": m.decision(grid), "margin": m.margin, "alpha": np.abs(m.dual)}


def embeddings(v):
    x, labels, k = np.array(v["points"])[:, 0], np.array(v["labels"]), Gaussian(v["bandwidth"])
    blue, red = x[labels == 1], x[labels == -1]
    return {"f": witness(k, blue, red, normalized=False)(v["ts"]), "squared": mmd2_v(k, blue, red)}


KINDS = {  # kind: (figure, what the library says)
    "interpolant": (lambda ax: play.drag_interpolant(X, Y, 0.7, "A", ax), interpolant),
    "posterior": (lambda ax: play.drag_posterior(X, Y, 0.7, 0.05, "A", ax), posterior),
    "machine": (
        lambda ax: play.drag_machine(CLOUD, [-1] * 6 + [1] * 6, 1.2, 5.0, "A", ax),
        machine,
    ),
    "witness": (lambda ax: play.drag_witness(X, X + 0.4, 0.5, "A", ax), embeddings),
}


@pytest.fixture(scope="module")
def browser():
    with chromium() as browser:
        yield browser


@pytest.fixture(params=KINDS)
def opened(browser, request):
    "(page with one figure, what the library says of its values)"
    make, truth = KINDS[request.param]
    page, wrong = browser.new_page(has_touch=True), []
    page.on("pageerror", lambda error: wrong.append(error))
    page.on("request", lambda request: wrong.append(request.url))
    page.set_content(PAGE.format(make(plt.subplots()[1]).html()))
    yield page, truth
    page.close()
    assert not wrong


def values(page):
    return page.evaluate("document.querySelector('.rn-play').values()")


def agree(page, truth):
    "The figure's values are the library's; returns them"
    found = values(page)
    for name, expected in truth(found).items():
        np.testing.assert_allclose(found[name], expected, rtol=1e-6, atol=1e-6, err_msg=name)
    return found


def middle(page, i):
    box = page.locator("[data-point]").nth(i).locator(".hit").bounding_box()
    return box["x"] + box["width"] / 2, box["y"] + box["height"] / 2


def test_mouse(opened):
    page, truth = opened
    before = agree(page, truth)
    x, y = middle(page, 1)
    page.mouse.move(x, y)
    page.mouse.down()
    page.mouse.move(x + 21, y - 13, steps=4)
    page.mouse.up()
    page.mouse.move(x + 90, y + 50)  # let go: it stays
    after = agree(page, truth)
    np.testing.assert_allclose(middle(page, 1)[0], x + 21, atol=1)
    assert after["points"][1][0] > before["points"][1][0]
    assert after["points"][:1] + after["points"][2:] == before["points"][:1] + before["points"][2:]


def test_finger(opened):
    page, truth = opened
    before, (x, y) = values(page), middle(page, 2)
    touch = page.context.new_cdp_session(page)
    for kind, at in (
        ("Start", [(x, y)]),
        ("Move", [(x - 10, y)]),
        ("Move", [(x - 25, y)]),
        ("End", []),
    ):
        points = [{"x": u, "y": v} for u, v in at]
        touch.send("Input.dispatchTouchEvent", {"type": f"touch{kind}", "touchPoints": points})
    assert agree(page, truth)["points"][2][0] < before["points"][2][0]


def test_keyboard(opened):
    page, truth = opened
    before, said = values(page), page.locator("[role=status]").inner_text()
    for _ in range(3):
        page.keyboard.press("Tab")
    page.keyboard.press("ArrowLeft")
    page.keyboard.press("Shift+ArrowUp")
    after = agree(page, truth)
    point = page.locator("[data-point]").nth(2)
    assert point.evaluate("e => e === document.activeElement")
    (x0, y0), (x1, y1) = before["points"][2], after["points"][2]
    flat = "squared" in after  # the points of two samples keep to their rows
    assert x1 < x0 and (y1 == y0 if flat else y1 > y0)
    assert point.get_attribute("aria-valuetext").startswith("x = ")
    assert float(point.get_attribute("aria-valuenow")) == pytest.approx(x1, rel=1e-2)
    no_say = "alpha" in after and before["alpha"][2] == after["alpha"][2] == 0  # (7.5)
    assert (page.locator("[role=status]").inner_text() == said) == no_say


def test_sliders_and_the_way_back(opened):
    page, truth = opened
    before = values(page)
    for bar in page.locator("input").all():
        bar.focus()
        for _ in range(6):
            page.keyboard.press("ArrowLeft")
    after = agree(page, truth)
    assert after["bandwidth"] == pytest.approx(before["bandwidth"] * 8**-0.3)
    page.locator("button").click()
    assert values(page) == before


def test_two_points_in_one_place(browser):
    page = browser.new_page()
    page.set_content(
        PAGE.format(play.drag_interpolant([0.0, 0.0, 1.0], [1.0, 0.0, 0.0], 0.5).html())
    )
    assert "closer than this kernel can tell" in page.locator("[role=status]").inner_text()
    page.locator("[data-point]").first.focus()
    for _ in range(2):
        page.keyboard.press("Shift+ArrowLeft")
    assert agree(page, interpolant)["norm"] > 1
    page.close()
