"""`manage.py prepare` does all that is to be done, and with nothing to do it asks one statement and changes nothing."""

import io
import json
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from django.core.management import call_command
from django.db import connection, transaction
from django.db.migrations.loader import MigrationLoader
from django.test.utils import CaptureQueriesContext

from apps.comparison.claims.evaluation import CLAIM_CHANGED, evaluate_study
from apps.comparison.claims.models import Claim
from apps.dashboard import prepare_state
from apps.dashboard.published import load
from apps.inventory.models import Disk
from apps.labs.isolation import all_labs, lab_scope
from apps.labs.models import Lab
from apps.runs.models import Run, Sample
from apps.studies.lookup import LAB_SLUG, published_lab
from apps.studies.models import Study

pytestmark = pytest.mark.django_db
KEY = "runs_run_host_id_same_lab"


@pytest.fixture
def checkout(tmp_path: Path, settings: Any) -> Path:
    """Code, seeds and a list of packages of its own, to be changed."""
    (tmp_path / "apps" / "studies" / "data").mkdir(parents=True)
    (tmp_path / "apps" / "code.py").write_text("A = 1\n")
    (tmp_path / "apps" / "studies" / "data" / "study.yaml").write_text("title: one\n")
    (tmp_path / "requirements").mkdir()
    (tmp_path / "requirements" / "run.txt").write_text("django==5.2\n")
    settings.BASE_DIR = tmp_path
    return tmp_path


