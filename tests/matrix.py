"""The tests on this Python, with the oldest libraries that pyproject.toml allows, the newest, or tomorrow's.

python3.10 tests/matrix.py oldest [options of pytest]      (make matrix PY=python3.10 WITH=oldest)
python3.13 tests/matrix.py nightly                         (pre-releases; NIGHTLY names an index of builds)

Each pair has an environment of its own, .matrix/3.10-oldest, made when pyproject.toml has changed, with what
was installed in installed.txt. uv chooses the versions: pip tries many more before it finds the oldest that
fit. Nothing but the standard library is needed to begin.
"""

import os
import re
import subprocess
import sys
import venv
import xml.etree.ElementTree as xml
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
MATRIX = ROOT / ".matrix"
NAMED = (
    "numpy",
    "scipy",
    "scikit-learn",
    "matplotlib",
    "pandas",
)  # the versions that the last line shows


def minima(text):
    "{library: lowest version} of a pyproject.toml; a library that is named twice must have one minimum"
    found = {}
    for name, least in re.findall(
        r'"([\w-]+)(?:\[[\w,]+\])?>=([\w.]+)', text.partition("[project]\n")[2]
    ):
        if found.setdefault(name, least) != least:
            raise SystemExit(
                f"pyproject.toml asks for {name}>={found[name]} and for {name}>={least}"
            )
    return found


def constraints(text):
    "The minima as a constraints file of pip"
    return "".join(f"{name}=={least}\n" for name, least in sorted(minima(text).items()))


def tool(environment, name="python"):
    "A program of an environment"
    return environment / ("Scripts" if os.name == "nt" else "bin") / name


def call(*command, **options):
    "Runs a command; where it fails, so does this"
    if status := subprocess.run(command, **options).returncode:
        raise SystemExit(f"status {status}: {' '.join(map(str, command))}")


def empty(folder):
    "A new environment that holds pip alone"
    venv.EnvBuilder(clear=True, with_pip=True).create(folder)
    return tool(folder)


def choice(libraries, folder):
    "What uv is told, so that it takes the libraries that are asked for"
    if libraries == "oldest":
        (folder / "oldest.txt").write_text(
            constraints((ROOT / "pyproject.toml").read_text("utf-8"))
        )
        return ["--constraint", folder / "oldest.txt"]
    if libraries == "nightly":
        index = os.environ.get("NIGHTLY")
        builds = ["--index", index, "--index-strategy", "unsafe-best-match"] if index else []
        return ["--prerelease", "allow", *builds]
    return []


def installed(libraries):
    "The Python of an environment with this package and everything its tests need"
    folder = MATRIX / f"{sys.version_info[0]}.{sys.version_info[1]}-{libraries}"
    done, project = folder / "installed.txt", ROOT / "pyproject.toml"
    if libraries != "oldest" or not done.exists() or done.stat().st_mtime < project.stat().st_mtime:
        print(f"installing into {folder.relative_to(ROOT)}", flush=True)
        python = empty(folder)
        call(python, "-m", "pip", "--quiet", "--disable-pip-version-check", "install", "uv")
        uv = [tool(folder, "uv"), "pip"]
        wanted = [*choice(libraries, folder), "--editable", f"{ROOT}[lab,dev,docs]"]
        call(*uv, "install", "--quiet", "--python", python, *wanted)
        done.write_bytes(
            subprocess.check_output([*uv, "freeze", "--exclude-editable", "--python", python])
        )
    return tool(folder)


def last_line(folder):
    "Python and libraries of an environment, and what its tests said"
    versions = dict(
        re.findall(r"(?m)^([\w-]+)==(\S+)", (folder / "installed.txt").read_text("utf-8"))
    )
    suite = xml.parse(folder / "report.xml").getroot().find("testsuite").attrib
    said = ", ".join(f"{suite[word]} {word}" for word in ("tests", "failures", "errors", "skipped"))
    return f"{folder.name}: {', '.join(f'{name} {versions[name]}' for name in NAMED)}: {said}"


def main(libraries="newest", *options):
    if libraries not in ("oldest", "newest", "nightly"):
        raise SystemExit(f"which libraries: oldest, newest or nightly, not {libraries!r}")
    python = installed(libraries)
    folder = python.parents[1]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    command = [python, "-m", "pytest", f"--junitxml={folder / 'report.xml'}", *options]
    status = subprocess.run(command, cwd=ROOT, env=environment).returncode
    print(last_line(folder))
    return status


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
