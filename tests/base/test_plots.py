"""Plots: the style, the helpers, and slider frames that work with and without a kernel."""

import base64
import re
import subprocess
import sys

import matplotlib
import numpy as np
import pytest

matplotlib.use("Agg")
import matplotlib.pyplot as plt  # noqa: E402

from rkhs_notes import TestResult, plots, settings  # noqa: E402
from rkhs_notes.base.plots import (  # noqa: E402  # noqa: E402
    bar_edges,
    diagram,
    frames,
    heatmap,
    plot_classes,
    plot_decision,
    use_style,
)


@pytest.fixture(autouse=True)
def clean():
    with matplotlib.rc_context():
        plt.close("all")
        yield
        plt.close("all")


def line(slope):
    fig, ax = plt.subplots(figsize=(3, 2))
    ax.plot([0, slope])
    ax.set_ylim(0, 5)
    return fig


def test_importing_plots_does_not_import_matplotlib():
    code = "import sys, rkhs_notes.plots; sys.exit('matplotlib' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code]).returncode == 0


def test_style_takes_its_resolution_from_the_settings():
    with settings.using(dpi=77):
        use_style()
        assert plt.rcParams["figure.dpi"] == plt.rcParams["savefig.dpi"] == 77
    use_style()
    assert plt.rcParams["figure.dpi"] == settings.dpi


def test_palette_names_are_colours():
    assert all(
        matplotlib.colors.is_color_like(c)
        for c in [*plots.palette.values(), plots.INK, plots.MUTED]
    )
    assert len(set(plots.palette.values())) == 5


@pytest.mark.parametrize(
    "draw",
    [
        line,
        lambda s: line(s).axes[0],  # an axis stands for its figure
        lambda s: line(s) and None,  # nothing returned: the figure that was opened
    ],
)
def test_draw_may_return_a_figure_an_axis_or_nothing(draw):
    assert len(set(frames(draw, [1, 2, 3]).pngs)) == 3
    assert not plt.get_fignums()


def test_draw_may_return_an_axis_of_a_subfigure_or_a_figure_outside_pyplot():
    def nested(s):
        return plt.figure(figsize=(3, 2)).subfigures(1, 2)[0].subplots()

    def outside(s):
        fig = matplotlib.figure.Figure(figsize=(3, 2))
        fig.subplots().plot([0, s])
        return fig

    assert len(frames(nested, [1]).pngs) == 1 and len(set(frames(outside, [1, 2]).pngs)) == 2


def test_frames_are_repeatable_and_of_one_size_even_if_the_style_crops():
    plt.rcParams["savefig.bbox"] = "tight"
    a, b = frames(line, [1, 2]), frames(line, [1, 2])
    assert a == b and a.html() == b.html()
    assert {plots._png_size(p) for p in a.pngs} == {(3 * settings.dpi, 2 * settings.dpi)}
    assert all(b"Software" not in p for p in a.pngs)


def test_a_figure_that_was_open_before_stays_open():
    mine = plt.figure()
    frames(line, [1])
    assert plt.get_fignums() == [mine.number]


@pytest.mark.parametrize("start, index", [(None, 0), (0.25, 1), ("0.25", 1), (1, 2)])
def test_start_is_a_state_or_its_name(start, index):
    assert frames(line, [0.1, 0.25, 1], start=start).start == index


@pytest.mark.parametrize("start, index", [("large", 1), (5.0, 1), (0.1, 0), (2.0, 2), (3.0, 2)])
def test_start_is_a_name_before_it_is_a_state(start, index):
    assert frames(line, {"small": 0.1, "large": 5.0, "2": 3.0}, start=start).start == index


def test_labels_of_many_digits_keep_them():
    _, ax = plt.subplots()
    plot_classes(np.eye(2), [20200101, 20200102], ax=ax)
    assert {text for _, text in zip(*ax.get_legend_handles_labels(), strict=True)} == {
        "y = 20200101",
        "y = 20200102",
    }


def test_names_come_from_the_dict_and_numbers_are_short():
    assert frames(line, {"low": 1, 2: 2}).names == ("low", "2")
    assert frames(line, [np.float64(0.1) * 3, 2]).names == ("0.3", "2")


@pytest.mark.second_route("Frames", "frames", "known texts")
def test_alt_text_for_every_picture():
    f = frames(line, [1, 2], label="slope", alt="a line;")
    assert f.alts == ("a line; slope = 1", "a line; slope = 2")
    assert frames(line, [1, 2], alt=lambda s: f"up to {s}").alts == ("up to 1", "up to 2")
    assert frames(line, [1]).alts == ("state = 1",)


