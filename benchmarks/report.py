"""The page of the races: a table, a picture of all ratios, and the slopes, from the JSON in _bench/.

    python benchmarks/report.py            _bench/page/, from the rows that have run here
    python benchmarks/report.py --store    benchmarks/page/, which the site and a forge show

It says for each row on what machine, with what versions and threads, and how far the turns spread.
"""

import json
import sys
from pathlib import Path

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np
import runner
from aims import FASTER, aims_of

from rkhs_notes.base.plots import ACCENT, GOLD, INK, MUTED, WARM, use_style

STORED = runner.HERE / "page"
WORDS = """\
Results are compared first: a race is run only where ours and its peers agree. Then the contenders take
turns, A B A B. A ratio is the time of the other over ours, medians of the turns, with the quartiles of
the turns' own ratios; above 1 ours is faster. A limit is what nobody can avoid, such as one factorisation.
The aim stands in `benchmarks/aims.py`; *short* marks a row below it, with a question mark where the aim
lies within the spread. Memory is the peak of a fresh process above what it held before, in MiB, results
included. To run them again: `make bench`; to be told of a row that fell below its aim twice:
`make bench-check`.
"""
ALT = (
    "Ratios of time, one line a race and contender, on a logarithmic axis with a bar at 1. Dots right of "
    "the bar are races that ours wins; hollow diamonds are limits, short ticks the aims."
)
BEST_ALT = (
    "The time of the fastest peer over ours, a dot a race, sorted, on a logarithmic axis with a bar at 1; "
    "the dots above it, most of them, are races that ours wins."
)
SLOPES_ALT = (
    "Seconds against n on double logarithmic axes, one panel a job, with a dashed line of the "
    "slope that theory names through the last point."
)


def results(folder=runner.RESULTS):
    "{row file: {machine, rows}} of the races that have run, whole"
    found = (
        json.loads(path.read_text(encoding="utf-8")) for path in sorted(Path(folder).glob("*.json"))
    )
    return {one["name"]: one for one in found if one["name"] != "slopes"}


def pairs(rows):
    "(ours, other) for each contender beside ours that was timed"
    for row in rows:
        if row.get("role") == "ours":
            ours = row
        elif row.get("ratio") is not None:
            yield ours, row


def against_best(found):
    "[(ratio, race, contender)] of each race and the fastest of its peers, the worst first"
    best = {}
    for name, one in found.items():
        for ours, other in pairs(one["rows"]):
            race = f"{name}: {ours['race']}"
            if other["role"] == "peer" and not other["ratio"] > best.get(race, (np.inf,))[0]:
                best[race] = (other["ratio"], race, other["contender"])
    return sorted(best.values())


def headline(best):
    "One sentence: how often, by how much, and where not"
    ratios, (least, race, contender) = [o[0] for o in best], best[0]
    return (
        f"In {sum(o > 1 for o in ratios)} of {len(best)} races ours is faster than the fastest of its peers; "
        f"the median of these ratios of time is {np.median(ratios):.3g}, the least {least:.3g} "
        f"({race}, against {contender})."
    )


def reasons(best):
    "A line for each reason why a peer was faster, with races and ratios; without one that is told"
    told = {}
    for ratio, race, contender in best:
        row, _, title = race.partition(": ")
        why = aims_of(row, title, FASTER).get(contender, "no reason is known")
        if ratio < 1:
            told.setdefault((contender, why), []).append(f"{title}: {ratio:.2g}")
    for (contender, why), races in told.items():
        yield f"- {contender}: {why} ({'; '.join(races)})."


def number(row, *keys, form=".3g"):
    "One value of a row, or two or three of them with their spread in brackets"
    first, *rest = (format(row[key], form) if row.get(key) is not None else "" for key in keys)
    return f"{first} [{', '.join(rest)}]" if first and rest else first


def aim(row):
    "The ratio to reach, and whether it was missed"
    if row.get("reach") is None:
        return ""
    return f"{row['reach']:.3g}" + (" *short*" + "?" * (not row["sure"])) * (not row["reached"])


def table(rows):
    "Lines of Markdown, a race's own seconds once"
    yield "| race | ours, seconds | against | ratio | aim | MiB, ours | MiB, theirs |"
    yield "|---|---|---|---|---|---|---|"
    before = None
    for ours, other in pairs(rows):
        new, before = ours["race"] != before, ours["race"]
        own = (
            ours["race"],
            number(ours, "median", "lower", "upper"),
            number(ours, "peak_mib", form=".0f"),
        )
        race, seconds, memory = own if new else ("", "", "")
        limit = " (limit)" * (other["role"] == "limit")
        cells = (
            race,
            seconds,
            other["contender"] + limit,
            number(other, "ratio", "low", "high"),
            aim(other),
            memory,
            number(other, "peak_mib", form=".0f"),
        )
        yield "| " + " | ".join(cells) + " |"


