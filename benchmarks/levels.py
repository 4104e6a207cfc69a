"""Files of counts instead of races: how often tests reject, how a cost grows. Here is what they share."""

import sys
from pathlib import Path

import numpy as np
from runner import RESULTS, clock_of, described, machine, parser, write

from rkhs_notes.engines.testing.resampling import binomial_interval

LEVEL = 0.05


def main(file, jobs, head, arguments=None):
    """Run one file: its rows print themselves and go into JSON; the exit status is 1 if an aim is missed.

    Parameters
    ----------
    file : str                  its __file__
    jobs : dict                 {title: function (quick, clock) -> list of rows}
    head : str                  a line above them
    arguments : list of str     instead of the command line
    """
    name = Path(file).stem
    asked, rows = parser(name).parse_args(arguments), []
    clock, threads = clock_of(asked)
    with threads:
        facts = machine(asked.cpu)
        print(described(facts), head, sep="\n")
        for title, job in jobs.items():
            if asked.only in title:
                rows += job(asked.quick, clock)
    write(asked.json or RESULTS / f"{name}.json", name, facts, rows)
    sys.exit(not asked.quick and any(row.get("reached") is False for row in rows))


def one_stream(stream, draw, test):
    "The p-value of a test by the seed: one generator draws the sample and goes on in the test"

    def trial(seed):
        rng = np.random.default_rng([stream, seed])
        return test(*draw(rng), rng)

    return trial


def rejections(trial, n_tests):
    "How many of n_tests samples are rejected"
    return sum(bool(trial(seed) <= LEVEL) for seed in range(n_tests))


def level_row(name, kind, n_tests, trial, quick, clock):
    """Rejections where nothing is to be found, beside the 99 % binomial interval.

    kind : str     exact: they must lie within it; wrong: they must not; approximate: they are told
    """
    n_tests = 20 if quick else n_tests
    low, high = binomial_interval(LEVEL, n_tests)
    count = rejections(trial, n_tests)
    inside = low <= count <= high
    where = "inside" if inside else "OUTSIDE"
    print(f"{name:50}{kind:12}{count / n_tests:.4f} of {n_tests} {where}", flush=True)
    reached = dict(exact=inside, approximate=None, wrong=not inside)[kind]
    return [dict(race=name, kind=kind, tests=n_tests, rejections=count, interval=[low, high],
                 inside=inside, reached=reached)]  # fmt: skip
