"""Statements that do not wait for each other's answers, for the few places where a person waits for a chain of them.

with in_one_go():
    …                                          # what answers nothing is only sent

measures, points = abreast(measure_numbers(words), point_numbers(keys))
"""

from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from contextvars import ContextVar
from typing import Any, TypeVar

import psycopg
from django.db import connection, transaction
from psycopg.pq import PipelineStatus

from apps.lib.sql import together

Result = TypeVar("Result")
Statement = tuple[str, Mapping[str, Any]]
# Yields statements, one at a time, and is sent the rows of each.
Asking = Generator[Statement, list[tuple[Any, ...]], Result]


_going: ContextVar[ExitStack | None] = ContextVar("the pipeline of `in_one_go`, while it is open", default=None)


@contextmanager
def in_one_go() -> Iterator[None]:
    """`transaction.atomic()` whose statements without an answer (`send`) are waited for once, with the commit. Their errors are raised at
    the end, or by the next statement that has an answer. Django's own cursors are as ever: what was sent before is waited for first.
    """
    is_outermost = not connection.in_atomic_block
    with transaction.atomic(), connection.wrap_database_errors, ExitStack() as pipeline:
        token = _going.set(pipeline)
        try:
            with connection.execute_wrapper(_behind(pipeline)):
                yield
        finally:
            _going.reset(token)
        if is_outermost and is_queued():  # nothing is left to Django's own commit, which asks nobody then
            _ours().execute("COMMIT", prepare=False)


def _behind(pipeline: ExitStack) -> Callable[..., Any]:
    """Django's cursors may send two statements as one, which is not possible in a pipeline."""

    def alone(execute: Callable[..., Any], *asked: Any) -> Any:
        pipeline.close()
        return execute(*asked)

    return alone


def is_queued() -> bool:
    """Where COPY is not possible."""
    return connection.connection is not None and _ours().pgconn.pipeline_status != PipelineStatus.OFF


def _ours() -> Any:
    return connection.connection


def send(sql: str, values: Mapping[str, Any]) -> None:
    """A statement without an answer, planned once per connection."""
    connection.ensure_connection()
    pipeline = _going.get()
    with connection.wrap_database_errors:
        if pipeline and not is_queued():
            pipeline.enter_context(_ours().pipeline())
        psycopg.Cursor(_ours()).execute(sql.encode(), values, prepare=True)


def abreast(*askings: Asking[Any]) -> list[Any]:
    """What each of these comes to; the statements that they ask at the same time take one round trip."""
    results: dict[int, Any] = {}
    heard: dict[int, Any] = dict.fromkeys(range(len(askings)))
    while heard:
        asked: dict[int, Statement] = {}
        for place, found in heard.items():
            try:
                asked[place] = askings[place].send(found)
            except StopIteration as end:
                results[place] = end.value
        heard = dict(zip(asked, _answers(list(asked.values())), strict=True)) if asked else {}
    return [results[place] for place in range(len(askings))]


def _answers(statements: Sequence[Statement]) -> list[list[tuple[Any, ...]]]:
    if not is_queued():
        return together(*statements) if statements else []
    with connection.wrap_database_errors:
        cursors = [psycopg.Cursor(_ours()).execute(sql.encode(), values, prepare=True) for sql, values in statements]
        return [cursor.fetchall() for cursor in cursors]
