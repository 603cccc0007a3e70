"""IOzone's tables whose blanks a post or a mail took away: what they then say, they say; what they do not is told."""

import re
from contextlib import suppress
from pathlib import Path

from apps.parsers.core.models import ParsedFile, ParseError
from apps.parsers.core.source_text import SourceText
from apps.parsers.iozone import format as iozone_format
from tests.parsers.fixture_pairs import outputs
from tests.sampling import for_each

PATHS = list(outputs("iozone").values())


def values(parsed: ParsedFile) -> set[tuple[str, float | None, int | None, int | None]]:
    return {(one.operation, one.value, one.file_size, one.block_size) for run in parsed.runs for one in run.samples}


def stripped(text: str) -> str:
    return "\n".join(line.strip() for line in text.split("\n"))


def collapsed(text: str) -> str:
    return re.sub(r"[ \t]+", " ", text)


@for_each("path", PATHS)
def test_rows_and_headers_that_no_longer_begin_in_one_column_give_the_same(path: Path) -> None:
    text = path.read_text()
    assert values(iozone_format.parse(SourceText(stripped(text)))) == values(iozone_format.parse(SourceText(text)))


@for_each("path", PATHS)
def test_single_blanks_give_nothing_that_was_not_printed(path: Path) -> None:
    text = path.read_text()
    whole, found = values(iozone_format.parse(SourceText(text))), set()
    with suppress(ParseError):
        parsed = iozone_format.parse(SourceText(collapsed(text)))
        found = values(parsed)
        assert parsed.broken or found == whole
    assert found <= whole
