"""Imports every module of the package: processes that are forked after it need not."""

from contextlib import suppress
from importlib import import_module

from .notebooks import ROOT

for path in sorted((ROOT / "rkhs_notes").rglob("*.py")):
    if not path.stem.startswith("__"):
        with suppress(Exception):  # a page that needs this module tells what is wrong with it
            import_module(".".join(path.relative_to(ROOT).with_suffix("").parts))
