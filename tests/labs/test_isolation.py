"""A lab never sees, names or changes another lab's objects."""

import pytest
from django.apps import apps
from django.db import IntegrityError, models, transaction

from apps.inventory.models import Host, Target
from apps.labs.isolation import LabManager, LabScoped, ThroughParent, UnscopedQueryError, all_labs, lab_scope
from apps.runs.models import Run

TENANCY = {"Lab", "Member", "User"}  # they are the tenancy itself
COUNTS = {"AttemptCount"}  # of strangers, before anybody knows whose lab it is about: keyed hashes and numbers
OF_THE_SERVER = {"WorkerHeartbeat"}  # when its own processes were last heard of
SHARED_WORDS = {"Measure", "Point"}  # numbers for words, the same for everybody


def _own_models() -> list[type[models.Model]]:
    return [model for model in apps.get_models() if model.__module__.startswith("apps.")]


def test_every_model_belongs_to_a_lab() -> None:
    loose = [m.__name__ for m in _own_models() if not issubclass(m, LabScoped | ThroughParent)]
    assert set(loose) <= TENANCY | SHARED_WORDS | COUNTS | OF_THE_SERVER


def test_every_lab_model_answers_only_through_a_lab_manager() -> None:
    for model in _own_models():
        if issubclass(model, LabScoped | ThroughParent):
            assert isinstance(model._default_manager, LabManager), model


def test_every_path_to_the_lab_is_a_real_one(cast) -> None:
    with lab_scope(cast.lab.pk):
        for model in _own_models():
            if issubclass(model, LabScoped | ThroughParent):
                assert list(model._default_manager.all()[:1]) == []  # the path resolves in SQL


def test_a_query_without_a_scope_is_refused(db) -> None:
    with pytest.raises(UnscopedQueryError, match="Host"):
        Host.objects.all()


def test_a_scope_shows_only_its_lab(cast) -> None:
    with all_labs():
        Host.objects.create(lab=cast.lab, name="ours")
        theirs = Host.objects.create(lab=cast.other_lab, name="theirs")
    with lab_scope(cast.lab.pk):
        assert [host.name for host in Host.objects.all()] == ["ours"]
        assert Host.objects.filter(pk=theirs.pk).first() is None
        assert Host.objects.filter(pk=theirs.pk).update(name="stolen") == 0
        assert Host.objects.filter(pk=theirs.pk).delete()[0] == 0


@pytest.mark.services
@pytest.mark.django_db(transaction=True)
def test_sql_refuses_a_reference_into_another_lab(cast) -> None:
    with all_labs():
        theirs = Host.objects.create(lab=cast.other_lab, name="theirs")
        with pytest.raises(IntegrityError, match="same_lab"), transaction.atomic():
            Target.objects.create(lab=cast.lab, host=theirs, name="theirs")
        ours = Run.objects.create(lab=cast.lab, tool="fio", origin="uploaded")
        with pytest.raises(IntegrityError, match="same_lab"), transaction.atomic():
            Run._base_manager.filter(pk=ours.pk).update(host=theirs)
        with pytest.raises(IntegrityError, match="same_lab"), transaction.atomic():
            Run._base_manager.filter(pk=ours.pk).update(host_id=theirs.pk + 1000)


def test_only_the_second_wall_takes_the_place_of_djangos_own_constraint() -> None:
    from apps.labs.isolation import _references

    walls = {(table, column) for table, column, _ in _references()}
    for model in _own_models():
        for field in model._meta.concrete_fields if issubclass(model, LabScoped) else ():
            if isinstance(field, models.ForeignKey) and not field.db_constraint and field.name != "lab":
                assert (model._meta.db_table, field.column) in walls, (model, field)


@pytest.mark.django_db
def test_every_reference_between_lab_models_has_its_second_wall() -> None:
    from django.db import connection

    from apps.labs.isolation import _name, _references

    with connection.cursor() as cursor:
        cursor.execute("SELECT conname FROM pg_constraint")
        present = {row[0] for row in cursor.fetchall()}
    references = list(_references())
    assert len(references) > 20
    assert {_name(table, column) for table, column, _ in references} <= present
