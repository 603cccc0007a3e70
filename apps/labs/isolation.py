"""One lab never sees another's objects: the one place that says so.

Every model of a lab inherits `LabScoped`. Its default manager answers only inside a scope, and then only with rows of that scope's labs;
outside any scope it raises. Pages and the REST interface get their scope from the middleware, tasks and agents open one by name.
The second wall is in SQL: `same_lab.py` makes a reference from one lab's row to another lab's row impossible.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Any, ClassVar, Self, TypeVar

from django.db import models

Model = TypeVar("Model", bound=models.Model, covariant=True)


class UnscopedQueryError(RuntimeError):
    """A query for a lab's objects was made without saying for which lab."""


@dataclass(frozen=True)
class Scope:
    """Whose rows may be seen now: the labs' ids, or all of them (`everything`, for sweepers and sign-in only)."""

    labs: frozenset[int] = frozenset()
    everything: bool = False


_scope: ContextVar[Scope | None] = ContextVar("lab_scope", default=None)


def set_scope(scope: Scope | None) -> None:
    """For the middleware and for API sign-in, which learn the lab in the middle of a request."""
    _scope.set(scope)


@contextmanager
def scoped(scope: Scope | None) -> Iterator[None]:
    token = _scope.set(scope)
    try:
        yield
    finally:
        _scope.reset(token)


def lab_scope(*lab_ids: int) -> Any:
    """`with lab_scope(lab.id): …`"""
    return scoped(Scope(frozenset(lab_ids)))


def all_labs() -> Any:
    """`with all_labs(): …` for acts of the system itself, never for a person's request."""
    return scoped(Scope(everything=True))


def visible_labs() -> list[int] | None:
    """For statements written by hand: the ids of the labs in scope, None for all of them. Raises outside of any scope."""
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
