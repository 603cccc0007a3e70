"""The check whether `manage.py prepare` has anything to do, in one statement and without loading migrations.

What was prepared is marked in a comment on Django's own table of migrations: it lies in the database that it speaks of, goes
with its dumps and restores, and needs no table that may be missing. The mark is a digest of code, seeds and packages, and
of the published rows, so whatever was altered there is put right. The names of the migrations are compared each time.
"""

import hashlib
import pkgutil
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path

from django.apps import apps
from django.conf import settings
from django.db import ProgrammingError, connection, transaction
from django.db.migrations.loader import MigrationLoader

from apps.studies.lookup import LAB_SLUG

_WHOLE = "sum(hashtextextended(one::text, 0))"
_OF_STUDY = "JOIN studies_study study ON study.id = one.study_id JOIN lab ON lab.id = study.lab_id"
_OF_RUN = "JOIN runs_run run ON run.id = one.run_id JOIN lab ON lab.id = run.lab_id"
_OF_LAB = "JOIN lab ON lab.id = one.lab_id"
_CLAIM = "sum(hashtextextended(ROW(one.code, one.statement, one.quote, one.definition)::text, 0))"  # not its verdict
_ROWS = (
    ("max(one.id)", "inventory_change", _OF_LAB),  # triggers write every change of a part there
    (_WHOLE, "studies_study", _OF_LAB),
    (_WHOLE, "studies_configuration", _OF_STUDY),
    (_WHOLE, "studies_plan", _OF_STUDY),
    (_WHOLE, "studies_wording", _OF_STUDY),
    (_CLAIM, "comparison_claim", _OF_STUDY),
    (_WHOLE, "runs_run", _OF_LAB),
    (_WHOLE, "runs_sample", _OF_RUN),
    (_WHOLE, "studies_studyrun", _OF_RUN),
)
_DIGESTS = ", ".join(f"(SELECT {what} FROM {table} one {of})::text" for what, table, of in _ROWS)  # noqa: S608
_ASKED = f"""
    WITH lab AS (SELECT id FROM labs_lab WHERE slug = %s)
    SELECT ARRAY(SELECT app || '.' || name FROM django_migrations),
        coalesce(obj_description('django_migrations'::regclass, 'pg_class'), ''),
        ARRAY[(SELECT id FROM lab)::text, {_DIGESTS}]
"""  # noqa: S608 (constants, as above)
_FORGOTTEN = """DO $$ BEGIN
    IF to_regclass('django_migrations') IS NOT NULL THEN COMMENT ON TABLE django_migrations IS NULL; END IF;
END $$"""


def is_prepared() -> bool:
    """Return whether all migrations are applied and everything is as the last `prepare` of this code left it."""
    try:
        with transaction.atomic():
            applied, mark, rows = _asked()
    except ProgrammingError:  # a table or column is not there yet
        return False
    return set(_migrations()) <= set(applied) and mark == _mark(rows)


def forget() -> None:
    """Remove the mark before anything is changed, so that interrupted work is done again."""
    with connection.cursor() as cursor:
        cursor.execute(_FORGOTTEN)


def remember() -> None:
    with connection.cursor() as cursor:
        cursor.execute(f"COMMENT ON TABLE django_migrations IS '{_mark(_asked()[2])}'")


def _asked() -> tuple[list[str], str, list[str | None]]:
    """Return (names of applied migrations, the mark, the state of the published rows)."""
    with connection.cursor() as cursor:
        cursor.execute(_ASKED, [LAB_SLUG])
        result: tuple[list[str], str, list[str | None]] = cursor.fetchone()
    return result


def _migrations() -> Iterator[str]:
    """Yield the names of the migrations in the files, without importing them."""
    for config in apps.get_app_configs():
        module, _ = MigrationLoader.migrations_module(config.label)
        spec = find_spec(module) if module else None
        for result in pkgutil.iter_modules((spec and spec.submodule_search_locations) or ()):
            if not result.ispkg and result.name[0] not in "_~":
                yield f"{config.label}.{result.name}"


def _mark(rows: list[str | None]) -> str:
    return hashlib.sha256(f"{digest(settings.BASE_DIR)} {rows}".encode()).hexdigest()


def digest(root: Path) -> str:
    """Return a hash of all code, seeds and the list of packages."""
    whole = hashlib.sha256()
    for path in sorted((*(root / "apps").rglob("*"), root / "requirements" / "run.txt")):
        if path.is_file() and path.suffix != ".pyc":
            whole.update(f"{path.relative_to(root)}\0".encode())
            whole.update(hashlib.sha256(path.read_bytes()).digest())
    return whole.hexdigest()
