"""The cast that all tests share: one lab with an owner, an engineer and a viewer, and a stranger who owns another lab."""

import os
from collections import defaultdict
from collections.abc import Callable, Iterator

os.environ.setdefault("SPINDLE_SECRET_KEY", "only-for-tests-" + "x" * 50)

import pytest
from django.conf import settings
from django.db import connection, transaction
from django.test import Client, TransactionTestCase
from hypothesis import HealthCheck
from hypothesis import settings as hypothesis

from apps.core import broker
from apps.labs.isolation import lab_scope, scoped
from apps.labs.models import Lab, Token
from tests.chromium import chromium
from tests.marks import from_elsewhere
from tests.people import PASSWORD, Cast, make_cast
from tests.sampling import IS_LONG, examples
from tests.studies.loading import reports_database

__all__ = ["PASSWORD", "Cast", "chromium", "reports_database"]

# Static files straight from their folders: tests need no collectstatic.
settings.STORAGES["staticfiles"]["BACKEND"] = "django.contrib.staticfiles.storage.StaticFilesStorage"
settings.WHITENOISE_USE_FINDERS = settings.WHITENOISE_AUTOREFRESH = True

# Workers of one run have databases of their own, but one Redis: rows of the same number must not share bells and counters.
settings.REDIS_PREFIX += f"{os.environ.get('PYTEST_XDIST_WORKER', 'main')}:"
settings.CACHES["default"]["KEY_PREFIX"] = settings.REDIS_PREFIX + "cache"
settings.CELERY_BROKER_TRANSPORT_OPTIONS["global_keyprefix"] = settings.REDIS_PREFIX

# bin/test has run the migrations once; each worker's database is a copy of what they made.
if template := os.environ.get("SPINDLE_TEST_TEMPLATE"):
    settings.DATABASES["default"].setdefault("TEST", {})["TEMPLATE"] = template

# How long it takes to think of an example is the machine's affair; what must be quick is measured by itself. The short
# form tries the same few examples each time, so that a commit is either good or not; --long looks for new ones.
hypothesis.register_profile(
    "any machine",
    max_examples=examples(100),
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow],
    derandomize=not IS_LONG,
)
hypothesis.load_profile("any machine")

# Argon2 is slow on purpose; sign-in itself is tested with it.
settings.PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher", *settings.PASSWORD_HASHERS]


def _emptied(self: TransactionTestCase) -> None:
    """After a test that commits: Django truncates every table and makes permissions anew, which takes a second or two
    with a hundred tables. To delete what is in the few that have rows takes a hundredth of it. What migrations and
    `post_migrate` put there stays.
    """
    kept = ("django_migrations", "django_content_type", "auth_permission", "django_site", HISTORY)
    with connection.cursor() as cursor:
        tables = [name for name in connection.introspection.table_names(cursor) if name not in kept]
        cursor.execute(" UNION ALL ".join(f"SELECT '{name}' WHERE EXISTS (SELECT FROM \"{name}\")" for name in tables))
        filled = [name for (name,) in cursor.fetchall()]
        with transaction.atomic():
            cursor.execute("SET CONSTRAINTS ALL DEFERRED")
            for name in filled:
                cursor.execute(f'DELETE FROM "{name}"')
        cursor.execute(
            f'TRUNCATE "{HISTORY}" CASCADE'
        )  # last, for deleting parts writes it; its rows cannot be deleted


HISTORY = "inventory_change"
TransactionTestCase._fixture_teardown = _emptied  # type: ignore[method-assign]


LOADED_REPORTS = {"reports_database", "crs4_loaded"}  # fixtures that load published reports, which takes many seconds


@pytest.hookimpl(tryfirst=True)  # before -m leaves any out
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if LOADED_REPORTS.intersection(getattr(item, "fixturenames", ())):
            item.add_marker("slow")
    if lost := from_elsewhere(items):
        raise pytest.UsageError("\n".join(lost))


@pytest.fixture
def cast(db: None) -> Cast:
    return make_cast()


@pytest.fixture
def lab(cast: Cast) -> Iterator[Lab]:
    """The lab, with the test inside its scope."""
    with lab_scope(cast.lab.pk):
        yield cast.lab


@pytest.fixture
def sign_in(cast: Cast) -> Callable[[str], Client]:
    """`sign_in("engineer")` gives that person's browser."""

    def signed_in(name: str) -> Client:
        client = Client()
        client.force_login(getattr(cast, name), backend="allauth.account.auth_backends.AuthenticationBackend")
        return client

    return signed_in


@pytest.fixture
def token(cast: Cast) -> Callable[[str], str]:
    """`token("read")` gives a lab token's secret of that scope."""

    def issued(scope: str) -> str:
        with lab_scope(cast.lab.pk):
            return Token.objects.issue(cast.lab, scope, f"{scope} token")[1]

    return issued


@pytest.fixture(autouse=True)
def rested_redis(monkeypatch: pytest.MonkeyPatch) -> None:
    """Ask Redis in every test, however shortly before another test found it away."""
    monkeypatch.setattr(broker, "_rests", defaultdict(broker._Rest))


@pytest.fixture(autouse=True)
def no_scope_leaks() -> Iterator[None]:
    with scoped(None):
        yield
