"""Statements written by hand."""

import pytest
from django.db import DataError, connection

from apps.core import sql

pytestmark = pytest.mark.django_db


def test_values_and_types_come_back() -> None:
    assert sql.rows("SELECT %(a)s::int, 2.5::float8, NULL, 'x'", {"a": 1}, binary=True) == [(1, 2.5, None, "x")]


@pytest.mark.django_db(transaction=True)
def test_an_error_of_a_statement_is_djangos_and_leaves_a_connection_that_works() -> None:
    with pytest.raises(DataError):
        sql.rows("SELECT 1 / %(a)s::int", {"a": 0})
    assert sql.rows("SELECT 6") == [(6,)]


@pytest.mark.django_db(transaction=True)
def test_a_connection_that_the_database_has_closed_is_opened_again() -> None:
    [(pid,)] = sql.rows("SELECT pg_backend_pid()")
    other = connection.copy()
    with other.cursor() as cursor:
        cursor.execute("SELECT pg_terminate_backend(%s)", [pid])
        cursor.execute("SELECT pg_sleep(0.1)")
    other.close()
    connection.close_if_unusable_or_obsolete()  # what Django does before a request
    assert sql.rows("SELECT pg_backend_pid()") != [(pid,)]
