"""A blank line behind every line, as word processors, converters of pages and some mail programs put it there.

    md1 : active raid1 sda1[0] sdb1[1]

          24418688 blocks [2/1] [U_]

A blank line of the tool's own is then three, so that an odd number stands between any two lines of such a stretch.
`without_double_spacing` is for a text that is so nearly as a whole. People write paragraphs of one line too, and what they say is no
part of the output above: stretches of a text (`drawn_together`) are for one in which nothing is found otherwise.
"""

from collections.abc import Iterator, Sequence

from apps.parsers.source_text import SourceText

_FEWEST = 6  # lines of a stretch, or all lines of a text
_NEARLY_ALL = 0.8
_MOST = 300_000  # lines
_BLANK = " \t\r>"  # also of a quoted mail


def without_double_spacing(text: SourceText) -> SourceText | None:
    """The same lines, with the same numbers, but for the blank ones that were put between; None where most are not so."""
    filled, stretches = _read(text)
    if sum(map(len, stretches)) < _NEARLY_ALL * len(filled):
        return None
    return _without(text, stretches)


def drawn_together(text: SourceText) -> SourceText | None:
    """The same, of every stretch of such lines; None where there is none."""
    return _without(text, _read(text)[1])


def _read(text: SourceText) -> tuple[list[int], list[list[int]]]:
    """The places of lines that are not blank, and those of each stretch."""
    if text.data.count(b"\n") > _MOST:
        return [], []
    filled = [place for place, row in enumerate(text.text.split("\n")) if row.strip(_BLANK)]
    return filled, [one for one in _stretches(filled) if len(one) >= _FEWEST or len(one) == len(filled) > 1]


def _stretches(filled: Sequence[int]) -> Iterator[list[int]]:
    """Places that have odd numbers of blank lines between them."""
    stretch: list[int] = []
    for place in filled:
        if stretch and (place - stretch[-1]) % 2:
            yield stretch
            stretch = []
        stretch.append(place)
    if stretch:
        yield stretch


def _without(text: SourceText, stretches: Sequence[Sequence[int]]) -> SourceText | None:
    """One line less behind each line of a stretch, be it blank itself."""
    dropped = {place + 2 for one in stretches for place in range(one[0], one[-1], 2)}  # numbers, from 1
    return text.without_lines(dropped) if dropped else None
