"""Rows of a file onto the inventory of a lab. A preview does the same in a transaction that is taken back, so it cannot be wrong."""

from collections import Counter
from collections.abc import Collection, Sequence
from itertools import groupby
from typing import Any

from django.db import transaction

from apps.inventory.exchange.files import IncomingFile
from apps.inventory.exchange.outcome import REFUSED, Outcome, OutcomeEntry, StaleOutcomeError
from apps.inventory.exchange.row_matching import Matching
from apps.inventory.exchange.row_writer import RefusedAmongManyError, Writing
from apps.inventory.exchange.rows import RowWriter
from apps.inventory.history.authors import by
from apps.inventory.models import Host, Part
from apps.inventory.vocabulary import Author
from apps.labs.isolation import lab_scope
from apps.labs.models import Lab

Taken = tuple[IncomingFile, OutcomeEntry, Part | None]


def preview(lab: Lab, rows: Sequence[IncomingFile]) -> Outcome:
    """Return what `bring_in` would do without writing anything."""
    with lab_scope(lab.pk), transaction.atomic():
        outcome = _done(lab, rows)
        transaction.set_rollback(True)
    return outcome


def bring_in(lab: Lab, rows: Sequence[IncomingFile], actor: str, digest: str = "") -> Outcome:
    """Write all rows that are not refused and return the outcome.

    `digest` is that of the preview that a person agreed to, if there was one.

    Raises:
        StaleOutcomeError: if the import would now do anything else than that preview showed.
    """
    with lab_scope(lab.pk), by(Author.IMPORT, actor), transaction.atomic():
        list(
            Host.objects.filter(lab=lab).select_for_update(no_key=True).order_by("id").values_list("id")
        )  # locks out discoveries during the import
        outcome = _done(lab, rows)
        if digest and outcome.digest != digest:
            raise StaleOutcomeError(outcome)
    return outcome


def _done(lab: Lab, rows: Sequence[IncomingFile]) -> Outcome:
    """Write the rows so that nothing remains of a refused one.

    A row that is refused late, for its members, is rolled back with all others, which are then written again without
    it. So are all where the database refuses one of many; its kind is then written row by row.
    """
    refused: dict[str, OutcomeEntry] = {}
    one_by_one: set[type[Any]] = set()
    while True:
        before = transaction.savepoint()
        try:
            entries, late = _pass(lab, rows, refused, one_by_one)
        except RefusedAmongManyError as error:
            transaction.savepoint_rollback(before)
            one_by_one.add(error.model)
            continue
        if not late:
            transaction.savepoint_commit(before)
            return Outcome(tuple(entries))
        transaction.savepoint_rollback(before)
        refused |= late


def _pass(
    lab: Lab, rows: Sequence[IncomingFile], refused: dict[str, OutcomeEntry], one_by_one: Collection[type[Any]]
) -> tuple[list[OutcomeEntry], dict[str, OutcomeEntry]]:
    """Write every row, then references to rows of the same kind; return (entries, those refused late)."""
    matching = Matching(lab)
    writing = Writing(one_by_one, Counter(row.kind.model for row in rows))
    writer = RowWriter(lab, matching, writing)
    for kind in {row.kind.name: row.kind for row in rows}.values():
        writing.know(kind.model, matching.ring.rows[kind.name].values())
    taken: list[Taken] = []
    for _, group in groupby(rows, key=lambda row: row.kind.name):
        taken += [(one, *((refused[one.where], None) if one.where in refused else writer.take(one))) for one in group]
        writing.flush()
    late = _late(writer, taken)
    writing.flush()
    return [entry for _, entry, _ in taken], late


def _late(writer: RowWriter, taken: Sequence[Taken]) -> dict[str, OutcomeEntry]:
    writer.know_places([(incoming.kind, row) for incoming, _, row in taken if row is not None])
    late = {}
    for incoming, entry, row in taken:
        if row is not None:
            writer.take_late(incoming, entry, row)
            if entry.act == REFUSED:
                entry.changes = []
                late[incoming.where] = entry
    return late
