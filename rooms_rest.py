"""The second half: the website becomes a package of its own, the tests get the same folders."""

import re
import subprocess
from pathlib import Path

ROOT = Path.cwd()


def sh(*command):
    subprocess.run(list(map(str, command)), cwd=ROOT, check=True)


TESTS = {
    "course": "hilbert kernels features rkhs mercer representer sgd svm kpca random_features double_descent mmd cke",
    "deeper": """zoo processes machines cca grids_landmarks structured graphs scale streams dependence conditioning
        stein generalization rates""",
    "engines": "smo solvers spectra lowrank resampling tables stored laws",
    "base": "arrays contracts datasets errors settings plots surroundings",
    "apps": "estimators comparison cli classroom exercises page_exercises play confined",
    "website": """site_desk site_front site_lectures site_links site_notation site_pdf site_references site_screens
        site_search site_second_routes site_statements site_words pages labels docs lite seeds front_page notebooks e2e""",
    "house": """alphabet bad_input benchmarks determinism engines fixtures forge fuzzing imports interrupts mutants
        near_misses offsets second_routes shortcuts style sync""",
}
NAMES = {"cells": "notebooks"}
DROPPED = {"lean"}


def move_website():
    old, new = ROOT / "nbs" / "site", ROOT / "website"
    new.mkdir()
    for path in sorted(old.iterdir()):
        if path.name == "__pycache__":
            continue
        if path.stem in DROPPED:
            sh("git", "rm", "-q", path)
            continue
        sh("git", "mv", path, new / (NAMES.get(path.stem, path.stem) + path.suffix))
    sh("git", "mv", ROOT / "nbs" / "front" / "begin.md", new / "begin.md")
    sh("git", "mv", ROOT / "nbs" / "references.bib", new / "references.bib")
    (new / "__init__.py").write_text(
        '"""What builds the web site, and what is read from the notebooks on the way.\n\n'
        "Imported before nbformat: jsonschema would build 38 grammars with the library that is named below, in three\n"
        'seconds and in each process, to check international addresses, which no notebook has.\n"""\n\n'
        'import sys\n\nsys.modules.setdefault("rfc3987_syntax", None)\n'
    )


def modules():
    return {path.stem for path in (ROOT / "website").glob("*.py")} - {"__init__", "conf"}


def website_imports(text, package):
    "from cells import x, import tally: from this package"
    known = modules() | set(NAMES)
    here = "." if package else "website"

    def from_(match):
        name = NAMES.get(match[2], match[2])
        if match[2] not in known:
            return match[0]
        return f"{match[1]}from {'.' + name if package else f'website.{name}'} import"

    def plain(match):
        names = [o.strip() for o in match[2].split(",")]
        if not all(o.split(" as ")[0] in known for o in names):
            return match[0]
        return f"{match[1]}from {here} import {', '.join(names)}"

    text = re.sub(r"(?m)^import lean  # noqa[^\n]*\n+(# isort: split\n)?", "", text)
    text = re.sub(r"(?m)^( *)from (\w+) import", from_, text)
    return re.sub(r"(?m)^( *)import (\w+(?: as \w+)?(?:, \w+)*)(?=$|  #)", plain, text)


def main():
    move_website()
    for path in sorted((ROOT / "website").glob("*.py")):
        path.write_text(website_imports(path.read_text("utf-8"), True), "utf-8")
    for folder in ("tests", "e2e", "benchmarks"):
        for path in sorted((ROOT / folder).glob("*.py")):
            path.write_text(website_imports(path.read_text("utf-8"), False), "utf-8")
    (ROOT / "tests" / "data").mkdir(exist_ok=True)
    sh("git", "mv", "tests/wave_one.json", "tests/data/wave_one.json")
    for folder, names in TESTS.items():
        (ROOT / "tests" / folder).mkdir(exist_ok=True)
        for name in names.split():
            sh("git", "mv", f"tests/test_{name}.py", f"tests/{folder}/test_{name}.py")
    left = [p.name for p in (ROOT / "tests").glob("test_*.py")]
    assert not left, left


if __name__ == "__main__":
    main()
