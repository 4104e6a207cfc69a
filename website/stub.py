"""What rkhs_notes/__init__.pyi says, from which editors and type checkers know what `rn.` offers."""

import sys

import rkhs_notes  # noqa: E402

from .notebooks import ROOT

STUB = ROOT / "rkhs_notes" / "__init__.pyi"
NOTE = "# written by `make prepare` from the list of daily names in nbs/apps/package.ipynb"


def shown_modules():
    "{name: path} of the modules and rooms that tab completion shows"
    names = set(rkhs_notes.__dir__()) - {"__version__", *rkhs_notes._DAILY}
    return {name: rkhs_notes._modules().get(name, name) for name in sorted(names)}


def render(daily, owners, modules):
    "Text of the stub; a daily name that no module has is an error"
    if missing := sorted(set(daily) - set(owners)):
        sys.exit(
            f"no module exports the daily names {', '.join(missing)}: mend nbs/apps/package.ipynb"
        )
    lines = [
        f"from .{path.rpartition('.')[0]} import {name} as {name}" for name, path in modules.items()
    ]
    lines += [f"from .{owners[name]} import {name} as {name}" for name in sorted(daily)]
    return "\n".join([NOTE, *lines, "", "__version__: str", ""])


def declared():
    "The stub of this package"
    return render(rkhs_notes._DAILY, rkhs_notes._owners(), shown_modules())
