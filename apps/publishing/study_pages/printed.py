"""A published report's own tables, as it printed them, and its charts. Figures stay as printed, with the report's mark."""

from collections.abc import Callable, Iterable
from dataclasses import replace

from django.utils.translation import gettext as _

from apps.comparison.study_results import Results, ShownChart
from apps.lib.tables import Picture, Section
from apps.studies.tables.building import PrintedTable
from apps.studies.tables.flat import as_read

PictureOf = Callable[[str, str], Picture]  # by a chart's name and its title


def printed_sections(results: Results, picture_of: PictureOf) -> list[Section]:
    """Nothing for a lab's own study, which has no report."""
    return [*map(_table, results.tables), *(_chart(one, picture_of) for one in results.charts)]


def _table(table: PrintedTable) -> Section:
    form = table.form
    said = [_("In the report, lines %(lines)s.") % {"lines": form.source_lines}] if form.source_lines else []
    if form.unit:
        said.append(_("Values in %(unit)s.") % {"unit": form.unit})
    remarks = (f"{one.row} / {one.column}: {one.cell.remark or one.cell.kind}" for one in table.remarks)
    return Section(
        table.title,
        (*form.notes, *remarks),
        replace(as_read(table), is_quoted=True),
        tuple(filter(None, [" ".join(said)])),
        level=3,
    )


def _chart(shown: ShownChart, picture_of: PictureOf) -> Section:
    """With the report's own caption, axes and scale."""
    form = shown.form
    picture = picture_of(form.name, form.title) if shown.chart else None
    return Section(form.title, tuple(_reported(shown)), paragraphs=tuple(_said(shown)), picture=picture, level=3)


def _said(shown: ShownChart) -> Iterable[str]:
    form = shown.form
    if form.note:
        yield form.note
    if form.not_drawn:
        yield _("Not drawn: %(reason)s") % {"reason": form.not_drawn}


def _reported(shown: ShownChart) -> Iterable[str]:
    return (f"{name}: {text}" for name, text in shown.form.reported)
