"""Build the site: execute what changed, stage it with API pages, run Sphinx, then replace _site/."""

import importlib.util
import shutil
import sys
from pathlib import Path

from sphinx.cmd.build import main as sphinx

from . import api
from .alone import alone
from .front import front_pages
from .notebooks import NBS, ROOT, all_pages, flat, module, read, room
from .run import BUILD, execute_cached

SITE, STAGE, HTML = ROOT / "_site", BUILD / "source", BUILD / "html"


def write(path, data):
    "Writes only what changed, so that Sphinx reads only that again"
    if not path.exists() or path.read_bytes() != data:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
    return path


PARTS = "startup core input/tex-base output/chtml output/chtml/fonts/tex a11y/assistive-mml".split()
PARTS += [f"input/tex/extensions/{name}" for name in ("ams", "newcommand", "boldsymbol")]


def mathjax():
    "MathJax behind our settings, in one file, and its fonts, from the package sphinx-mathjax-offline"
    package = Path(importlib.util.find_spec("sphinx-mathjax-offline").origin).parent
    home, static = package / "static" / "mathjax", BUILD / "static"
    parts = [Path(__file__).parent / "static" / "formulas.js", *(home / f"{o}.js" for o in PARTS)]
    write(static / "mathjax.js", b"\n".join(part.read_bytes() for part in parts))
    for font in home.glob("output/chtml/fonts/woff-v2/*"):
        write(static / "mathfonts" / font.name, font.read_bytes())


def stage():
    "Fills STAGE with executed notebooks, pictures and API pages, and removes what is no longer wanted"
    notebooks = execute_cached(all_pages())
    wanted = {
        write(STAGE / path.name, flat(file.read_text(encoding="utf-8")).encode())
        for path, file in notebooks.items()
    }
    wanted |= {
        write(STAGE / path.relative_to(NBS), path.read_bytes()) for path in NBS.glob("images/*")
    }
    wanted |= {write(STAGE / name, text.encode()) for name, text in api.files()}
    wanted |= {write(STAGE / "front" / name, data) for name, data in front_pages()}
    races = (ROOT / "benchmarks" / "page").glob("*")
    wanted |= {write(STAGE / "benchmarks" / path.name, path.read_bytes()) for path in races}
    for path in STAGE.rglob("*.*"):
        if path.is_file() and path not in wanted:
            path.unlink()
    mathjax()


def run_sphinx():
    "Sphinx into a fresh folder; warnings are errors. Exits, and forgets what it had read, if there are any"
    shutil.rmtree(HTML, ignore_errors=True)
    status = sphinx(
        [
            "-q",
            "-j",
            "auto",
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


LETTERS = {
    "engines": "S",
    "answers": "V",
}  # pages had a letter before their names, and some kept to no rule
FORMER = {  # others, and pages that are part of another
    "A_errors": "errors",
    "B_settings": "settings",
    "C_arrays": "arrays",
    "C_contracts": "contracts",
    "D_datasets": "datasets",
    "E_plots": "plots",
    "S_play": "play",
    "S_diagnoses": "diagnoses",
    "V_exercises": "exercises",
    "W_classroom": "classroom",
    "W_comparison": "comparison",
    "W_estimators": "estimators",
    "X_cli": "cli",
    "Y_package": "package",
    "S_search": "searches",
    "relevance": "07a_machines",
    "S_relevance": "07a_machines",
    "tall": "linear_machines",
    "S_tall": "linear_machines",
    "wide": "linear_machines",
    "S_wide": "linear_machines",
    "trees": "13a_graphs",
    "S_trees": "13a_graphs",
    "turns": "08c_unmixing",
    "S_turns": "08c_unmixing",
    "unexplained": "15_dependence",
    "S_unexplained": "15_dependence",
}
MOVED = """<!doctype html><title>{0}</title><link rel="canonical" href="{0}.html">
<script>location.replace("{0}.html" + location.hash)</script>
<meta http-equiv="refresh" content="0; url={0}.html"><a href="{0}.html">moved</a>
"""


def former_addresses():
    "{S_gram: gram} of the pages that were called otherwise, and of those a module of the API had"
    rooms = {path.stem: room(path).partition("/")[0] for path in all_pages()}
    lettered = {f"{LETTERS[o]}_{name}": name for name, o in rooms.items() if o in LETTERS}
    modules = {f"api/{name}": "index" for path in all_pages() if (name := module(read(path)))}
    return FORMER | lettered | modules


def publish():
    "Swaps the finished site in, with a signpost at each former address"
    for former, now in former_addresses().items():
        if not (page := HTML / f"{former}.html").exists():
            page.write_text(MOVED.format(now), encoding="utf-8")
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
