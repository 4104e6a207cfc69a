"""What a forge runs, what contributors are told, and a release: valid, and true of this repository."""

import re
import shutil
import subprocess
import sys
import zipfile

import pytest
import yaml
from click.testing import CliRunner

import matrix
import release
from conftest import ROOT

FORGE = ROOT / ".github"
WORKFLOWS = sorted((FORGE / "workflows").glob("*.yml"))
each_workflow = pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.stem)
PROJECT = (ROOT / "pyproject.toml").read_text("utf-8")
TARGETS = set(re.findall(r"(?m)^([a-z0-9-]+):.*##", (ROOT / "Makefile").read_text("utf-8")))
SECTION = PROJECT.partition("[project.optional-dependencies]")[2].partition("\n[")[0]
SOURCES = [
    "website/*.py",
    "rkhs_notes/**/*.py",
    "benchmarks/*.py",
    "e2e/*.py",
    "tests/**/*.py",
    "Makefile",
]
SOURCES += [".pre-commit-config.yaml"]
ELSEWHERE = re.compile(
    r"https?://(?!127\.0\.0\.1)|\b[\w-]+\.(?:org|com|io|net|dev)\b"
)  # addresses of others
SCHEMAS = {
    "github-workflows": WORKFLOWS,
    "github-issue-forms": sorted((FORGE / "ISSUE_TEMPLATE").glob("[!c]*.yml")),
    "github-issue-config": [FORGE / "ISSUE_TEMPLATE" / "config.yml"],
    "dependabot": [FORGE / "dependabot.yml"],
    "citation-file-format": [ROOT / "CITATION.cff"],
}


def read(path):
    return yaml.safe_load(path.read_text("utf-8"))


def schema(name, *paths):
    "What check-jsonschema says of files, by a schema that it brings along"
    cli = pytest.importorskip(
        "check_jsonschema.cli", reason="check-jsonschema is new in the extra [dev]"
    )
    return CliRunner().invoke(cli.main, ["--builtin-schema", f"vendor.{name}", *map(str, paths)])


@pytest.mark.parametrize("name", SCHEMAS)
def test_files_have_the_form_that_a_forge_reads(name):
    said = schema(name, *SCHEMAS[name])
    assert said.exit_code == 0, said.output


def test_a_workflow_of_wrong_form_is_noticed(tmp_path):
    (tmp_path / "w.yml").write_text(WORKFLOWS[0].read_text("utf-8").replace("runs-on", "runs_on"))
    assert "runs-on" in schema("github-workflows", tmp_path / "w.yml").output


def problems(flow):
    "Rights that a workflow need not have, jobs without an end, commands and actions that are unknown"
    if flow.get("permissions") != {"contents": "read"}:
        yield "may do more than read"
    for name, job in flow["jobs"].items():
        if "timeout-minutes" not in job:
            yield f"{name} may run for ever"
        choices = str(job.get("strategy", {}).get("matrix", {}).get("target", [""]))
        for step in job["steps"]:
            run = step.get("run", "").replace(
                "${{ matrix.target }}", choices.strip("[]").replace("'", "")
            )
            made = re.split(r"[\s,]+", " ".join(re.findall(r"(?m)^make (.*)", run)))
            made = {word for word in made if re.fullmatch(r"[a-z][a-z0-9-]*", word)}
            yield from (f"{name}: there is no make {target}" for target in made - TARGETS)
            scripts = re.findall(r"[\w./]+\.py", run)
            yield from (
                f"{name}: there is no {script}"
                for script in scripts
                if not (ROOT / script).exists()
            )
            action = step.get("uses", "")
            if action and not re.fullmatch(r"[\w-]+/[\w-]+@(v\d+|release/v\d+)", action):
                yield f"{name}: which version of {action}?"
            if (
                "checkout" in action
                and step.get("with", {}).get("persist-credentials") is not False
            ):
                yield f"{name} leaves its password beside the code"


@each_workflow
def test_workflows_run_what_is_there(path):
    assert list(problems(read(path))) == []


def test_a_bad_workflow_is_noticed():
    steps = [
        {"uses": "actions/checkout@main"},
        {"run": "make tset"},
        {"run": "python tests/matrx.py newest"},
    ]
    named = {"strategy": {"matrix": {"target": ["notes e2f", "nightly"]}}, "timeout-minutes": 5}
    named["steps"] = [{"run": "make ${{ matrix.target }}"}]
    found = list(problems({"jobs": {"a": {"steps": steps}, "b": named}}))
    assert found == [
        *(
            "may do more than read",
            "a may run for ever",
            "a: which version of actions/checkout@main?",
        ),
        *("a leaves its password beside the code", "a: there is no make tset"),
        *("a: there is no tests/matrx.py", "b: there is no make e2f"),
    ]


