"""A call enters one door: a public function reads its arguments once, and engines trust them.

python tests/house/test_doors.py [module]      the functions whose calls enter further doors, and how many
"""

import inspect
import json
import sys
import warnings
from pathlib import Path

import numpy as np
import pytest
from test_contracts import CONTRACTS, DRAWS, call, drawn

from conftest import refuse
from fuzzing import numbers_in
from rkhs_notes.base import contracts, values

LIST = Path(__file__).with_name("doors.json")  # {"module.function": doors}; numbers only shrink
DOOR = next(
    code
    for code in contracts.contract.__code__.co_consts
    if inspect.iscode(code) and code.co_name == "read_then"
)
DOORS = {DOOR, values.Value.__post_init__.__code__}


def doors(f, arguments):
    "How many doors a call enters; None if it is refused"
    entered = []

    def follow(frame, event, _):
        if event == "call" and frame.f_code in DOORS:
            entered.append(frame)

    sys.setprofile(follow)
    try:
        _, error = call(f, arguments)
    finally:
        sys.setprofile(None)
    return None if error else len(entered)


def counted(name, f, rounds=3):
    "The most doors of a few calls with drawn arguments"
    rng, found = np.random.default_rng(0), []
    for _ in range(rounds):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            arguments = drawn(f, rng, DRAWS.get(name, {}))
            found.append(doors(f, arguments))
    return max((n for n in found if n is not None), default=0)


@pytest.mark.parametrize("name, f", CONTRACTS, ids=[name for name, _ in CONTRACTS])
def test_a_call_enters_no_more_doors_than_listed(name, f):
    allowed = json.loads(LIST.read_text(encoding="utf-8")).get(name, 1)
    assert counted(name, f) <= allowed, f"python tests/house/test_doors.py {name.partition('.')[0]}"


def arrays_in(arguments):
    "The arrays that a caller passed, also in lists"
    for value in arguments.values():
        for part in value if isinstance(value, (list, tuple)) else [value]:
            if isinstance(part, np.ndarray) and part.flags.writeable and part.dtype.kind == "f":
                yield part


@pytest.mark.parametrize("name, f", CONTRACTS, ids=[name for name, _ in CONTRACTS])
def test_what_was_answered_stays_when_the_arguments_are_overwritten(name, f):
    arguments = drawn(f, np.random.default_rng(1), DRAWS.get(name, {}))
    result, error = call(f, arguments)
    if error is None:
        before = [(path, A.copy()) for path, A in numbers_in(result)]
        for A in arrays_in(arguments):
            A[...] = 1e3
        after = numbers_in(result)
        refuse([path or name for (path, a), (_, b) in zip(before, after, strict=True)
                if not np.array_equal(a, b, equal_nan=True)])  # fmt: skip


def test_a_result_that_looks_into_an_argument_is_noticed():
    x = np.ones(3)
    view, _ = numbers_in((x[:2], 1.0))
    assert [A is x for A in arrays_in({"x": x, "more": [x, 2.0]})] == [True, True]
    x[...] = 1e3
    assert view[1][0] == 1e3


def test_the_list_names_public_functions_that_still_enter_more():
    "What became one door leaves the list: python tests/house/test_doors.py --write"
    listed, functions = json.loads(LIST.read_text(encoding="utf-8")), dict(CONTRACTS)
    refuse([name for name in listed if name not in functions or counted(name, functions[name]) < 2])


if __name__ == "__main__":
    wanted = sys.argv[1:] or [""]
    table = {
        name: n
        for name, f in CONTRACTS
        if name.startswith(tuple(wanted)) and (n := counted(name, f)) > 1
    }
    if "--write" in sys.argv:
        table = {n: c for name, f in CONTRACTS if (c := counted(n := name, f)) > 1}
        LIST.write_text(json.dumps(table, indent=1) + "\n", encoding="utf-8")
    print(json.dumps(table, indent=1))