@pytest.fixture
def loads(checkout: Path, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """How often the published reports were asked for; what they are has tests of its own."""
    done: list[str] = []
    monkeypatch.setattr(load, "load_all", lambda: done.append("loaded") or [])
    return done


@pytest.fixture
def loads_one(checkout: Path, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """How often the published reports were loaded: one of the five."""
    done: list[str] = []

    def load_one() -> list[str]:
        done.append("loaded")
        lab, _ = published_lab()
        return [*load.load_study("dtn-ucsc", lab), *load.load_claims_of("dtn-ucsc", lab)]

    monkeypatch.setattr(load, "load_all", load_one)
    return done


def prepare() -> list[str]:
    """What it says that it changed."""
    said = io.StringIO()
    call_command("prepare", "--json", stdout=said)
    changed: list[str] = json.loads(said.getvalue())["changed"]
    return changed


def take_back_the_newest_migration(app: str) -> str:
    """Its name. It is really taken back, as nobody knows which one will be the newest and what it does to tables."""
    graph = MigrationLoader(connection).graph
    ((_, name),) = graph.leaf_nodes(app)
    node = graph.node_map[app, name]
    assert not node.children, f"other migrations need {app}.{name}: take another app"
    (before,) = [parent.key[1] for parent in node.parents if parent.key[0] == app]
    call_command("migrate", app, before, verbosity=0)
    return f"{app}.{name}"


def rows() -> Any:
    return prepare_state._asked()[2]


@pytest.mark.slow
def test_with_nothing_to_do_nothing_is_loaded_migrated_or_changed(loads_one: list[str]) -> None:
    assert "study DTN benchmarks (wiki page of the Hyades cluster): made" in prepare()
    before = rows()
    with CaptureQueriesContext(connection) as asked:
        assert prepare() == []
    assert loads_one == ["loaded"]
    assert rows() == before
    assert sum("django_migrations" in one["sql"] for one in asked) == 1
    assert not any("runs_sample" in one["sql"] for one in asked if "hashtextextended" not in one["sql"])


@pytest.mark.slow
def test_other_seeds_other_code_and_other_packages_do_all_again(checkout: Path, loads: list[str]) -> None:
    prepare()
    for count, (path, text) in enumerate(
        [
            ("apps/studies/data/study.yaml", "title: two\n"),
            ("apps/code.py", "A = 2\n"),
            ("apps/labs_triggers.py", "# a new trigger\n"),
            ("requirements/run.txt", "django==5.3\n"),
        ],
        start=2,
    ):
        (checkout / path).write_text(text)
        prepare()
        assert len(loads) == count, path
        prepare()
        assert len(loads) == count, path


def test_other_code_brings_back_what_follows_a_migration(checkout: Path, loads: list[str]) -> None:
    """The composite key that keeps a lab's rows together, of a model that was new without it."""
    prepare()
    with connection.cursor() as cursor:
        cursor.execute(f"ALTER TABLE runs_run DROP CONSTRAINT {KEY}")
    (checkout / "apps" / "code.py").write_text("A = 2\n")
    prepare()
    with connection.cursor() as cursor:
        cursor.execute("SELECT count(*) FROM pg_constraint WHERE conname = %s", [KEY])
        assert cursor.fetchone() == (1,)
    assert len(loads) == 2


def test_python_writes_its_compiled_files_and_that_is_no_change(checkout: Path) -> None:
    before = prepare_state.digest(checkout)
    (checkout / "apps" / "__pycache__").mkdir()
    (checkout / "apps" / "__pycache__" / "code.cpython-311.pyc").write_bytes(b"compiled")
    assert prepare_state.digest(checkout) == before


def test_a_file_under_another_name_is_a_change(checkout: Path) -> None:
    before = prepare_state.digest(checkout)
    (checkout / "apps" / "code.py").rename(checkout / "apps" / "other.py")
    assert prepare_state.digest(checkout) != before


@pytest.mark.slow
@pytest.mark.usefixtures("checkout")
def test_a_migration_that_is_not_applied_is_applied_whatever_the_mark_says(loads: list[str]) -> None:
    prepare()
    assert prepare_state.is_prepared()
    newest = take_back_the_newest_migration("agents")
    assert not prepare_state.is_prepared()
    assert newest in prepare()
    assert prepare_state.is_prepared()
    assert len(loads) == 2


def alter(what: str) -> int:
    published = {"lab__slug": LAB_SLUG}
    rows_of = {
        "sample": lambda: Sample.objects.filter(run__lab__slug=LAB_SLUG, value__gt=1).update(value=1.0),
        "run": lambda: Run.objects.filter(**published).update(tool="other"),
        "disk": lambda: Disk.objects.filter(**published).update(health="other"),
        "claim": lambda: Claim.objects.update(statement="other"),
        "study": lambda: Study.objects.update(title="other"),
    }
    return rows_of[what]()


@pytest.mark.slow
def test_what_somebody_altered_in_the_published_reports_is_put_right(loads_one: list[str]) -> None:
    prepare()
    before = rows()
    for what in ("run", "sample", "disk", "claim", "study"):
        with all_labs(), suppress(UndoneError), transaction.atomic():
            assert alter(what)
            assert not prepare_state.is_prepared(), what
            raise UndoneError
    assert prepare_state.is_prepared()
    with all_labs():
        alter("study")
    prepare()
    assert len(loads_one) == 2
    assert rows() == before


class UndoneError(Exception):
    """Takes back what was altered."""


@pytest.mark.slow
def test_claims_that_are_judged_again_every_night_are_no_alteration(loads_one: list[str]) -> None:
    prepare()
    lab = Lab.objects.get(slug=LAB_SLUG)
    with lab_scope(lab.pk):
        Claim.objects.update(data_digest="", verdict="")
        evaluate_study(Study.objects.get(), CLAIM_CHANGED)
    prepare()
    assert len(loads_one) == 1


def test_what_was_stopped_half_way_is_done_again(loads: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    """Also with the former code back, whose mark was in the database before."""

    def stopped() -> list[str]:
        raise KeyboardInterrupt

    prepare()
    (Path(prepare_state.settings.BASE_DIR) / "apps" / "code.py").write_text("A = 2\n")
    with monkeypatch.context() as patched:
        patched.setattr(load, "load_all", stopped)
        with pytest.raises(KeyboardInterrupt):
            prepare()
    (Path(prepare_state.settings.BASE_DIR) / "apps" / "code.py").write_text("A = 1\n")
    prepare()
    assert len(loads) == 2


@pytest.mark.parametrize("table", ["django_migrations", "runs_sample"])
def test_a_database_without_tables_is_not_prepared(table: str) -> None:
    with connection.cursor() as cursor:
        cursor.execute(f"ALTER TABLE {table} RENAME TO was_there")
    assert not prepare_state.is_prepared()
    prepare_state.forget()


def test_every_migration_of_the_files_is_known_by_name_and_no_other() -> None:
    with connection.cursor() as cursor:
        cursor.execute("SELECT app || '.' || name FROM django_migrations")
        applied = {name for (name,) in cursor.fetchall()}
    assert set(prepare_state._migrations()) == applied