def test_only_what_publishes_may_write():
    jobs = {
        (path.stem, name): job for path in WORKFLOWS for name, job in read(path)["jobs"].items()
    }
    writes = {
        where for where, job in jobs.items() if "write" in job.get("permissions", {}).values()
    }
    assert writes == {("release", "publish"), ("site", "publish")}
    assert all(
        jobs[where]["needs"] == "build" and "run" not in str(jobs[where]["steps"])
        for where in writes
    )


def test_the_pythons_are_those_of_the_package():
    least = re.search(r'requires-python = ">=([\d.]+)"', PROJECT)[1]
    tests, weekly = (
        read(FORGE / "workflows" / f"{name}.yml")["jobs"] for name in ("tests", "weekly")
    )
    pythons = tests["tests"]["strategy"]["matrix"]["python"]
    assert pythons == [f"3.{minor}" for minor in range(int(least[2:]), 14)]
    pairs = {
        (row["python"], row["with"]) for row in weekly["libraries"]["strategy"]["matrix"]["include"]
    }
    assert {(least, "oldest"), (pythons[-1], "newest"), (pythons[-1], "nightly")} <= pairs


def test_nothing_names_another_host():
    files = [path for path in FORGE.rglob("*") if path.is_file()] + [
        ROOT / ".pre-commit-config.yaml"
    ]
    files += [ROOT / "tests" / "matrix.py", ROOT / "tests" / "release.py"]
    found = {path.name: ELSEWHERE.findall(path.read_text("utf-8")) for path in files}
    assert {name: hosts for name, hosts in found.items() if hosts} == {}
    assert ELSEWHERE.search("index-url = https://a.b") and ELSEWHERE.search("see example.org")


def test_hooks_are_local_and_run_what_is_there():
    (repo,) = read(ROOT / ".pre-commit-config.yaml")["repos"]
    hooks = {hook["id"]: hook for hook in repo["hooks"]}
    assert repo["repo"] == "local" and {hook["language"] for hook in hooks.values()} == {"system"}
    assert hooks["prepare"]["entry"].split()[-1] in TARGETS
    sources = ["nbs/deeper/01a_zoo.ipynb", "rkhs_notes/rkhs.py", "README.md"]
    assert all(re.search(hooks["prepare"]["files"], path) for path in sources)


def test_a_subject_is_short_and_says_something(tmp_path):
    (hook,) = [
        h for h in read(ROOT / ".pre-commit-config.yaml")["repos"][0]["hooks"] if "stages" in h
    ]
    script, file = hook["entry"].split()[-1], tmp_path / "message"

    def said(message):
        file.write_text(message, "utf-8")
        run = subprocess.run([sys.executable, ROOT / script, file], capture_output=True, text=True)
        return run.stderr if run.returncode else "taken"

    assert hook["stages"] == ["commit-msg"]
    assert (
        said(
            "Streams keep their digits where y lies far from 0\n\nSums were about 0.\n# git's words"
        )
        == "taken"
    )
    assert said("λ" * 70 + " b\n") == "'" + "λ" * 70 + " b' does not say what changed for whom\n"
    assert said("λ is " + "b" * 68).startswith("the subject has 73 characters, 72 at most")
    assert said("update\n") == "'update' does not say what changed for whom\n"
    assert said("# only git's words") == "'' does not say what changed for whom\n"
    assert said("One of three\nand no blank line").startswith("a blank line stands between")
    assert said("Merge branch 'a' into b" + "c" * 80) == said("fixup! one") == "taken"


@pytest.mark.parametrize("path", sorted(FORGE.glob("*.md")), ids=lambda path: path.stem)
def test_contributors_are_told_what_is_true(path):
    text = path.read_text("utf-8")
    assert set(re.findall(r"(?m)(?:^|`)make ([a-z0-9-]+)", text)) <= TARGETS
    assert all((path.parent / link).exists() for link in re.findall(r"\]\(([^)#]+)", text))
    named = set(re.findall(r"[`\s](nbs/[\w/]+\.ipynb|\.github/\w+|tests/[\w/]+\.py)", text))
    assert all((ROOT / name).exists() for name in named), named


def test_a_library_has_one_minimum():
    least = matrix.minima(PROJECT)
    assert {"numpy", "scipy", "pandas", "pytest-xdist", "dask", "sphinx"} <= least.keys()
    assert f"numpy=={least['numpy']}\n" in matrix.constraints(PROJECT) and "setuptools" not in least
    with pytest.raises(SystemExit, match="for pandas>=1.0"):
        matrix.minima(PROJECT + '"pandas>=1.0",')


