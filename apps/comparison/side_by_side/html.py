"""The table's inside as HTML in one pass. A template takes 30 ms for 320 cells where this takes three
(`tests/benchmarks/test_p9_side_by_side.py`); whatever came from people or files is escaped here.
"""

from collections.abc import Iterator
from functools import lru_cache, partial
from html import escape

from apps.comparison.cells import Verdict
from apps.comparison.side_by_side.parts import in_words
from apps.comparison.side_by_side.table import HIGH, LOW, MEAN, WITHOUT, Column, N, Place, Row, Single, Table
from apps.comparison.words import operation_of
from apps.lib import units
from apps.lib.addresses import numbered
from apps.lib.many_numbers import exact, significant
from apps.lib.printed_text import printed_as

SAID = {  # the tone, and the word
    Verdict.BETTER: ("better", "better"),
    Verdict.WORSE: ("worse", "worse"),
    Verdict.NO_DIFFERENCE: ("same", "no sig. difference"),
    Verdict.TOO_FEW: ("same", "too few runs"),
}
Texts = tuple[str, str, str, str, str, str, str, str]  # mean, half, ratio, its interval; in full: mean, lowest, highest
MARK = '<sup title="The file is no larger than RAM: this may be memory">m</sup>'
PARTLY = '<sup title="The file is smaller than its plan asks for: this may be partly memory">p</sup>'


def inside(table: Table, link: str) -> str:
    """`<thead>` and `<tbody>`; `link` is the address of the full comparison with `{metric}` and `{operation}` to fill in."""
    heads = "".join([_head(column, table.baseline) for column in table.columns])
    link = escape(link)  # here once: what is filled in are the field's own words
    rows = "".join(
        [f"<tr>{_first(row, link)}{cells}</tr>" for row, cells in zip(table.rows, _cells(table), strict=True)]
    )
    return f'<thead><tr><th scope="col">Measure</th>{heads}</tr></thead><tbody>{rows}</tbody>'


def _head(column: Column, baseline: Column | None) -> str:
    name = escape(column.name)
    named = f'<a href="{escape(column.address)}">{name}</a>' if column.address else name
    mark = ' <span class="unit">(baseline)</span>' if column is baseline else ""
    return f'<th scope="col" class="num wrap">{named}{mark}</th>'


def _first(row: Row, link: str) -> str:
    place = row.place
    address = link.format(metric=place.metric, operation=place.operation)
    unit = f' <span class="unit">{escape(row.unit.label)}</span>' if row.unit.label else ""
    operation, metric, point = escape(operation_of(place.operation)), escape(row.metric.label), escape(point_of(place))
    # by itself, in a list of links, a link says of which row it is
    return (
        f'<th scope="row"><a href="{address}" aria-label="{operation}, {metric}, {point}">{operation}</a>'
        f' · {metric}{unit}<span class="judgement">{point}</span></th>'
    )


@lru_cache(maxsize=4096)  # the same few points stand on every page
def point_of(place: Place) -> str:
    """`1 GiB file · 4 KiB blocks · depth 16`, as text: the names of its parts are an upload's."""
    parts = [
        f"{units.size(place.file_size)} file" if place.file_size else "",
        f"{units.size(place.block_size)} blocks" if place.block_size else "",
        f"{place.threads} threads" if place.threads and place.threads > 1 else "",
        f"depth {place.iodepth}" if place.iodepth and place.iodepth > 1 else "",
        in_words(place.operation, place.section, place.parts),
    ]
    return " · ".join(part for part in parts if part)


def _cells(table: Table) -> list[str]:
    """The cells of each row."""
    figures, texts = table.figures, _texts(table)
    verdicts = dict(zip(figures.places, figures.judged.verdicts, strict=True))
    counts, marks, singles = figures.sums[:, :, N].tolist(), _marks(table), figures.single
    runs = numbered("run") if singles else ""
    found = []
    for place, row in enumerate(table.rows):
        behind = units.suffix(row.unit.label)
        cells = []
        for column, n in enumerate(counts[place]):
            text = next(texts)
            if text[0]:
                mark = marks[place][column]
                verdict, single = verdicts.get((place, column)), singles.get((place, column))
                judged = _judged(*text[2:5], verdict) if verdict else f'<span class="judgement">n = {int(n)}</span>'
                if single:
                    cells.append(_of_one(text, behind, mark + judged, single, runs % single.run))
                else:
                    cells.append(_cell(text, int(n), behind, mark + judged))
            else:
                cells.append(_without(table, place, column, marks[place][column]))
        found.append("".join(cells))
    return found


def _marks(table: Table) -> list[list[str]]:
    """By row and column; what is not measured has one too, and shows none."""
    import numpy as np

    figures = table.figures
    return np.where(figures.in_ram, MARK, np.where(figures.partly_in_ram, PARTLY, "")).tolist()  # type: ignore[no-any-return]


def _texts(table: Table) -> Iterator[Texts]:
    """Of every cell, row by row, in their row's unit; empty where there is no such figure."""
    import numpy as np

    figures, found = table.figures, table.figures.judged
    factors = np.array([row.unit.factor for row in table.rows])[:, None]
    ratios = np.full((3, *figures.half.shape), np.nan)
    if figures.places:
        ratios[:, *np.array(figures.places).T] = found.ratio, found.low, found.high
    means, lows, highs = (figures.sums[:, :, which] / factors for which in (MEAN, LOW, HIGH))
    rounded = iter(significant(np.stack((means, figures.half / factors, *ratios), axis=-1).ravel()))
    full = iter(exact(np.stack((means, lows, highs), axis=-1).ravel()))
    return zip(rounded, rounded, rounded, rounded, rounded, full, full, full, strict=True)


def _cell(text: Texts, n: int, behind: str, more: str) -> str:
    """It can have the focus, so that its title is for the keyboard too."""
    mean, half, _, _, _, full, least, most = text
    spread = f' <span class="muted">± {half}</span>' if half else ""
    said = f"{full}{behind}; n = {n}; from {least} to {most}{behind}"
    return f'<td class="num" tabindex="0" title="{said}">{mean}{spread}{more}</td>'


def _of_one(text: Texts, behind: str, more: str, single: Single, run: str) -> str:
    """What a tool printed, as it printed it, with the link to its run."""
    said = escape(
        "; ".join(filter(None, [f"{text[5]}{behind}", "n = 1", printed_as(single.printed, single.source_line)]))
    )
    return f'<td class="num" title="{said}"><a class="quiet-link" href="{run}">{text[0]}</a>{more}</td>'


def _without(table: Table, row: int, column: int, mark: str) -> str:
    """A range stands as its bounds: no mean is made up for it."""
    without = table.figures.sums[row, column, WITHOUT]
    if without != without:
        return '<td class="num"><span class="absent">not measured</span></td>'
    bounds, shown = table.figures.bounds.get((row, column), (None, None)), table.rows[row]
    found = units.bounds(*bounds, shown.unit.text)
    if not found:
        runs = "1 run" if without == 1 else f"{int(without)} runs"
        return f'<td class="num"><span class="absent">{runs} without a number</span></td>'
    full = units.bounds(*bounds, partial(units.exact, unit=shown.metric.unit))
    return f'<td class="num" tabindex="0" title="{full}">{found}{mark}<span class="judgement">bounds only</span></td>'


def _judged(ratio: str, low: str, high: str, verdict: Verdict) -> str:
    interval = f" ({low}{units.NO_BREAK}to{units.NO_BREAK}{high})" if low else ""
    tone, word = SAID[verdict]
    return f'<span class="judgement {tone}">{ratio}×{units.NO_BREAK}{word}{interval}</span>'
