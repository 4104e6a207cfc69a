"""Two books in _book/: rkhs_notes.pdf, everything, and rkhs_notes_course.pdf, the numbered pages alone.

They are the pages of the site as Chromium prints them, solutions open.

Chromium prints each page with the outline of its headings; pypdf joins them, numbers the pages and turns
links from page to page into links inside the book. `make notes` comes first.
"""

import html
import re
import shutil
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from urllib.parse import unquote

from .build import SITE
from .notebooks import ROOT, all_pages, find, room
from .run import BUILD, WORKERS

OUT = ROOT / "_book"
FLAGS = (
    "--headless --no-sandbox --disable-gpu --disable-background-networking --no-first-run".split()
)
HEADING = re.compile(r"(?s)<h[1-3][^>]*>(.*?)</h[1-3]>")


def chromium():
    "Chromium or Chrome, or None"
    names = ("chromium", "chromium-browser", "google-chrome", "chrome")
    return next(filter(None, map(shutil.which, names)), None)


def late(page):
    "Keys of exercises come last, then the bibliography"
    path = find(page.stem)
    return (page.stem == "bibliography", path is not None and room(path) == "answers")


def everything(site):
    "The pages of the whole book, in order"
    found = [site / f"{path.stem}.html" for path in all_pages()]
    return sorted(found + sorted((site / "front").glob("*.html")), key=late)


def course(site):
    "The front page, the numbered pages and the bibliography"
    return [site / f"{path.stem}.html" for path in all_pages("")] + [
        site / "front" / "bibliography.html"
    ]


BOOKS = {"rkhs_notes.pdf": everything, "rkhs_notes_course.pdf": course}


def printed(page, target):
    "A page as PDF, with the outline of its headings; formulas are drawn before"
    command = [chromium(), *FLAGS, "--virtual-time-budget=120000", "--no-pdf-header-footer"]
    command += [
        "--generate-pdf-document-outline",
        f"--print-to-pdf={target}",
        page.resolve().as_uri(),
    ]
    target.parent.mkdir(parents=True, exist_ok=True)
    target.unlink(missing_ok=True)
    subprocess.run(command, capture_output=True, timeout=600)
    if not target.exists():
        sys.exit(f"Chromium did not print {page.name}")
    return target


def squeezed(text):
    return re.sub(r"\W", "", text)


def headings(page):
    "{letters of a heading: the heading} of a page: an outline loses the spaces where lines break"
    texts = [
        re.sub(r"<[^>]+>", "", found) for found in HEADING.findall(page.read_text(encoding="utf-8"))
    ]
    texts = [" ".join(html.unescape(text).rstrip("#¶\n ").split()) for text in texts]
    return {
        squeezed(text) * times: text for text in texts for times in (1, 2)
    }  # a broken one comes twice


def bookmarks(item):
    "The entries of an outline, parents first"
    while item is not None:
        item = item.get_object()
        yield item
        if "/First" in item:
            yield from bookmarks(item["/First"])
        item = item.get("/Next")


def explicit(file):
    "A printed page whose links name places and not words: two pages may have one word for two places"
    from pypdf import PdfReader
    from pypdf.generic import NameObject

    reader = PdfReader(file)
    places = reader.named_destinations
    for note in (note.get_object() for page in reader.pages for note in page.get("/Annots", ())):
        if isinstance(note.get("/Dest"), str) and note["/Dest"] in places:
            note[NameObject("/Dest")] = places[note["/Dest"]].dest_array
    return reader


def number(writer):
    "Page numbers in Helvetica at the foot: drawn first, before Chromium turns the page's coordinates"
    from pypdf.generic import ArrayObject, DecodedStreamObject, DictionaryObject, NameObject

    named = {"/Type": "/Font", "/Subtype": "/Type1", "/BaseFont": "/Helvetica"}
    font = writer._add_object(
        DictionaryObject({NameObject(k): NameObject(v) for k, v in named.items()})
    )
    for place, page in enumerate(writer.pages, 1):
        drawing, left = (
            DecodedStreamObject(),
            float(page.mediabox.width) / 2 - 2.5 * len(str(place)),
        )
        drawing.set_data(f"q BT /Folio 9 Tf {left} 20 Td ({place}) Tj ET Q\n".encode())
        fonts = page["/Resources"].get_object().setdefault(NameObject("/Font"), DictionaryObject())
        fonts.get_object()[NameObject("/Folio")] = font
        was = page["/Contents"]
        parts = list(was) if isinstance(was, ArrayObject) else [page.raw_get("/Contents")]
        page[NameObject("/Contents")] = ArrayObject([writer._add_object(drawing), *parts])


def inside(writer, base, starts):
    "Links to pages of the site become links inside the book; those to what is not printed go"
    from pypdf.generic import ArrayObject, NameObject

    for page in writer.pages:
        kept = ArrayObject()
        for note in page.get("/Annots", ()):
            uri = unquote(str(note.get_object().get("/A", {}).get("/URI", "")))
            if uri.startswith("file:"):
                start = starts.get(uri.split("#")[0].removeprefix(base))
                if start is None:
                    continue
                del note.get_object()["/A"]
                target = ArrayObject([writer.pages[start].indirect_reference, NameObject("/Fit")])
                note.get_object()[NameObject("/Dest")] = target
            kept.append(note)
        page[NameObject("/Annots")] = kept


def bind(site, files, out):
    "One PDF with bookmarks and page numbers, from {page of the site: its PDF}; returns how many pages"
    from pypdf import PdfWriter
    from pypdf.generic import NameObject, TextStringObject

    writer, starts, words = PdfWriter(), {}, {}
    for name, file in files.items():
        starts[name] = len(writer.pages)
        words |= headings(site / name)
        writer.append(explicit(file))
    for item in bookmarks(writer.get_outline_root().get("/First")):
        text = words.get(squeezed(item["/Title"]), item["/Title"])
        item[NameObject("/Title")] = TextStringObject(text)
    inside(writer, f"{site.resolve().as_uri()}/", starts)
    number(writer)
    writer.add_metadata({"/Title": "rkhs_notes", "/Author": "rkhs_notes contributors"})
    writer.compress_identical_objects()
    out.parent.mkdir(parents=True, exist_ok=True)
    writer.write(out)
    return len(writer.pages)


def make(site=SITE, out=OUT, books=BOOKS):
    "Prints each page once, binds the books; says parts, pages, size and time"
    if not (site / "index.html").exists():
        sys.exit("there is no site to print: make notes")
    if not chromium():
        sys.exit("the PDF is printed by Chromium or Chrome, and there is none")
    start = time.monotonic()
    parts = {
        name: [page.relative_to(site).as_posix() for page in o(site)] for name, o in books.items()
    }
    names = sorted({part for book in parts.values() for part in book})
    with ThreadPoolExecutor(WORKERS) as pool:
        jobs = [(site / name, BUILD / "print" / f"{name}.pdf") for name in names]
        files = dict(zip(names, pool.map(lambda job: printed(*job), jobs), strict=True))
    for name, book in parts.items():
        count = bind(site, {part: files[part] for part in book}, out / name)
        seconds, size = time.monotonic() - start, (out / name).stat().st_size / 2**20
        print(f"{name}: {len(book)} parts, {count} pages, {size:.1f} MiB, {seconds:.0f} s")


if __name__ == "__main__":
    make()