def picture(found, path):
    "The ratios of all races on one axis"
    lines = [
        (f"{name}: {ours['race']}, {other['contender']}"[:110], other)
        for name, one in found.items()
        for ours, other in pairs(one["rows"])
    ][::-1]
    fig, ax = plt.subplots(figsize=(11, 1.2 + 0.21 * len(lines)))
    for height, (_, row) in enumerate(lines):
        limit = row["role"] == "limit"
        colour = MUTED if limit else WARM if row["reached"] is False else ACCENT
        ax.plot([row["low"], row["high"]], [height] * 2, color=colour, lw=2, alpha=0.5)
        ax.plot(
            row["ratio"],
            height,
            "D" if limit else "o",
            color=colour,
            ms=5,
            mfc="white" if limit else colour,
        )
        if row["reach"] is not None:
            ax.plot([row["reach"]] * 2, [height - 0.35, height + 0.35], color=GOLD, lw=2)
    ax.axvline(1, color=INK, lw=1)
    ax.set(
        xscale="log",
        yticks=range(len(lines)),
        ylim=(-0.8, len(lines) - 0.2),
        xlabel="their time / ours (1: equal; gold tick: aim; diamond: limit; red: short of its aim)",
    )
    ax.xaxis.set_major_formatter("{x:g}")
    ax.set_yticklabels([label for label, _ in lines], fontsize=7)
    fig.savefig(path, dpi=110, bbox_inches="tight")
    plt.close(fig)
    return lines


def small_picture(best, path):
    "Each race against the fastest of its peers, from the worst to the best"
    fig, ax = plt.subplots(figsize=(6, 2.2), layout="constrained")
    ratios = [o[0] for o in best]
    ax.scatter(range(len(best)), ratios, s=12, c=[ACCENT if o > 1 else WARM for o in ratios])
    ax.axhline(1, color=INK, lw=1)
    ax.set(yscale="log", xticks=[], xlabel="races, sorted", ylabel="their time / ours")
    ax.yaxis.set_major_formatter("{x:g}")
    fig.savefig(path, dpi=110)
    plt.close(fig)


def slopes_picture(rows, path):
    "Cost against n, one panel a job"
    fig, axes = plt.subplots(2, 3, figsize=(11, 6), layout="constrained")
    for ax, row in zip(axes.flat, rows, strict=True):
        n, seconds = np.array(row["n"]), np.array(row["seconds"])
        ax.loglog(n, seconds, "o-", color=ACCENT)
        ax.loglog(n, seconds[-1] * (n / n[-1]) ** row["theory"], "--", color=MUTED)
        ax.set(
            title=f"{row['job']}: slope {row['slope']:.2f}, theory {row['theory']}",
            xlabel="n",
            ylabel="seconds",
        )
        ax.minorticks_off()
        ax.set_xticks(n, [f"{v}" for v in n], fontsize=7)
    fig.savefig(path, dpi=110, bbox_inches="tight")
    plt.close(fig)


def told(facts):
    "Machine, versions and threads in a quotation"
    return "> " + "; ".join(runner.described(facts).splitlines())


def page(found, slopes, folder):
    "README.md and its pictures"
    folder.mkdir(parents=True, exist_ok=True)
    picture(found, folder / "ratios.png")
    best = against_best(found)
    small_picture(best, folder / "best.png")
    text = ["# How fast, against whom\n", headline(best), f"\n![{BEST_ALT}](best.png)\n"]
    if why := [*reasons(best)]:
        text += ["Where a peer was faster, why, and its time over ours:\n", *why, ""]
    left = [name for name in runner.row_files() if name not in {*found, *["slopes"] * bool(slopes)}]
    text += [WORDS, f"Not raced in this run: {', '.join(left)}.\n"]
    text += [f"![{ALT}](ratios.png)\n"]
    for name, one in found.items():
        lines = [*table(one["rows"])]
        if len(lines) > 2:
            text += [f"## {name}\n", *lines, "", told(one["machine"]), ""]
    if slopes:
        slopes_picture(slopes["rows"], folder / "slopes.png")
        text += [
            "## How the cost grows with n\n",
            "| job | slope | theory | what it counts |",
            "|---|---|---|---|",
        ]
        text += [
            f"| {row['job']} | {row['slope']:.2f} | {row['theory']} | {row['counts']} |"
            for row in slopes["rows"]
        ]
        text += ["", f"![{SLOPES_ALT}](slopes.png)", "", told(slopes["machine"]), ""]
    (folder / "README.md").write_text("\n".join(text), encoding="utf-8")


def main(arguments=()):
    found, slopes = results(), runner.RESULTS / "slopes.json"
    if not found:
        sys.exit("nothing has run yet: make bench, or make bench ROW=ridge")
    use_style()
    folder = STORED if "--store" in arguments else runner.RESULTS / "page"
    grown = json.loads(slopes.read_text(encoding="utf-8")) if slopes.exists() else None
    page(found, grown, folder)
    print(f"the page: {folder / 'README.md'}")


if __name__ == "__main__":
    main(sys.argv[1:])
