"""Statements that PostgreSQL works on while something else is done."""

from types import SimpleNamespace

import pytest
from django.db import DataError, connection

from apps.lib import sql

pytestmark = pytest.mark.django_db


def test_answers_come_in_the_order_of_the_statements_and_as_often_as_they_are_asked_for() -> None:
    with sql.ahead(("SELECT %(a)s::int", {"a": 1}), ("SELECT 2.5::float8, NULL, 'x'", {}), binary=True) as answers:
        assert sql.rows("SELECT 3") == [(3,)]  # another one in between is no harm
        assert answers() == [[(1,)], [(2.5, None, "x")]]
    assert sql.rows("SELECT 4") == [(4,)]


def test_who_goes_away_without_the_answers_leaves_a_connection_that_works() -> None:
    with pytest.raises(ZeroDivisionError), sql.ahead(("SELECT 1", {})):
        raise ZeroDivisionError
    assert sql.rows("SELECT 5") == [(5,)]


@pytest.mark.django_db(transaction=True)
def test_an_error_of_a_statement_is_djangos_and_leaves_a_connection_that_works() -> None:
    with pytest.raises(DataError), sql.ahead(("SELECT 1 / %(a)s::int", {"a": 0})) as answers:
        answers()
    assert sql.rows("SELECT 6") == [(6,)]


@pytest.mark.django_db(transaction=True)
def test_a_connection_that_the_database_has_closed_is_opened_again() -> None:
    [(pid,)] = sql.rows("SELECT pg_backend_pid()")
    connection.close_if_unusable_or_obsolete()  # what Django does before a request
    other = connection.copy()
    with other.cursor() as cursor:
        cursor.execute("SELECT pg_terminate_backend(%s)", [pid])
        cursor.execute("SELECT pg_sleep(0.1)")
    other.close()
    sql.trust_if_quiet(sender=SimpleNamespace())
    assert sql.rows("SELECT pg_backend_pid()") != [(pid,)]
