"""Sphinx configuration of the site; build.py stages what Sphinx reads."""

import os
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

project = "rkhs_notes"
author = "the rkhs_notes authors"
copyright = author  # noqa: A001  Sphinx's name for it
extensions = ["myst_nb", "sphinx.ext.autodoc", "numpydoc", "sphinx_copybutton"]
ours = ["pages", "citations", "links", "previews", "sections", "screens"]  # beside this file
extensions += [f"website.{name}" for name in ours]

nb_execution_mode = "off"  # run.py did it
nb_ipywidgets_js = {}  # sliders are baked: nothing is fetched when a page is opened
nb_number_source_lines = False
nb_code_prompt_show = "Show the code"
nb_code_prompt_hide = "Hide the code"
nb_merge_streams = True
myst_enable_extensions = ["dollarmath", "amsmath", "attrs_block", "deflist"]
myst_heading_anchors = 3
myst_dmath_double_inline = True  # $$...$$ in the middle of a paragraph
myst_links_external_new_tab = True

mathjax_path = "mathjax.js"

default_role = "py:obj"  # `name` in a docstring
autodoc_member_order = "bysource"
autodoc_typehints = "none"
add_module_names = False
numpydoc_show_class_members = False
numpydoc_class_members_toctree = False

templates_path = ["templates"]
html_theme = "sphinx_book_theme"
html_title = "rkhs_notes"
html_static_path = [
    "static",
    str(ROOT / "_build" / "static"),
    str(ROOT / "nbs" / "images" / "readme_1.png"),
]
html_css_files = ["notes.css"]
html_js_files = [("reading.js", {"defer": "defer"})]
html_favicon = "static/favicon.svg"
html_short_title = "course notes on reproducing kernel Hilbert spaces that are also a library"
html_baseurl = os.environ.get("SITE_URL", "")  # where it will be published: link previews want it
html_context = {"default_mode": "auto"}
html_show_sphinx = False
html_copy_source = True
html_theme_options = {
    "use_download_button": True,
    "use_fullscreen_button": False,
    "home_page_in_toc": True,
    "show_toc_level": 2,
    "navbar_persistent": [],
    "pygments_light_style": "a11y-high-contrast-light",
    "pygments_dark_style": "github-dark-colorblind",
}
copybutton_exclude = ".linenos, .gp, .go"
