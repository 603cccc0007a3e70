"""Isolation of labs: no query returns rows of another lab, and no row can refer to a row of another lab.

Every model of a lab inherits `LabScoped`. Its default manager answers only inside a scope, and then only with rows of that
scope's labs; outside any scope it raises. Pages and the REST interface get their scope from the middleware, tasks and
agents open one by name. In the database, `add_constraints` adds composite foreign keys (lab_id, x_id) → (lab_id, id) for
every reference between two `LabScoped` models; it runs after each `migrate` and costs one query when nothing is new.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Any, ClassVar, Self, TypeVar

from django.apps import apps
from django.db import connections, models

Model = TypeVar("Model", bound=models.Model, covariant=True)


class UnscopedQueryError(RuntimeError):
    """A query for a lab's objects was made without saying for which lab."""


@dataclass(frozen=True)
class LabScopes:
    """Whose rows may be seen now: the labs' ids, or all of them (`everything`, for sweepers and sign-in only)."""

    labs: frozenset[int] = frozenset()
    everything: bool = False


_scope: ContextVar[LabScopes | None] = ContextVar("lab_scope", default=None)


def set_scope(scope: LabScopes | None) -> None:
    """Set the scope in the middle of a request, for the middleware and for API sign-in."""
    _scope.set(scope)


@contextmanager
def scoped(scope: LabScopes | None) -> Iterator[None]:
    token = _scope.set(scope)
    try:
        yield
    finally:
        _scope.reset(token)


def lab_scope(*lab_ids: int) -> Any:
    """Open the scope of one lab, or of several, for a `with` statement."""
    return scoped(LabScopes(frozenset(lab_ids)))


def all_labs() -> Any:
    """Open a scope of all labs, for acts of the system itself, never for a person's request."""
    return scoped(LabScopes(everything=True))


def visible_labs() -> list[int] | None:
    """Return the ids of the labs in scope, or None for all, for SQL written by hand.

    Raises:
        UnscopedQueryError: There is no scope.
    """
    scope = _scope.get()
    if scope is None:
        raise UnscopedQueryError("A statement asked for the labs in scope outside of lab_scope() and all_labs()")
    return None if scope.everything else sorted(scope.labs)


class LabQuerySet(models.QuerySet[Model]):
    lab_path = "lab_id"

    def in_scope(self, lab_path: str) -> Self:
        scope = _scope.get()
        if scope is None:
            raise UnscopedQueryError(f"{self.model.__name__}.objects was asked outside of lab_scope() and all_labs()")
        if scope.everything:
            return self
        return self.filter(**{f"{lab_path}__in": scope.labs})


class LabManager(models.Manager[Model]):
    """Only rows of the current scope. Build from a QuerySet: `LabManager.from_queryset(RunQuerySet)()`."""

    def get_queryset(self) -> Any:
        queryset: Any = super().get_queryset()
        return queryset.in_scope(getattr(self.model, "lab_path", "lab_id"))


class LabScoped(models.Model):
    """A row that belongs to exactly one lab."""

    lab_path: ClassVar[str] = "lab_id"

    lab = models.ForeignKey("labs.Lab", on_delete=models.CASCADE, related_name="+")

    objects: ClassVar[Any] = LabManager.from_queryset(LabQuerySet)()

    class Meta:
        abstract = True


class ThroughParent(models.Model):
    """A row without a lab column of its own (hot or dependent rows); `lab_path` leads to it."""

    lab_path: ClassVar[str]

    objects: ClassVar[Any] = LabManager.from_queryset(LabQuerySet)()

    class Meta:
        abstract = True


def _references() -> Iterator[tuple[str, str, str]]:
    """Yield (table, column, referred table) for every foreign key that must stay inside its lab."""
    for model in apps.get_models():
        if not issubclass(model, LabScoped):
            continue
        for field in model._meta.concrete_fields:
            other = field.related_model
            if isinstance(field, models.ForeignKey) and isinstance(other, type) and issubclass(other, LabScoped):
                yield model._meta.db_table, field.column, other._meta.db_table


def _name(table: str, column: str) -> str:
    return f"{table}_{column}"[:52] + "_same_lab"


def add_constraints(using: str = "default", **_: Any) -> None:
    with connections[using].cursor() as cursor:
        cursor.execute("SELECT conname FROM pg_constraint WHERE conname LIKE %s", ["%same_lab"])
        present = {row[0] for row in cursor.fetchall()}
        for table, column, other in _references():
            key = _name(other, "key")
            if key not in present:
                cursor.execute(f'ALTER TABLE "{other}" ADD CONSTRAINT "{key}" UNIQUE (lab_id, id)')
                present.add(key)
            if (name := _name(table, column)) not in present:
                cursor.execute(
                    f'ALTER TABLE "{table}" ADD CONSTRAINT "{name}" FOREIGN KEY (lab_id, "{column}") '
                    f'REFERENCES "{other}" (lab_id, id) DEFERRABLE INITIALLY DEFERRED'
                )
