"""Statements and formulas of a page run in order: 5.1, 5.2, … on page 05, 5b.1, 5b.2, … on page 05b.

python tests/renumber.py [--check]    --check only says, by its exit status, whether all of them do

A number changes wherever it is named: in text, in comments and strings of code and what they print, in
tests, in the site's tables. Ends of links (thm-5-2) and numbers of exercises (05.2) stay for ever,
whatever stands at them. tests/numbers.json keeps the number that each had in version 0.1.
"""

import io
import json
import re
import sys
import tokenize
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
KINDS = "Theorem|Definition|Lemma|Proposition|Corollary|Example|Law|Algorithm"
LABEL = r"\d+[a-z]?\.\d+[a-z]?"
BOX = re.compile(rf"(?m)^> \*\*(?:{KINDS}) ({LABEL})")
TAG = re.compile(rf"\\tag\{{({LABEL})\}}")
FOREIGN = re.compile(r"\b(?:1[89]|20)\d\d\)?,? $")  # Steinwart and Christmann 2008, Corollary 4.36
NAMED = re.compile(
    rf"\b(?:{KINDS}|Theorems|Definitions|Lemmas|Propositions|Corollaries|Laws)[ ~\n]{LABEL}"
    rf"(?:(?:, | and |, and | or | to |–){LABEL}\b(?!\)))*"
)
LINKED = re.compile(rf"\[({LABEL})\](?=\([^)]*#(?:thm|prop|prp|def|cor|lem)-)")
BARE = {  # tables of the site with a column of numbers of statements
    "words.txt": re.compile(rf"(?<=\| )({LABEL})(?= \|)"),
    "notation.py": re.compile(rf"\"({LABEL})\""),
}
FORMULA = re.compile(
    rf"(?<![\w\]])\(({LABEL})(?=\)| (?:and|to|or) {LABEL}\)|, {LABEL}\)|–{LABEL}\))[^)]*\)"
)


def prefix(path):
    "What the numbers of a page begin with: 5b for 05b_risks"
    return re.sub(r"^0(?=\d)", "", path.stem.partition("_")[0])


def in_order(path):
    "The place of a page: 5 < 5a < 6"
    number, letter = re.fullmatch(r"(\d+)([a-z]?)", path.stem.partition("_")[0]).groups()
    return int(number), letter


def pages(root=ROOT):
    "The chapters, in order"
    found = [*(root / "nbs").glob("[01]*.ipynb"), *(root / "nbs" / "deeper").glob("[01]*.ipynb")]
    return sorted(found, key=in_order)


def text_of(path):
    "The text of a notebook"
    cells = json.loads(path.read_text("utf-8"))["cells"]
    return "\n\n".join("".join(c["source"]) for c in cells if c["cell_type"] == "markdown")


def changes(paths):
    "{old: new} of the statements, and of the formulas"
    found = {}, {}
    for path in paths:
        text = text_of(path)
        for pattern, table in zip((BOX, TAG), found, strict=True):
            for place, old in enumerate(pattern.findall(text), 1):
                if old in table:
                    raise ValueError(f"{old} stands twice, the second time in {path.name}")
                table[old] = f"{prefix(path)}.{place}"
    return found


def renumbered(text, statements, formulas):
    "The text with its numbers changed"

    def named(match):
        if FOREIGN.search(text[: match.start()]):
            return match[0]
        return re.sub(LABEL, lambda label: statements.get(label[0], label[0]), match[0])

    def shown(match):
        return re.sub(LABEL, lambda label: formulas.get(label[0], label[0]), match[0])

    text = TAG.sub(lambda m: rf"\tag{{{formulas.get(m[1], m[1])}}}", text)
    text = FORMULA.sub(shown, text)
    text = LINKED.sub(lambda m: f"[{statements.get(m[1], m[1])}]", text)
    return NAMED.sub(named, text)


def in_code(source, *tables):
    "Python with the numbers changed in its comments and strings"
    try:
        tokens = list(tokenize.generate_tokens(io.StringIO(source).readline))
    except (tokenize.TokenError, SyntaxError):
        return source  # a cell of IPython's
    lines = source.splitlines(keepends=True)
    starts = [0]
    for line in lines:
        starts.append(starts[-1] + len(line))
    words = {
        tokenize.COMMENT,
        tokenize.STRING,
        getattr(tokenize, "FSTRING_MIDDLE", tokenize.STRING),
    }
    for token in reversed([t for t in tokens if t.type in words]):
        begin = starts[token.start[0] - 1] + token.start[1]
        end = starts[token.end[0] - 1] + token.end[1]
        source = source[:begin] + renumbered(source[begin:end], *tables) + source[end:]
    return source


def rewrite(path, *tables):
    "The content of a file with the numbers changed"
    content = path.read_text("utf-8")
    if bare := BARE.get(path.name):
        content = bare.sub(lambda m: m[0].replace(m[1], tables[0].get(m[1], m[1])), content)
    if path.suffix == ".py":
        return in_code(content, *tables)
    if path.suffix != ".ipynb":
        return renumbered(content, *tables)
    nb = json.loads(content)
    for cell in nb["cells"]:
        change = {"markdown": renumbered, "code": in_code}.get(cell["cell_type"])
        if change:
            cell["source"] = change("".join(cell["source"]), *tables).splitlines(keepends=True)
        for output in cell.get("outputs", ()):
            if "text" in output:  # a message names a theorem
                shown = renumbered("".join(output["text"]), *tables)
                output["text"] = shown.splitlines(keepends=True)
    return json.dumps(nb, indent=1, ensure_ascii=False) + "\n"


def files(root=ROOT):
    "All that may name a number"
    found = [*(root / "nbs").rglob("*.ipynb"), *(root / "nbs").glob("*.md")]
    for folder in ("tests", "website", "benchmarks", "e2e"):
        found += [p for p in (root / folder).rglob("*") if p.suffix in (".py", ".md", ".txt")]
    found += [root / "tests" / "equivalent.json", root / "rkhs_notes" / "README.md"]
    invented = root / "tests" / "website", root / "tests" / "house" / "test_renumber.py"
    return [p for p in found if p.exists() and not {p, p.parent} & {*invented, Path(__file__)}]


def main(check=False, root=ROOT):
    tables = changes(pages(root))
    moved = [f"{old} → {new}" for table in tables for old, new in table.items() if old != new]
    if check:
        sys.exit("out of order: " + ", ".join(moved) if moved else 0)
    for path in files(root):
        content = rewrite(path, *tables)
        if content != path.read_text("utf-8"):
            path.write_text(content, "utf-8")
    kept = root / "tests" / "numbers.json"
    before = json.loads(kept.read_text("utf-8")) if kept.exists() else [{}, {}]
    now = [
        {
            old: table.get(number, number)
            for old, number in (former or {old: old for old in table}).items()
        }
        for table, former in zip(tables, before, strict=True)
    ]
    kept.write_text(json.dumps(now, indent=1) + "\n", "utf-8")
    print(f"{len(moved)} numbers changed")


if __name__ == "__main__":
    main("--check" in sys.argv)
