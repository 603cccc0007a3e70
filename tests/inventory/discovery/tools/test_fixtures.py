"""Every `tests/parsers/fixtures/inventory/<case>.txt`, printed by the tool itself, reads as `<case>.expected.json` says.

Write the expected half of a new case with `python -m tests.inventory.discovery.tools.test_fixtures <case>`, then check it
against the output by eye.
"""

import json
import sys
from pathlib import Path
from typing import Any

from apps.parsers.core.source_text import SourceText
from tests.inventory.discovery.tools.formats import parsed, scores
from tests.sampling import for_each

FIXTURES = Path(__file__).parents[3] / "parsers" / "fixtures" / "inventory"
CASES = sorted(path.stem for path in FIXTURES.glob("*.txt"))


def told(case: str) -> Any:
    text = SourceText((FIXTURES / f"{case}.txt").read_bytes())
    (name,) = (name for name, score in scores(text).items() if score > 0.5)
    found = parsed(name, text)
    assert not found.broken
    return {
        "format": name,
        "inventory": [
            {"summary": one.summary, "host": one.host, "lines": [one.line, one.last_line], "content": one.content}
            for one in found.inventory
        ],
    }


@for_each("case", CASES)
def test_what_the_tool_printed_reads_as_expected(case: str) -> None:
    assert told(case) == json.loads((FIXTURES / f"{case}.expected.json").read_text())


def test_there_are_fixtures() -> None:
    assert len(CASES) >= 13


if __name__ == "__main__":
    for name in sys.argv[1:] or CASES:
        (FIXTURES / f"{name}.expected.json").write_text(json.dumps(told(name), indent=1, ensure_ascii=False) + "\n")
