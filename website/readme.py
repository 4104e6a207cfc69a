"""Write README.md from nbs/index.ipynb; and nbs/desk.md, the lecturer's desk, and the stub of the package.

python -m website.readme [--check]    --check only says, by its exit status, whether all are up to date
"""

import base64
import re
import sys

import rkhs_notes

from . import desk
from .notebooks import NBS, ROOT, read, split

NOTE = "<!-- written from nbs/index.ipynb by `make prepare` -->"
STUB = ROOT / "rkhs_notes" / "__init__.pyi"
WRITTEN = "# written by `make prepare` from the list of daily names in nbs/apps/package.ipynb"


def relink(markdown):
    "Links from nbs/ become links from the top: `00_hilbert.ipynb` is nbs/00_hilbert.ipynb there"
    return re.sub(r"(\]\(|src=\"|href=\")(?![a-z]+:|#|/|\.\./)", r"\1nbs/", markdown).replace(
        "](../", "]("
    )


def picture(png, alt, number):
    "(markdown, {file: bytes}) of a figure"
    file = f"images/readme_{number}.png"
    return f"![{alt}](nbs/{file})", {NBS / file: base64.b64decode(png)}


def render(path):
    "(text of README.md, {file: bytes} of its pictures)"
    parts, pictures = [NOTE], {}
    for cell in read(path).cells:
        options, body = split(cell.source)
        if "hide" in options or not body:
            continue
        if cell.cell_type == "markdown":
            parts.append(relink(body))
            continue
        if options.get("echo") != "false":
            parts.append(f"```python\n{body}\n```")
        for output in cell.outputs:
            data = output.get("data", {})
            if "image/png" in data:
                text, files = picture(
                    data["image/png"], options.get("fig-alt", ""), len(pictures) + 1
                )
                parts.append(text)
                pictures.update(files)
            elif text := output.get("text", data.get("text/plain", "")).rstrip():
                parts.append(f"```text\n{text}\n```")
    return "\n\n".join(parts) + "\n", pictures


def shown_modules():
    "{name: path} of the modules and rooms that tab completion shows"
    names = set(rkhs_notes.__dir__()) - {"__version__", *rkhs_notes._DAILY}
    return {name: rkhs_notes._modules().get(name, name) for name in sorted(names)}


def stub_of(daily, owners, modules):
    "Text of the stub; a daily name that no module has is an error"
    if missing := sorted(set(daily) - set(owners)):
        sys.exit(
            f"no module exports the daily names {', '.join(missing)}: mend nbs/apps/package.ipynb"
        )
    lines = [
        f"from .{path.rpartition('.')[0]} import {name} as {name}" for name, path in modules.items()
    ]
    lines += [f"from .{owners[name]} import {name} as {name}" for name in sorted(daily)]
    return "\n".join([WRITTEN, *lines, "", "__version__: str", ""])


def declared():
    "The stub of this package"
    return stub_of(rkhs_notes._DAILY, rkhs_notes._owners(), shown_modules())


def main(check=False, path=NBS / "index.ipynb", readme=ROOT / "README.md", stub=STUB):
    text, pictures = render(path)
    wanted = {readme: text.encode(), **pictures, stub: declared().encode()}
    wanted[NBS / "desk.md"] = desk.text().encode()
    stale = [
        file for file, data in wanted.items() if not file.exists() or file.read_bytes() != data
    ]
    if check:
        sys.exit(
            f"not up to date: {', '.join(file.name for file in stale)}; run make prepare"
            if stale
            else 0
        )
    for file in stale:
        file.parent.mkdir(exist_ok=True)
        file.write_bytes(wanted[file])


if __name__ == "__main__":
    main(check="--check" in sys.argv)
