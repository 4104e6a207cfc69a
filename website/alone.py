"""Runs commands while no others run that were started so in this checkout; who comes second waits.

python -m website.alone nbdev-export "python -m website.fold"

Two exports, or two builds of the site, would write the same files, and read them half written. The lock is
the system's and goes with the process that holds it, however that ends. Windows knows it not: take turns.
"""

import os
import shlex
import subprocess
import sys
from contextlib import contextmanager
from pathlib import Path

try:
    import fcntl
except ImportError:
    fcntl = None

BUILD = Path(__file__).resolve().parents[1] / "_build"


@contextmanager
def alone(name):
    "Inside, no other process of this checkout is inside a block of the same name"
    BUILD.mkdir(exist_ok=True)
    with open(BUILD / f"{name}.lock", "w") as file:
        if fcntl:
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                print(f"waiting for another {name} in this folder", flush=True)
                fcntl.flock(file, fcntl.LOCK_EX)
        yield


def main(*commands):
    "The status of the first command that fails, or 0"
    programs = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    with alone("export"):
        for command in commands:
            done = subprocess.run(shlex.split(command), env=os.environ | {"PATH": programs})
            if done.returncode:
                return done.returncode
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
