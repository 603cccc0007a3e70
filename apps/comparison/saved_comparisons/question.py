"""What all saved questions have: an address, and whose names are in it."""

from collections.abc import Callable
from functools import cached_property
from typing import Any

from django.apps import apps
from django.db import models
from django.http import QueryDict

from apps.comparison.question import Question, QuestionError, parse
from apps.comparison.saved_comparisons.references import (
    MODELS,
    Resolved,
    broken_text,
    note_name,
    references_of,
    replaced,
    resolve,
)
from apps.labs.isolation import all_labs


class SavedQuestion(models.Model):
    """A row with a `query`. What it names is noted when it is made, and found again by identity whatever it is called later."""

    query: Any
    refers_to = models.JSONField(
        default=dict,
        blank=True,
        help_text="whose names are in the query, by id",
    )

    class Meta:
        abstract = True

    def save(self, *args: Any, **kwargs: Any) -> None:
        if self._state.adding and not self.refers_to:
            try:
                self.refers_to = references_of(self.asked)
            except QuestionError:  # its page says what is wrong with it
                self.refers_to = {}
        super().save(*args, **kwargs)

    @property
    def asked(self) -> Question:
        """Return the question as it was saved.

        Raises:
            QuestionError: A newer version no longer knows a word of it.
        """
        return parse({name: [str(value) for value in values] for name, values in QueryDict(self.query).lists()})

    @cached_property
    def resolved(self) -> Resolved:
        """Return the question with current names, and what it lost.

        Raises:
            QuestionError: A newer version no longer knows a word of it.
        """
        return resolve([(self.asked, self.refers_to)])[0]

    @property
    def question(self) -> Question:
        """Return the question with current names.

        Raises:
            QuestionError: It can no longer be answered.
        """
        if self.resolved.lost:
            raise self.resolved.lost
        return self.resolved.question

    @property
    def problem(self) -> str:
        """Return why the question can no longer be answered, or what is left out because it was deleted.

        The text is empty where it can be answered as it is.
        """
        try:
            resolved = self.resolved
        except QuestionError as error:
            return broken_text(error)
        return str(resolved.lost) if resolved.lost else " ".join(map(str, resolved.problems))

    @property
    def can_be_asked(self) -> bool:
        try:
            return self.resolved.lost is None
        except QuestionError:
            return False

    @property
    def current_query(self) -> str:
        """Return the query with current names as far as they exist; as it was saved where it cannot be answered."""
        try:
            return self.resolved.question.address
        except QuestionError:
            return str(self.query)


def resolve_all(rows: Any) -> Any:
    """Return the rows with their references looked up together; as many queries for many as for one."""
    resolved_rows, pairs = [], []
    for row in rows:
        try:
            pairs.append((row.asked, row.refers_to))
            resolved_rows.append(row)
        except QuestionError:
            continue  # the row itself says so when it is asked
    for row, resolved in zip(resolved_rows, resolve(pairs), strict=True):
        row.resolved = resolved
    return rows


def keep_last_name(sender: Any, instance: Any, **_: Any) -> None:
    """Receive `pre_delete` of what saved things refer to: they tell of it by the name that it had at the end."""
    kind = next(kind for kind, model in MODELS.items() if model is sender)
    with all_labs():
        _rewrite(lambda references: note_name(references, kind, instance))


def _rewrite(change: Callable[[Any], Any]) -> None:
    questions: list[Any] = [model for model in apps.get_models() if issubclass(model, SavedQuestion)]
    for model in questions:
        for pk, references in model.objects.exclude(refers_to={}).values_list("pk", "refers_to"):
            changed = change(references)
            if changed != references:
                model.objects.filter(pk=pk).update(refers_to=changed)


def follow_merge(sender: object, kind: str, stays: int, goes: int, **_: Any) -> None:
    """Point references to a merged host or target to the one that stays."""
    if kind not in MODELS:
        return
    _rewrite(lambda references: replaced(references, kind, goes, stays))