OTHERWISE = {  # packages that are used and never imported by their name: {package: (file, what it says)}
    "nbdev": ("Makefile", "website.alone nbdev-export"),
    "jupytext": (".github/CONTRIBUTING.md", ".venv/bin/jupytext --to"),
    "pytest-xdist": ("pyproject.toml", '"--dist", "worksteal"'),
    "pytest-random-order": ("Makefile", "--random-order-seed="),
    "pyyaml": ("tests/house/test_forge.py", "import yaml"),
    "sphinx-book-theme": ("website/conf.py", 'html_theme = "sphinx_book_theme"'),
    "scikit-learn-intelex": ("benchmarks/svc.py", "from sklearnex.svm import"),
    "cyclonedx-bom": ("tests/release.py", '"cyclonedx_py", "environment"'),
    "jupyterlite-core": ("website/lite.py", '"jupyter", "lite", "build"'),
}
LINES = "".join(p.read_text("utf-8") for name in SOURCES for p in sorted(ROOT.glob(name)))


def extras():
    "{package: extras that name it} of pyproject.toml"
    found = {}
    for extra, listed in re.findall(r"(?ms)^(\w+) = \[(.*?)\](?=\s*(?:#.*)?$)", SECTION):
        for name in re.findall(r'"([\w-]+)(?:\[[\w,]+\])?[>=<]', listed):
            found.setdefault(name, []).append(extra)
    return found


def unused(packages):
    "Those that no file imports, asks for by a string, loads as an extension or runs as a command"
    for name in packages:
        module = name.replace("-", "_")
        ways = rf"(?:import|from) {module}\b|(?:importorskip|find_spec)\(\W*(?:{module}|{name})\b"
        ways += (
            rf'|"-m",\s+"{module}"|\$\(BIN\)/{name}\b|\.venv/bin/{name}\b|extensions = .*"{module}"'
        )
        file, said = OTHERWISE.get(name, (None, None))
        if not (said and said in (ROOT / file).read_text("utf-8")) and not re.search(ways, LINES):
            yield name


def test_every_package_of_an_extra_is_used():
    assert {"torch", "pypdf", "goodpoints", "dask", "twine"} <= extras().keys()
    assert list(unused(extras())) == []


def test_a_package_that_nothing_uses_is_noticed():
    assert list(unused(["graphillion", "pytest-invented", "ruff", "tqdm"])) == [
        "graphillion",
        "pytest-invented",
    ]


def test_what_a_matrix_run_says(tmp_path):
    versions = (f"{name}==1.{i}\n" for i, name in enumerate(matrix.NAMED))
    (tmp_path / "installed.txt").write_text("".join(versions))
    counts = 'tests="7" failures="2" errors="1" skipped="3"'
    (tmp_path / "report.xml").write_text(f"<testsuites><testsuite {counts}/></testsuites>")
    line = matrix.last_line(tmp_path)
    assert "numpy 1.0, scipy 1.1" in line and line.endswith(
        "7 tests, 2 failures, 1 errors, 3 skipped"
    )


def commit(folder):
    "A small checkout, and the wheel that belongs to it"
    books = ["index.ipynb", "README.md", "base/errors.ipynb", "images/a.png"]
    for name in ("rkhs_notes/errors.py", "rkhs_notes/py.typed", *(f"nbs/{book}" for book in books)):
        (folder / "commit" / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / "commit" / name).touch()
    with zipfile.ZipFile(folder / "a.whl", "w") as wheel:
        for name in ("errors.py", "py.typed", *(f"notebooks/{book}" for book in books)):
            wheel.writestr(f"rkhs_notes/{name}", "")
        wheel.writestr("rkhs_notes-1.dist-info/METADATA", "")
    return folder / "commit", folder / "a.whl"


def test_a_wheel_that_is_not_the_commit_is_noticed(tmp_path):
    folder, wheel = commit(tmp_path)
    assert release.difference(folder, wheel) == ([], [])
    (folder / "rkhs_notes" / "new.pyi").touch()
    (folder / "nbs" / "images" / "a.png").unlink()
    besides = ["rkhs_notes/notebooks/images/a.png"]
    assert release.difference(folder, wheel) == (["rkhs_notes/new.pyi"], besides)


def test_one_version_everywhere(tmp_path):
    version = release.one_version(ROOT)
    assert release.one_version(ROOT, f"v{version}") == version
    with pytest.raises(SystemExit, match=f"CITATION.cff says {version}.*the tag says 9.9"):
        release.one_version(ROOT, "v9.9")
    for name in ("CITATION.cff", "CHANGELOG.md", "rkhs_notes/__init__.py"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        shutil.copy(ROOT / name, tmp_path / name)
    text = (tmp_path / "CHANGELOG.md").read_text("utf-8")
    (tmp_path / "CHANGELOG.md").write_text(text.replace("## Unreleased", "## 9.9.0", 1), "utf-8")
    with pytest.raises(SystemExit, match="CHANGELOG.md says 9.9.0"):
        release.one_version(tmp_path)


def test_the_first_example_is_whole():
    code, printed = release.first_example((ROOT / "README.md").read_text("utf-8"))
    assert (
        code.startswith("import") and "rn.load" in code and printed.count("new digits right") == 2
    )
    compile(code, "README.md", "exec")
