"""Every change of the inventory: what was before, what after, who did it. Written by triggers, so that nothing passes by unseen."""

from typing import Any, ClassVar

import pgtrigger
from django.contrib.postgres.fields import ArrayField
from django.contrib.postgres.indexes import GinIndex
from django.db import models

from apps.inventory import vocabulary as words
from apps.labs.isolation import LabManager, LabQuerySet, LabScoped


class ChangeQuerySet(LabQuerySet["Change"]):
    def of_part(self, kind: str, pk: int) -> "ChangeQuerySet":
        """Return the changes of one part, including its members or sections."""
        return self.filter(part_kind=kind, part_id=pk)

    def of_host(self, pk: int) -> "ChangeQuerySet":
        """Return the changes of a host and of all that is or was in it.

        A disk that moved is in the history of both hosts.
        """
        return self.filter(hosts__contains=[pk])

    def done_together(self, change: "Change") -> "ChangeQuerySet":
        """Return all that the same request, discovery or command changed."""
        return (
            self.filter(lab_id=change.lab_id, together=change.together)
            if change.together
            else self.filter(pk=change.pk)
        )


class Change(LabScoped):
    """One row that was made, changed or deleted. Rows are only ever added.

    `before` and `after` are columns → values as JSON: of a change only the columns that differ, of a row that was made or deleted all that are
    not null. `part_*` is the part that people look at (the array of a member, the path of a section), `row_*` the row itself. `hosts`: the hosts
    that the row belongs or belonged to. `who` is None for the system, else `{"by": person | token | agent | command | import, "name", "id"}`.
    `together` is the same for all that was done by one request. References are plain numbers: history outlives what it tells of.
    """

    class Act(models.TextChoices):
        MADE = "made", "made"
        CHANGED = "changed", "changed"
        DELETED = "deleted", "deleted"

    lab = models.ForeignKey(
        "labs.Lab", on_delete=models.DO_NOTHING, related_name="+", db_constraint=False, db_index=False
    )
    at = models.DateTimeField()
    act = models.CharField(max_length=8, choices=Act.choices)
    part_kind = models.CharField(max_length=40)
    part_id = models.BigIntegerField()
    part_name = models.TextField()
    row_kind = models.CharField(max_length=40)
    row_id = models.BigIntegerField()
    hosts: Any = ArrayField(models.BigIntegerField())
    before = models.JSONField(null=True)
    after = models.JSONField(null=True)
    who = models.JSONField(null=True)
    together = models.UUIDField(null=True)

    objects: ClassVar[Any] = LabManager.from_queryset(ChangeQuerySet)()

    class Meta:
        ordering = ["-id"]
        indexes = [
            models.Index(fields=["lab", "-id"], name="change_of_lab"),
            models.Index(fields=["part_kind", "part_id", "-id"], name="change_of_part"),
            models.Index(fields=["together"], name="change_together"),
            GinIndex(fields=["hosts"], name="change_of_host"),
        ]
        triggers = [pgtrigger.Protect(name="append_only", operation=pgtrigger.Update | pgtrigger.Delete)]

    def __str__(self) -> str:
        return f"{self.part_name} {self.act}"

    @property
    def by(self) -> str:
        return str((self.who or {}).get("by", "system"))

    @property
    def is_by_person(self) -> bool:
        return self.by == words.Author.PERSON
