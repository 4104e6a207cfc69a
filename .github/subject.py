"""Refuses a commit whose subject is longer than 72 characters or too short to say what changed for whom.

python .github/subject.py FILE    the message, in the file that git hands to the hook commit-msg
"""

import re
import sys
from pathlib import Path

WIDEST = 72


def wrong(message):
    "What is wrong with a message, or None; comments, and what git itself writes, are left alone"
    lines = [
        line for line in message.partition("\n# ---")[0].splitlines() if not line.startswith("#")
    ]
    subject, *body = "\n".join(lines).strip().splitlines() or [""]
    if re.match(r"Merge |Revert |(fixup|squash|amend)! ", subject):
        return None
    if len(subject) > WIDEST:
        return (
            f"the subject has {len(subject)} characters, {WIDEST} at most: reasons go into the body"
        )
    if len(subject.split()) < 3:
        return f"{subject!r} does not say what changed for whom"
    if body and body[0].strip():
        return "a blank line stands between the subject and the body"


if __name__ == "__main__":
    sys.exit(wrong(Path(sys.argv[1]).read_text("utf-8")))
