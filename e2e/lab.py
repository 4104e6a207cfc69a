"""Run notebooks in JupyterLab by its own command Run All Cells: nothing complains, sliders move.

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
from urllib.request import urlopen

from browser import chromium

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))
from website.notebooks import all_pages  # noqa: E402

PORT, LIMIT = 8931, 600  # seconds for a notebook
READY = 300_000  # milliseconds for JupyterLab to show it
HOME = f"http://127.0.0.1:{PORT}"
CHOICES = [
    "token=",
    "password=",
    "disable_check_xsrf=True",
    "open_browser=False",
    "allow_root=True",
]
SLIDER, WIDGET = ".jp-OutputArea-output .noUi-handle", "application/vnd.jupyter.widget-view+json"
RUN = """async ([path, seconds]) => {
  const {commands, restored} = window.jupyterapp;
  const run = async () => {
    await restored;
    const panel = window.panel = await commands.execute("docmanager:open", {path, factory: "Notebook"});
    await panel.context.ready;
    await panel.sessionContext.ready;
    await commands.execute("notebook:run-all-cells");
    return panel.content.model.toJSON().cells;
  };
  const late = new Promise((end) => setTimeout(end, 1000 * seconds, `not done after ${seconds} s`));
  return Promise.race([run().catch(String), late]);
}"""
UNTYPESET = """() => [...new Set([...document.querySelectorAll(
  "mjx-merror, .jp-RenderedMarkdown [data-mjx-error]")].map(
    (o) => `${o.dataset.mjxError || o.title || ""} ${o.textContent}`.slice(0, 200)))]"""
CLOSE = """async () => {
  await window.panel?.sessionContext.shutdown();
  window.panel?.dispose();
  delete window.panel;
}"""


@contextmanager
def lab(folder):
    "JupyterLab with the notebooks of `folder`/nbs, and settings of its own"
    own = {
        f"JUPYTER_{name}_DIR": str(folder / name.lower()) for name in ("CONFIG", "DATA", "RUNTIME")
    }
    environment = {**os.environ, **own, "PYTHONPATH": str(folder), "OMP_NUM_THREADS": "1"}
    environment.pop("MPLBACKEND", None)
    options = [
        f"--ServerApp.{choice}"
        for choice in [*CHOICES, f"port={PORT}", f"root_dir={folder / 'nbs'}"]
    ]
    command = [sys.executable, "-m", "jupyterlab", "--LabApp.expose_app_in_browser=True", *options]
    with open(folder / "lab.log", "w") as log:
        server = subprocess.Popen(command, env=environment, stdout=log, stderr=log, cwd=folder)
    try:
        for _ in range(120):
            try:
                urlopen(f"{HOME}/api/status", timeout=30).close()
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
    for file in (folder / "nbs").rglob("*.ipynb"):
        file.write_text(json.dumps(unrun(json.loads(file.read_text()))))


def unrun(notebook):
    "The notebook without prompts and outputs"
    for cell in notebook["cells"]:
        if cell["cell_type"] == "code":
            cell |= {"execution_count": None, "outputs": []}
    return notebook


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


def has_slider(cells):
    return any(WIDGET in output.get("data", {}) for cell in cells for output in cell["outputs"])


def slider_moves(page):
    "Does the first picture with a slider change when that is moved by a key?"
    page.wait_for_selector(SLIDER, timeout=READY)
    cell = page.locator(".jp-Cell:has(.noUi-handle)").first
    cell.scroll_into_view_if_needed()
    picture = cell.locator(".jp-OutputArea-output img").first
    before = picture.get_attribute("src")
    for key in ("ArrowRight", "ArrowLeft", "ArrowLeft"):  # it may stand at an end
        cell.locator(".noUi-handle").first.press(key)
        page.wait_for_timeout(700)
        if picture.get_attribute("src") != before:
            return True
    return False


def problems(page, name, errors):
    "All that is wrong with one notebook; `errors` is filled by the page"
    errors.clear()
    cells = page.evaluate(RUN, [name, LIMIT])
    if isinstance(cells, str):
        return [cells, *errors]
    cells = [o for o in cells if o["cell_type"] == "code" and "".join(o["source"]).strip()]
    wrong = list(complaints(cells))
    if has_slider(cells) and not slider_moves(page):
        wrong.append("a slider moves and its picture stays")
    wrong += [f"an equation is not typeset: {why}" for why in page.evaluate(UNTYPESET)]
    return wrong + errors


def opened(browser):
    "JupyterLab in a page, and the list that its errors go to"
    page, errors = browser.new_page(viewport={"width": 1400, "height": 1000}), []
    page.on("pageerror", lambda error: errors.append(f"page: {str(error)[:120]}"))
    page.on("console", lambda o: o.type == "error" and errors.append(f"console: {o.text[:120]}"))
    page.goto(f"{HOME}/lab?reset", wait_until="domcontentloaded", timeout=READY)
    page.wait_for_function("window.jupyterapp", timeout=READY)
    return page, errors


def main(names):
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        copied(folder)
        asked = [Path(o).resolve().relative_to(ROOT) for o in names]
        files = [folder / o for o in asked or (path.relative_to(ROOT) for path in all_pages()[1:])]
        failed = 0
        with lab(folder), chromium() as browser:
            page, errors = opened(browser)
            for file in files:
                start = time.monotonic()
                wrong = problems(page, file.relative_to(folder / "nbs").as_posix(), errors)
                page.evaluate(CLOSE)
                failed += bool(wrong)
                seconds = time.monotonic() - start
                print(f"{file.name:30} {seconds:6.1f} s  {'; '.join(wrong) or 'runs'}", flush=True)
    sys.exit(failed > 0)


if __name__ == "__main__":
    main(sys.argv[1:])
