"""What the audit found, as data: dead anchors among the pages, the table, what is bad. No browser."""

from collections import Counter
from urllib.parse import unquote, urldefrag, urljoin, urlsplit

SERIOUS = ("critical", "serious")


def finding(page, screen, kind, where, by=0):
    return {"page": page, "screen": screen, "kind": kind, "where": where, "by": by}


def dead_links(pages, files):
    """Findings: links of the site that lead to no file or to no anchor

    pages : {page: (ids on it, addresses of its links)}
    files : every file of the site
    """
    for page, (_, links) in sorted(pages.items()):
        for link in sorted(set(links)):
            address, fragment = urldefrag(link)
            if urlsplit(link).scheme or link.startswith("//"):
                continue
            target = unquote(urlsplit(urljoin(f"/{page}", address)).path)[1:] if address else page
            if target[-1:] in ("", "/"):
                target += "index.html"
            if target not in files:
                yield finding(page, "links", "dead link", link)
            elif fragment and target in pages and unquote(fragment) not in pages[target][0]:
                yield finding(page, "links", "dead anchor", link)


def foreign(requests, home):
    "Addresses that were asked for and are not under `home`"
    inside = (home, "data:", "blob:", "about:")
    return sorted({address for address in requests if not address.startswith(inside)})


def axe_findings(page, screen, violations):
    "Findings of axe-core; what is neither serious nor critical is told as such"
    for rule in violations:
        kind = f"axe {rule['impact']}: {rule['id']}"
        for node in rule["nodes"]:
            yield finding(page, screen, kind, " ".join(map(str, node["target"]))[:120])


def is_bad(found):
    "Everything counts but axe's minor and moderate remarks"
    return not found["kind"].startswith("axe ") or found["kind"].split()[1].strip(":") in SERIOUS


def table(findings, pages):
    "One line a kind and screen: how often, on how many of the pages, and where it is worst"
    groups = {}
    for found in findings:
        groups.setdefault((not is_bad(found), found["kind"], found["screen"]), []).append(found)
    lines = [f"{'kind':44} {'screen':12} {'found':>6} {'pages':>6}   worst"]
    for (_, kind, screen), group in sorted(groups.items()):
        worst, count = Counter(o["page"] for o in group).most_common(1)[0]
        far = max(o["by"] for o in group)
        note = f"{worst}: {count}" + (f", {far} px at most" if far else "")
        lines.append(
            f"{kind:44} {screen:12} {len(group):6} {len({o['page'] for o in group}):6}   {note}"
        )
    bad = sum(map(is_bad, findings))
    summary = (
        f"{bad} findings on {len({o['page'] for o in findings if is_bad(o)})} of {pages} pages"
    )
    return "\n".join([*lines, "", f"{summary}; {len(findings) - bad} moderate or minor remarks"])
