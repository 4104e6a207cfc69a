"""Authors and years in the notebooks are entries of references.bib, and every entry is cited."""

import re
from collections import Counter

import pytest

from conftest import NOTEBOOKS, refuse
from website import citations, references
from website.references import BIB, SOURCES, blank, cited, entries, link, mentions, texts

NEEDED = {
    "article": {"author", "title", "journal", "year"},
    "book": {"author", "title", "publisher", "year"},
    "inproceedings": {"author", "title", "booktitle", "year"},
    "techreport": {"author", "title", "institution", "number", "year"},
    "misc": {"author", "title", "eprint", "archiveprefix", "year"},
    "unpublished": {"author", "title", "note", "shorthand"},
}


def unresolved(text):
    "Mentions that lead to no entry, or to several"
    found = [(m.text.strip(), m.keys) for m in mentions(text)]
    return [f"{said}: {', '.join(keys) or 'no entry'}" for said, keys in found if len(keys) != 1]


def untold(text):
    "Titles under **Sources.** that belong to no mention and are no lecture's: a year is missing"
    paragraph = blank("\n".join(SOURCES.findall(text)))
    known = " ".join(m.text for m in mentions(paragraph))
    lectures = (
        "Build your own RKHS",
        "Kernel methods",
        "Double descent",
        "Kernel method",
        "Kernels",
    )
    titles = re.findall(r"\w, \*([^*]+)\*", paragraph)
    return [title for title in titles if title not in lectures and f"*{title}*" not in known]


def test_every_author_and_year_is_an_entry():
    cells = [(path.stem, text) for path in NOTEBOOKS for text in texts(path)]
    refuse([f"{stem}: {problem}" for stem, text in cells for problem in unresolved(text)])
    assert sum(len(mentions(text)) for _, text in cells) > 400


def test_every_title_has_its_year():
    refuse(
        [f"{path.stem}: {title}" for path in NOTEBOOKS for o in texts(path) for title in untold(o)]
    )


def test_every_entry_is_cited():
    pages = cited()
    refuse([key for key in entries() if not pages[key]])


def test_the_file_is_read_whole_and_its_entries_are_complete():
    text = BIB.read_text(encoding="utf-8")
    assert len(entries()) == len(re.findall(r"(?m)^@", text))
    titles = Counter(references.plain(entry.fields["title"]) for entry in entries().values())
    assert titles.most_common(1)[0][1] == 1
    for key, (kind, _, fields) in entries().items():
        assert NEEDED[kind] <= set(fields), key
        assert fields.get("year", "") in key and re.fullmatch(r"\d{4}|", fields.get("year", "")), (
            key
        )
        assert re.fullmatch(r"10\.\d{4,5}/\S+|", fields.get("doi", "")), key


PREFIX = {  # who registers the DOIs of a journal or publisher
    "10.1017": "Cambridge",
    "10.1073": "National Academy",
    "10.1080 10.1198": "Technometrics|American Statistical",
    "10.1090": "American Mathematical|Mathematics of Comp",
    "10.1093": "Oxford|Biometrika|Bioinformatics",
    "10.1109": "IEEE",
    "10.1111": "Royal Statistical",
    "10.1137": r"SIAM|Theory of Prob",
    "10.1145": r"ACM|Workshop on Comp|International Conference on Machine",
    "10.1162": "Neural Computation",
    "10.1214": r"Annals of (\w+ )*(Statistics|Probability)",
    "10.1561": "Foundations and Trends",
    "10.7551": "MIT Press",
    "10.1007 10.1023": r"Machine Learning|Mathematical Programming|Numerische Mathematik|Constructive|BIT"
    r"|Computational Learning|Springer|Acta Math|TEST|Psychometrika|Potential"
    r"|Numerical Alg|Statistics and Comp|Advances in Comp"
    r"|Zeitschrift für Wahr|Conference on Learning Theory|Algorithmic|Foundations of Comp",
}


def isbn_is_right(digits):
    return sum(int(d) * (1, 3)[i % 2] for i, d in enumerate(digits)) % 10 == 0


def doubts(fields):
    "What a DOI says of itself and its entry does not: the publisher, an ISBN's last digit, year or volume"
    where = next(fields[k] for k in ("journal", "publisher", "booktitle") if k in fields)
    prefix, _, rest = fields["doi"].partition("/")
    home = next((numbers for numbers, names in PREFIX.items() if re.search(names, where)), prefix)
    if prefix not in home.split():
        yield f"{prefix} is not that of {where}"
    if (isbn := re.search("97[89][-0-9]{10,14}", rest)) and not isbn_is_right(
        isbn[0].replace("-", "")[:13]
    ):
        yield "no ISBN"
    if (year := re.search(r"S\d{4}-\d{4}-(\d{4})-", rest)) and year[1] != fields["year"]:
        yield "another year"
    volume = re.match(r"(?:biomet|pjm\.\d{4}|jres)[/.]0*(\d+)\.", rest)
    if volume and volume[1] != fields["volume"]:
        yield "another volume"


