"""Build the site: execute what changed, stage it with API pages, run Sphinx, then replace _site/."""

import importlib.util
import shutil
import sys
from pathlib import Path

from sphinx.cmd.build import main as sphinx

from .alone import alone
from .notebooks import NBS, ROOT, module, read
from .front import front_pages
from .run import BUILD, execute_cached

SITE, STAGE, HTML = ROOT / "_site", BUILD / "source", BUILD / "html"
API_PAGE = """{title}
{rule}

Written and explained in :doc:`../{notebook}`.

.. automodule:: {title}
   :members:
   :special-members: __call__
"""


def write(path, data):
    "Writes only what changed, so that Sphinx reads only that again"
    if not path.exists() or path.read_bytes() != data:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
    return path


def api_pages(notebooks):
    "(file, text) of one page for each module that a notebook exports; answer keys have no public names"
    for path in notebooks:
        if (name := module(read(path))) and not name.startswith(("_", "answers_")):
            title = f"rkhs_notes.{name}"
            text = API_PAGE.format(title=title, rule="=" * len(title), notebook=path.stem)
            yield STAGE / "api" / f"{name}.rst", text.encode()


def mathjax():
    "MathJax in one file, from the package sphinx-mathjax-offline"
    package = Path(importlib.util.find_spec("sphinx-mathjax-offline").origin).parent
    return (package / "static" / "mathjax" / "tex-svg-full.js").read_bytes()


def stage():
    "Fills STAGE with executed notebooks, pictures and API pages, and removes what is no longer wanted"
    notebooks = execute_cached(sorted(NBS.glob("*.ipynb")))
    wanted = {write(STAGE / path.name, file.read_bytes()) for path, file in notebooks.items()}
    wanted |= {write(STAGE / path.relative_to(NBS), path.read_bytes()) for path in NBS.glob("images/*")}
    wanted |= {write(path, text) for path, text in api_pages(notebooks)}
    wanted |= {write(STAGE / "front" / name, data) for name, data in front_pages()}
    races = (ROOT / "benchmarks" / "page").glob("*")
    wanted |= {write(STAGE / "benchmarks" / path.name, path.read_bytes()) for path in races}
    for path in STAGE.rglob("*.*"):
        if path.is_file() and path not in wanted:
            path.unlink()
    write(BUILD / "static" / "mathjax.js", mathjax())


def run_sphinx():
    "Sphinx into a fresh folder; warnings are errors. Exits, and forgets what it had read, if there are any"
    shutil.rmtree(HTML, ignore_errors=True)
    status = sphinx(
        [
            "-q",
            "-W",
            "--keep-going",
            "-b",
            "html",
            "-c",
            str(Path(__file__).parent),
            "-d",
            str(BUILD / "doctrees"),
            str(STAGE),
            str(HTML),
        ]
    )
    if status:
        shutil.rmtree(BUILD / "doctrees", ignore_errors=True)  # else a warning would show only once
        sys.exit("the site has warnings (above); _site/ stays as it was")


def publish():
    "Swaps the finished site in"
    old = BUILD / "old_site"
    shutil.rmtree(old, ignore_errors=True)
    if SITE.exists():
        SITE.rename(old)
    HTML.rename(SITE)
    print(f"open {SITE.relative_to(ROOT)}/index.html")


if __name__ == "__main__":
    with alone("site"):
        stage()
        run_sphinx()
        publish()
