"""Run notebooks in JupyterLab as a reader does: every cell runs, nothing complains, sliders move.

python e2e/lab.py [notebook ...]    default: all; works on a copy, for JupyterLab saves by itself
"""

import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from contextlib import contextmanager
from pathlib import Path
from urllib.error import URLError
from urllib.request import Request, urlopen

from browser import chromium

ROOT = Path(__file__).resolve().parents[1]
PORT, LIMIT = 8931, 600  # seconds for a notebook
READY = 300_000  # milliseconds for JupyterLab to show it
HOME = f"http://127.0.0.1:{PORT}"
CHOICES = ["token=", "password=", "disable_check_xsrf=True", "open_browser=False", "allow_root=True"]
SLIDER = ".jp-OutputArea-output .noUi-handle"


def asked(path, method="GET"):
    with urlopen(Request(HOME + path, method=method), timeout=30) as answer:
        return json.loads(answer.read() or "null")


@contextmanager
def lab(folder):
    "JupyterLab with the notebooks of `folder`/nbs, and settings of its own"
    own = {f"JUPYTER_{name}_DIR": str(folder / name.lower()) for name in ("CONFIG", "DATA", "RUNTIME")}
    environment = {**os.environ, **own, "PYTHONPATH": str(folder), "OMP_NUM_THREADS": "1"}
    environment.pop("MPLBACKEND", None)
    options = [f"--ServerApp.{choice}" for choice in [*CHOICES, f"port={PORT}", f"root_dir={folder / 'nbs'}"]]
    command = [sys.executable, "-m", "jupyterlab", *options]
    with open(folder / "lab.log", "w") as log:
        server = subprocess.Popen(command, env=environment, stdout=log, stderr=log, cwd=folder)
    try:
        for _ in range(120):
            try:
                asked("/api/status")
                break
            except (URLError, ConnectionError):
                time.sleep(0.5)
        else:
            sys.exit(f"JupyterLab did not start: {(folder / 'lab.log').read_text()[-2000:]}")
        yield
    finally:
        server.terminate()
        try:
            server.wait(20)
        except subprocess.TimeoutExpired:
            server.kill()


def copied(folder):
    "The notebooks and the package, in a folder where JupyterLab may write"
    for name in ("nbs", "rkhs_notes"):
        shutil.copytree(ROOT / name, folder / name, ignore=shutil.ignore_patterns("__pycache__"))
    for name in ("pyproject.toml", "settings.ini"):
        shutil.copy(ROOT / name, folder)
    for file in (folder / "nbs").glob("*.ipynb"):
        file.write_text(json.dumps(unrun(json.loads(file.read_text()))))


def unrun(notebook):
    "The notebook without prompts and outputs"
    for cell in notebook["cells"]:
        if cell["cell_type"] == "code":
            cell |= {"execution_count": None, "outputs": []}
    return notebook


def code_cells(file):
    "The code cells as saved; None while JupyterLab is writing the file"
    try:
        cells = json.loads(file.read_text())["cells"]
    except json.JSONDecodeError:
        return None
    return [o for o in cells if o["cell_type"] == "code" and "".join(o["source"]).strip()]


def complaints(cells):
    "What went wrong in executed cells, from their prompts and outputs"
    for cell in cells:
        first = "".join(cell["source"]).strip().splitlines()[0][:60]
        if cell["execution_count"] is None:
            yield f"did not run: {first}"
        for output in cell["outputs"]:
            if output["output_type"] == "error":
                yield f"failed: {output['ename']}: {output['evalue'][:100]} in {first}"
            elif output.get("name") == "stderr":
                yield f"stderr: {''.join(output['text'])[:100]} in {first}"


def run_all(page, file):
    "Runs every cell and waits until all have run or one has failed; saves"
    page.goto(f"{HOME}/lab/tree/{file.name}?reset", wait_until="domcontentloaded", timeout=READY)
    page.wait_for_selector(".jp-Notebook .jp-Cell", timeout=READY)
    page.wait_for_selector("text=/\\| Idle/", timeout=READY)
    page.get_by_role("menuitem", name="Run", exact=True).click()
    page.locator(".lm-Menu-itemLabel:has-text('Run All Cells')").first.click()
    end = time.monotonic() + LIMIT
    while time.monotonic() < end:
        time.sleep(2)
        if all(o["execution_state"] == "idle" for o in asked("/api/kernels")):
            page.keyboard.press("Control+s")
            time.sleep(2)
            if (cells := code_cells(file)) is None:
                continue
            wrong = list(complaints(cells))
            if not any(o.startswith("did not run") for o in wrong) or any(
                o.startswith("failed") for o in wrong
            ):
                return wrong
    return [f"still running after {LIMIT} s"]


def slider_moves(page):
    "None without a slider; else whether its picture changes when it is moved by a key"
    cell = page.locator(".jp-Cell:has(.noUi-handle)").first
    if not page.locator(SLIDER).count():
        return None
    cell.scroll_into_view_if_needed()
    picture = cell.locator(".jp-OutputArea-output img").first
    before = picture.get_attribute("src")
    for key in ("ArrowRight", "ArrowLeft", "ArrowLeft"):  # it may stand at an end
        cell.locator(".noUi-handle").first.press(key)
        page.wait_for_timeout(700)
        if picture.get_attribute("src") != before:
            return True
    return False


def problems(page, file):
    "All that is wrong with one notebook"
    from playwright.sync_api import TimeoutError

    errors = []
    page.on("pageerror", lambda error: errors.append(f"page: {str(error)[:120]}"))
    page.on("console", lambda o: o.type == "error" and errors.append(f"console: {o.text[:120]}"))
    try:
        wrong = run_all(page, file)
    except TimeoutError as late:
        return [f"JupyterLab was not ready: {str(late).splitlines()[0]}"]
    if slider_moves(page) is False:
        wrong.append("a slider moves and its picture stays")
    if page.locator("mjx-merror, .jp-RenderedMarkdown [data-mjx-error]").count():
        wrong.append("an equation is not typeset")
    return wrong + errors


def main(names):
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        copied(folder)
        files = [folder / "nbs" / Path(o).name for o in names] or sorted(
            (folder / "nbs").glob("[0-9A-Z]*.ipynb")
        )
        failed = 0
        with lab(folder), chromium() as browser:
            for file in files:
                start, page = time.monotonic(), browser.new_page(viewport={"width": 1400, "height": 1000})
                wrong = problems(page, file)
                page.close()
                for session in asked("/api/sessions"):
                    asked(f"/api/sessions/{session['id']}", "DELETE")
                failed += bool(wrong)
                print(
                    f"{file.name:30} {time.monotonic() - start:6.1f} s  {'; '.join(wrong) or 'runs'}",
                    flush=True,
                )
    sys.exit(failed > 0)


if __name__ == "__main__":
    main(sys.argv[1:])