def test_html_is_complete_and_safe():
    nasty = '"</script><b>'
    f = frames(line, {nasty: 1, "b": 2}, label="<i>", start="b", alt='say "hi" &')
    page = f.html()
    assert (
        page.count("<script>") == page.count("</script>") == 1
        and "<b>" not in page
        and "<i>" not in page
    )
    assert page.count('type="range"') == page.count("<img ") == 1 and "http" not in page
    still = re.search(r'<img src="data:image/png;base64,([^"]+)"', page).group(1)
    assert base64.b64decode(still) == f.pngs[1]
    assert all(base64.b64encode(p).decode() in page.split("<script>")[1] for p in f.pngs)
    assert "<b>" not in frames(line, {nasty: 1}).html()
    key = re.search(r'data-frames="(\w+)"', page).group(1)
    assert page.count(key) == 2 and key not in frames(line, [1, 3]).html()


def test_bundle_without_a_kernel_has_page_still_and_text():
    f = frames(line, [1, 2], label="slope")
    bundle = f._repr_mimebundle_()
    assert set(bundle) == {"text/html", "image/png", "text/plain"}
    assert base64.b64decode(bundle["image/png"]) == f.pngs[0]
    assert bundle["text/plain"] == "<2 frames, slope: 1, 2>"


def test_bundle_in_a_live_kernel_adds_the_widget(monkeypatch):
    pytest.importorskip("ipywidgets")
    monkeypatch.setattr(plots, "_in_live_kernel", lambda: True)
    f = frames(line, [1, 2])
    assert {"application/vnd.jupyter.widget-view+json", "text/html", "image/png"} < set(
        f._repr_mimebundle_()
    )
    slider, picture = f.widget().children
    before = picture.value
    slider.value = 1
    assert picture.value != before and base64.b64encode(f.pngs[1]).decode() in picture.value
    alone = frames(line, [1])._repr_mimebundle_()  # nothing to slide
    assert "application/vnd.jupyter.widget-view+json" not in alone


def two_figures(s):
    line(s)
    return line(s)


@pytest.mark.parametrize(
    "draw, states, options, error, words",
    [
        (line, [], {}, ValueError, "states is empty"),
        (line, {}, {}, ValueError, "states is empty"),
        (line, "abc", {}, TypeError, "states"),
        (line, 3, {}, TypeError, "states"),
        (line(1), [1], {}, TypeError, "not its value"),
        (lambda s: None, [1], {}, TypeError, "NoneType, not a figure"),
        (lambda s: plt.plot([s]), [1], {}, TypeError, "list, not a figure"),
        (lambda s: s, [1], {}, TypeError, "int, not a figure"),
        (two_figures, [1], {}, ValueError, "2 figures"),
        (lambda s: plt.figure(figsize=(s, 2)), [2, 3], {}, ValueError, "different sizes"),
        (line, [1, 2], dict(start=7), ValueError, "start = '7'"),
        (line, [0.1, 0.1], {}, ValueError, "names"),
        (lambda s: [line(s), 1 / 0], [1], {}, ZeroDivisionError, "division"),
    ],
)
def test_errors_teach_and_leave_no_figure_open(draw, states, options, error, words):
    plt.close("all")
    with pytest.raises(error, match=re.escape(words)):
        frames(draw, states, **options)
    assert not plt.get_fignums()


@pytest.mark.second_route("plot_decision", "what the axes hold")
def test_decision_regions_follow_the_sign():
    X, y = np.array([[0.0, 0], [1, 1], [2, 0]]), np.array([-1.0, 1, 1])
    ax = plot_decision(lambda Z: Z[:, 0] - 0.5, X, y, plt.subplots()[1], resolution=50)
    border = np.vstack([p.vertices for p in ax.collections[1].get_paths()])
    assert np.allclose(border[:, 0], 0.5)
    colours = [matplotlib.colors.to_hex(c.get_facecolor()[0]) for c in ax.collections[2:]]
    assert colours == [plots.WARM, plots.ACCENT]
    assert [c.get_offsets().tolist() for c in ax.collections[2:]] == [[[0, 0]], [[1, 1], [2, 0]]]
    below, above = ax.collections[0].get_facecolor()
    assert [matplotlib.colors.to_hex(c) for c in (below, above)] == [plots.WARM, plots.ACCENT]
    everywhere = plot_decision(lambda Z: np.ones((len(Z), 1)), X, y, plt.subplots()[1])
    assert len(everywhere.collections) == 3  # no border to draw


