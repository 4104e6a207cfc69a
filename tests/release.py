"""Build, check, upload to an index of this machine, install in an empty environment, try (make release).

python tests/release.py [v0.2.0]     leaves a source archive and a wheel in dist/ that went through all of it,
                                     and a bill of the packages that come with them

What is built is the last commit, not the files that happen to lie here. The index is a pypiserver that lives
as long as this script. The package comes from there alone, its dependencies from where pip always looks.
"""

import json
import re
import shutil
import socket
import subprocess
import sys
import tempfile
import time
import zipfile
from contextlib import contextmanager
from pathlib import Path

from matrix import ROOT, call, empty, tool

DIST = ROOT / "dist"


def first_example(readme):
    "(the first Python of a README that begins with its imports, what stands below it as printed)"
    block, printed = re.search(r"(?s)```python\n(import .*?)```\n(.*?)\n## ", readme).groups()
    return block, "".join(re.findall(r"(?s)```text\n(.*?)```", printed))


def versions(folder, tag=None):
    "{where: the version that stands there}"
    read = {name: (folder / name).read_text("utf-8") for name in ("CITATION.cff", "CHANGELOG.md")}
    package = (folder / "rkhs_notes" / "__init__.py").read_text("utf-8")
    found = {
        "rkhs_notes.__version__": re.search(r'(?m)^__version__ = "(.*)"', package)[1],
        "CITATION.cff": re.search(r"(?m)^version: (.*)", read["CITATION.cff"])[1],
        "CHANGELOG.md": re.search(r"(?m)^## (\d\S*)", read["CHANGELOG.md"])[1],
    }
    return found | ({"the tag": tag.removeprefix("v")} if tag else {})


def one_version(folder, tag=None):
    "The version, if all places and the tag agree"
    found = versions(folder, tag)
    if len(set(found.values())) > 1:
        raise SystemExit(
            "not one version: " + ", ".join(f"{where} says {v}" for where, v in found.items())
        )
    return found["CITATION.cff"]


def checkout(folder):
    "The last commit, in a folder of its own"
    call("git", "archive", "--output", folder / "commit.zip", "HEAD", cwd=ROOT)
    shutil.unpack_archive(folder / "commit.zip", folder / "commit")
    return folder / "commit"


def difference(commit, wheel):
    "Files of the package, notebooks and pictures that a wheel lacks, and files that it has besides"
    wanted = {
        path.relative_to(commit) for path in (commit / "rkhs_notes").rglob("*") if path.is_file()
    }
    nbs = commit / "nbs"
    books = [*nbs.rglob("*.ipynb"), *nbs.glob("*.md"), *(nbs / "images").iterdir()]
    wanted |= {Path("rkhs_notes", "notebooks", path.relative_to(commit / "nbs")) for path in books}
    names = {Path(name) for name in zipfile.ZipFile(wheel).namelist() if ".dist-info/" not in name}
    return sorted(map(str, wanted - names)), sorted(map(str, names - wanted))


@contextmanager
def index(folder):
    "The address of an index with nothing in it, on this machine"
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = str(free.getsockname()[1])
    folder.mkdir()
    command = [
        sys.executable,
        "-m",
        "pypiserver",
        "run",
        "-i",
        "127.0.0.1",
        "-p",
        port,
        "-P",
        ".",
        "-a",
        ".",
    ]
    server = subprocess.Popen([*command, folder])
    try:
        for _ in range(100):
            with socket.socket() as door:
                if door.connect_ex(("127.0.0.1", int(port))) == 0:
                    break
            time.sleep(0.1)
        yield f"http://127.0.0.1:{port}"
    finally:
        server.terminate()
        server.wait()


def build(commit, folder):
    "Source archive, and the wheel made from it, both accepted by twine and whole"
    call(sys.executable, "-m", "build", "--outdir", folder, commit, stdout=subprocess.DEVNULL)
    call(sys.executable, "-m", "twine", "check", "--strict", *folder.iterdir())
    (wheel,) = folder.glob("*.whl")
    lacks, besides = difference(commit, wheel)
    if lacks or besides:
        raise SystemExit(f"{wheel.name} lacks {lacks} and has besides {besides}")


def upload(folder, address):
    "What `twine upload` does to a registry, done to an index of this machine"
    there = ["--repository-url", address, "--username", "x", "--password", "x", "--non-interactive"]
    call(
        sys.executable, "-m", "twine", "upload", "--disable-progress-bar", *there, *folder.iterdir()
    )


def install(folder, address, version):
    "The Python of an empty environment, with the package from that index and nothing of this checkout"
    python = empty(folder)
    pip = [python, "-m", "pip", "--quiet", "--disable-pip-version-check", "install"]
    call(
        *pip,
        "--no-deps",
        "--no-cache-dir",
        "--index-url",
        f"{address}/simple/",
        f"rkhs_notes=={version}",
    )
    call(*pip, f"rkhs_notes=={version}")
    return python


def use(python, folder, readme):
    "The README's first example and what `rkhs-notes doctor` says, in an empty folder"
    code, printed = first_example(readme)
    out = subprocess.check_output([python, "-I", "-c", code], cwd=folder, text=True)
    if not printed or out.split() != printed.split():
        raise SystemExit(f"the README says\n{printed}\nand the installed package\n{out}")
    call(tool(python.parents[1], "rkhs-notes"), "doctor", cwd=folder)


def bill(python, version, folder):
    "Names, versions and licences of all that the package and its extras for users bring, as CycloneDX"
    extras = f"rkhs_notes[lab,dask,parquet]=={version}"
    call(python, "-m", "pip", "--quiet", "--disable-pip-version-check", "install", extras)
    made = folder / f"rkhs_notes-{version}.cdx.json"
    call(sys.executable, "-m", "cyclonedx_py", "environment", python, "--output-file", made)
    known = {part["name"].lower() for part in json.loads(made.read_text("utf-8"))["components"]}
    if not {"numpy", "scipy", "jupyterlab", "dask", "pyarrow"} <= known:
        raise SystemExit(f"the bill lacks what is installed: {sorted(known)}")


def main(tag=None):
    with tempfile.TemporaryDirectory() as folder:
        folder = Path(folder)
        commit = checkout(folder)
        version = one_version(commit, tag)
        build(commit, folder / "dist")
        with index(folder / "index") as address:
            upload(folder / "dist", address)
            python = install(folder / "environment", address, version)
        (folder / "work").mkdir()
        use(python, folder / "work", (commit / "README.md").read_text("utf-8"))
        bill(python, version, folder / "dist")
        shutil.rmtree(DIST, ignore_errors=True)
        shutil.copytree(folder / "dist", DIST)
    print(f"rkhs_notes {version} in dist/: built, checked, uploaded, installed and used")


if __name__ == "__main__":
    main(*sys.argv[1:])
