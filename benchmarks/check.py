"""Fail if a row has fallen below its aim: by more than its spread, and twice.

    python benchmarks/check.py [row ...] [--cpu]      as `make bench-check` does

All rows run once. A race whose aim lies outside the quartiles of the turns' ratios, on the wrong side, runs
a second time. What falls short again is named, and the status is 1.
"""

import json
import subprocess
import sys

import runner


def fallen(rows):
    "{(race, contender): row} of the rows below their aim by more than their spread"
    return {
        (row["race"], row["contender"]): row
        for row in rows
        if row.get("reached") is False and row.get("sure") is not False
    }


def read(path):
    return json.loads(path.read_text(encoding="utf-8"))["rows"] if path.exists() else []


def again(name, race, options):
    "The rows of one race, run once more"
    path = runner.RESULTS / "again" / f"{name}.json"
    path.unlink(missing_ok=True)
    command = [sys.executable, runner.HERE / f"{name}.py", "--only", race, "--json", path, *options]
    subprocess.run(command)
    return read(path)


def twice(names, options=(), second=again):
    """[(row file, first row, second row or None)] of what fell short two times

    Parameters
    ----------
    names : list of str      row files that have results
    second : function        second(name, race, options) -> rows of a second run
    """
    found = []
    for name in names:
        first = fallen(read(runner.RESULTS / f"{name}.json"))
        for race in sorted({race for race, _ in first}):
            rows = second(name, race, options)
            seen, there = fallen(rows), {(row["race"], row["contender"]) for row in rows}
            found += [
                (name, row, seen.get(who))
                for who, row in first.items()
                if who[0] == race and (who in seen or who not in there)
            ]
    return found


def line(name, row, more):
    ratios = f"{row['ratio']:.2f} [{row['low']:.2f}, {row['high']:.2f}]"
    then = f"{more['ratio']:.2f} [{more['low']:.2f}, {more['high']:.2f}]" if more else "no result"
    return f"  {name}, {row['race']}, {row['contender']}: {ratios}, then {then}; aim {row['reach']:.3g}"


def main(arguments):
    names, options = runner.asked_for(arguments)
    failed = runner.run_files([*names, *options])
    short = twice(names, options)
    print(f"\n{len(short)} fell below their aims twice" + ":" * bool(short), file=sys.stderr)
    print(*(line(*one) for one in short), sep="\n", file=sys.stderr)
    return int(bool(failed or short))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