def test_a_doi_fits_its_entry():
    held = {key: entry.fields for key, entry in entries().items() if "doi" in entry.fields}
    assert len(held) > 100
    assert {key: found for key, fields in held.items() if (found := list(doubts(fields)))} == {}


@pytest.mark.parametrize(
    "change",
    [
        {"doi": "10.1214/aos/1"},
        {"doi": "10.1090/S0002-9947-1951-0051437-7"},
        {"journal": "Biometrika", "doi": "10.1093/biomet/26.4.404"},
        {"publisher": "Springer", "journal": "Springer", "doi": "10.1007/978-1-4612-1128-1"},
    ],
)
def test_a_doubtful_doi_is_noticed(change):
    right = {
        "journal": "Transactions of the American Mathematical Society",
        "volume": "68",
        "year": "1950",
    }
    assert not list(doubts(right | {"doi": "10.1090/S0002-9947-1950-0051437-7"}))
    assert list(doubts(right | change))


def test_letters_tell_papers_of_one_year_apart():
    labels = Counter((entry.short, entry.year) for entry in entries().values())
    assert max(labels.values()) == 1
    lettered = [(entry.short, entry.year[:4]) for entry in entries().values() if entry.year[4:]]
    assert lettered and min(Counter(lettered).values()) == 2


@pytest.mark.parametrize(
    "text, keys",
    [
        ("Aronszajn (1950)", "aronszajn1950"),
        ("Aronszajn, *Theory of reproducing kernels* (1950)", "aronszajn1950"),
        ("(Schoenberg 1938, Micchelli 1986)", "schoenberg1938 micchelli1986"),
        ("Chang and Lin (2001, 2002)", "chang2001 chang2002"),
        ("Holm's (1979) correction; MacKay's fixed point (1992)", "holm1979 mackay1992"),
        ("Gretton et al. 2012a", "gretton2012a"),
        ("Bousquet and Elisseeff, *Stability and generalization* (2002)", "bousquet2002"),
        ("Collins and Duffy (2001) and *New ranking algorithms* (2002)", "collins2001 collins2002"),
        ("of 2000 pairs, `Aronszajn (1950)`, in $X (1950)$, on 22 November 2026, 1797 digits", ""),
    ],
)
def test_mentions(text, keys):
    assert [m.keys for m in mentions(text)] == [[key] for key in keys.split()]


@pytest.mark.parametrize(
    "text",
    [
        "Aronszajn (1951)",
        "Aronzsajn (1950)",
        "Aronszajn, *A theory of kernels* (1950)",
        "Bach, Jordan and Smola (2002)",
        "Smola, Bach and Jordan (2002)",
        "Gretton et al. (2012)",
        "Gretton et al. 2012c",
    ],
)
def test_wrong_mentions_are_refused(text):
    assert unresolved(text)


def test_a_title_without_a_year_is_refused():
    text = "**Sources.** MR (Meilă, *Build your own RKHS*). Rudin, *Real and Complex Analysis*, chapter 3."
    assert untold(text) == ["Real and Complex Analysis"]


def test_links():
    text = "## Aronszajn (1950)\n\n[Aronszajn (1950)](x.ipynb) and Aronszajn (1950)"
    text += "\n\n**Sources.** MR, FL.\n\nMR"
    linked = "\n".join(link(text, "b.md").splitlines()[2:])
    assert linked == (
        "[Aronszajn (1950)](x.ipynb) and Aronszajn ([1950](b.md#aronszajn1950))\n\n"
        "**Sources.** [MR](b.md#lecture-MR), [FL](b.md#lecture-FL).\n\nMR"
    )
    assert link(text, "b.md").startswith("## Aronszajn (1950)\n")


def test_links_in_docstrings():
    lines = ["References", "----------", "Theorem 3.4; Aronszajn (1950)"]
    citations.in_docstring(None, "function", "f", None, None, lines)
    assert (
        lines[2] == "Theorem 3.4; Aronszajn (`1950 <../front/bibliography.html#aronszajn1950>`__)"
    )


def test_the_page_has_a_place_for_every_link():
    page = references.page()
    for key, entry in entries().items():
        anchor = f"lecture-{entry.fields['shorthand']}" if "shorthand" in entry.fields else key
        assert page.count(f'<a id="{anchor}"></a>') == 1
    assert page.count("Cited in [") == len(entries())
    assert (
        "**Ali et al. 2019.** A. Ali, J. Z. Kolter and R. J. Tibshirani. *A continuous-time" in page
    )
    assert "**Aronszajn 1950.** N. Aronszajn. *Theory" in page
