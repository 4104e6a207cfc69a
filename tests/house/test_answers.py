"""Is everything answered as before? (tests/answers.py tells what is asked, and writes the file again)"""

import json

import pytest

from answers import ASKED, KEPT, answered, changes, made_with, short

ANSWERS = json.loads(KEPT.read_text(encoding="utf-8"))
MADE_WITH = ANSWERS.pop("made with")


@pytest.mark.skipif(made_with() != MADE_WITH, reason=f"written with {MADE_WITH}, not {made_with()}")
@pytest.mark.parametrize("label", ASKED)
def test_answers_are_as_before(label):
    known = dict(ANSWERS[label])
    wrong = [
        f"{line}: {what}"
        for line, (found, _) in answered(label).items()
        for what in changes(known.pop(short(line), ""), found)
    ]
    assert not wrong, "\n".join([f"{len(wrong)} changes (python tests/answers.py)", *wrong[:20]])
    assert not known, f"{len(known)} answers are kept of what is not asked"


def test_the_file_holds_every_block():
    assert ANSWERS.keys() == ASKED.keys()
