"""A plugin of pytest under coverage (make coverage): which test runs which line, and how long it takes."""

import json
from collections import defaultdict
from pathlib import Path

import coverage
import pytest

SECONDS = Path(__file__).parents[1] / "_coverage" / "seconds.json"
seconds = defaultdict(float)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item):
    following = coverage.Coverage.current()
    following.switch_context(item.nodeid)
    try:
        return (yield)
    finally:
        following.switch_context("")


def pytest_runtest_logreport(report):
    if report.passed:
        seconds[report.nodeid] += report.duration


def pytest_sessionfinish(session):
    if not hasattr(session.config, "workerinput"):
        known = json.loads(SECONDS.read_text(encoding="utf-8")) if SECONDS.exists() else {}
        SECONDS.write_text(json.dumps(known | seconds, indent=0), encoding="utf-8")