def test_a_plateau_at_zero_has_the_colour_of_the_class_that_is_predicted():
    "predict calls f ≥ 0 the larger label"
    X, y = np.array([[0.0, 0.0], [1.0, 1.0]]), [0, 1]
    seen = []
    for value in (0.0, 1.0, -1e-300):
        ax = plot_decision(lambda Z, v=value: np.full(len(Z), v), X, y, plt.subplots()[1])
        ax.figure.canvas.draw()
        x, row = ax.transData.transform([0.5, 0.25])
        picture = np.asarray(ax.figure.canvas.buffer_rgba())
        seen.append(tuple(picture[picture.shape[0] - int(row), int(x)]))
    assert seen[0] == seen[1] != seen[2]


def test_a_constant_column_still_gets_a_window():
    seen = []
    plot_decision(
        lambda Z: seen.append(Z) or Z[:, 0] - 0.5, np.array([[0.0, 1], [1, 1]]), [0, 1], margin=0.1
    )
    assert (
        np.allclose([seen[0].min(0), seen[0].max(0)], [[-0.1, 0.9], [1.1, 1.1]]) and len(seen) == 1
    )


@pytest.mark.parametrize(
    "call, words",
    [
        (lambda: plot_classes(np.ones((3, 3)), [0, 1, 1]), "two columns X"),
        (lambda: plot_classes(np.ones((3, 2)), [0, 1]), "y has shape"),
        (lambda: plot_classes(np.ones((3, 2)), [1, 1, 1]), "the number of labels in y = 1"),
        (lambda: plot_classes(np.ones((6, 2)), range(6)), "the number of labels in y = 6"),
        (lambda: plot_decision(lambda Z: Z, np.eye(2), [0, 1]), "f.points. has shape"),
        (
            lambda: plot_decision(lambda Z: Z[:, 0] * np.nan, np.eye(2), [0, 1]),
            "f.points. is not finite",
        ),
        (lambda: plot_decision(len, np.eye(3), [0, 1, 1]), r"pass \(n, 2\)"),
        (lambda: heatmap([1.0, 2]), "K has shape"),
        (lambda: heatmap([[1.0, np.nan]]), "not finite"),
    ],
)
def test_helpers_refuse_what_they_cannot_draw(call, words):
    with pytest.raises(ValueError, match=words):
        call()


@pytest.mark.second_route("plot_classes", "what the axes hold")
def test_classes_differ_in_colour_and_marker_and_carry_labels():
    ax = plot_classes([0.0, 1, 2, 3], ["a", "b", "c", "a"])
    assert [c.get_label() for c in ax.collections] == ["a", "b", "c"]
    assert len({c.get_paths()[0].vertices.tobytes() for c in ax.collections}) == 3


@pytest.mark.second_route("diagram", "what the axes hold")
def test_a_diagram_has_its_boxes_and_arrows_inside_the_frame():
    ax = diagram({"a": (0, 0), "b": (2, 1), "c": (4, 0)}, [("a", "b", "up"), ("b", "c", "down")])
    places = {text.get_text(): text.get_position() for text in ax.texts}
    assert places["a"] == (0, 0) and places["up"] == (1, 0.5) and places["down"] == (3, 0.5)
    arrows = [text for text in ax.texts if getattr(text, "arrow_patch", None)]
    assert [(arrow.xyann, arrow.xy) for arrow in arrows] == [((0, 0), (2, 1)), ((2, 1), (4, 0))]
    (left, right), (low, high) = ax.get_xlim(), ax.get_ylim()
    assert left < 0 and right > 4 and low < 0 and high > 1
    with pytest.raises(ValueError, match="'d'; the boxes are"):
        diagram({"a": (0, 0)}, [("a", "d", "")])


@pytest.mark.second_route("heatmap", "what the axes hold")
def test_heatmap_centres_signed_colours_at_zero_and_forgives_rounding():
    assert heatmap([[1.0, -3], [0, 2]]).images[0].get_clim() == (-3, 3)
    image = heatmap([[1.0, -1e-16], [0.25, 1]]).images[0]
    assert image.get_cmap().name == plots.SEQUENTIAL
    assert heatmap(np.zeros((2, 2))).figure.axes[1].get_ylabel() == "k(x, y)"


@pytest.mark.parametrize(
    "values", [[3.0, 3.0], [1.0, 1.0 + 2**-51], [0.0, 0.0], [-1e-300, -1e-300]]
)
def test_bars_over_equal_values(values):
    "NumPy refuses thirty bars between two neighbours among the floats"
    edges = bar_edges(values, 30)
    assert len(edges) == 31 and (np.diff(edges) > 0).all() and edges[0] < min(values) < edges[-1]
    TestResult(1.0, 0.5, np.resize(values, 9)).plot()


def test_bars_over_other_values_are_numpys():
    values = np.random.default_rng(0).normal(size=50)
    np.testing.assert_array_equal(bar_edges(values, 7), np.histogram_bin_edges(values, 7))
