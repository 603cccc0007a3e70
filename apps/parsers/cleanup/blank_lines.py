"""Removal of blank lines behind every line, as word processors, page converters and some mail programs add them.

    md1 : active raid1 sda1[0] sdb1[1]

          24418688 blocks [2/1] [U_]

A blank line of the tool's own becomes three, so that any two lines of such a stretch have an odd number of blank lines
between them. `without_double_spacing` is for a text that is double-spaced nearly throughout. People also write
paragraphs of one line, which are no output, so `without_spaced_stretches`, which handles single stretches, is used only
where nothing is recognised otherwise.
"""

from collections.abc import Iterator, Sequence

from apps.parsers.core.source_text import SourceText

_FEWEST = 6  # lines of a stretch, or all lines of a text
_NEARLY_ALL = 0.8
_MOST = 300_000  # lines
_BLANK = " \t\r>"  # also of a quoted mail


def without_double_spacing(text: SourceText) -> SourceText | None:
    """Return the text without the added blank lines, with the same line numbers; None unless most lines are double-spaced."""
    filled, stretches = _find_stretches(text)
    if sum(map(len, stretches)) < _NEARLY_ALL * len(filled):
        return None
    return _without(text, stretches)


def without_spaced_stretches(text: SourceText) -> SourceText | None:
    """Return the text with each double-spaced stretch closed up, with the same line numbers; None where there is none."""
    return _without(text, _find_stretches(text)[1])


def _find_stretches(text: SourceText) -> tuple[list[int], list[list[int]]]:
    """Return the indices of all lines that are not blank, and those of the lines in each double-spaced stretch."""
    if text.data.count(b"\n") > _MOST:
        return [], []
    filled = [index for index, line in enumerate(text.text.split("\n")) if line.strip(_BLANK)]
    return filled, [
        stretch for stretch in _split_stretches(filled) if len(stretch) >= _FEWEST or len(stretch) == len(filled) > 1
    ]


def _split_stretches(filled: Sequence[int]) -> Iterator[list[int]]:
    """Split indices into stretches in which an odd number of blank lines stands between neighbours."""
    stretch: list[int] = []
    for index in filled:
        if stretch and (index - stretch[-1]) % 2:
            yield stretch
            stretch = []
        stretch.append(index)
    if stretch:
        yield stretch


def _without(text: SourceText, stretches: Sequence[Sequence[int]]) -> SourceText | None:
    """Drop one line behind each line of a stretch, also where that line is blank itself."""
    # line numbers count from 1
    dropped = {index + 2 for stretch in stretches for index in range(stretch[0], stretch[-1], 2)}
    return text.without_lines(dropped) if dropped else None
