"""Whose names a saved question has, and what becomes of it when these are renamed, merged or deleted."""

import pytest

from apps.comparison.answer import answer
from apps.comparison.models import SavedComparison
from apps.comparison.saved_comparisons.references import LostReferenceError
from apps.inventory.bulk.merge import merge, preview
from apps.inventory.models import Host
from apps.labs.models import Lab
from apps.studies.models import Configuration, Study
from tests.comparison.factories import measured

pytestmark = [pytest.mark.django_db, pytest.mark.services]
WORDS = "metric=bandwidth&operation=write&x=file_size"


def saved(lab: Lab, query: str) -> SavedComparison:
    made: SavedComparison = SavedComparison.objects.create(
        lab=lab, name="n", query=f"{WORDS}&{query}", created_by="who"
    )
    return made


def again(one: SavedComparison) -> SavedComparison:
    """As the next request reads it."""
    found: SavedComparison = SavedComparison.objects.get(pk=one.pk)
    return found


@pytest.fixture
def hosts(lab: Lab) -> list[Host]:
    for name, value, level in (("alpha", 1e8, "5"), ("beta", 2e8, "6")):
        measured(lab, name, [value], raid_level=level)
    return list(Host.objects.order_by("name"))


def rename(host: Host, name: str) -> None:
    host.name = name
    host.save()


def test_a_host_that_is_renamed_takes_baseline_and_filter_along(lab: Lab, hosts: list[Host]) -> None:
    one = saved(lab, "series=host&baseline=beta&host=alpha&host=beta")
    rename(hosts[1], "gamma")
    question = again(one).question
    assert question.filters == (("host", "alpha"), ("host", "gamma"))
    assert answer(question)[0].baseline == "gamma"
    assert "baseline=gamma" in again(one).address


def test_a_baseline_of_several_facts_keeps_those_that_are_no_names(lab: Lab, hosts: list[Host]) -> None:
    one = saved(lab, "series=host,raid_level&baseline=beta%20%C2%B7%206")
    rename(hosts[1], "gamma")
    assert answer(again(one).question)[0].baseline == "gamma · 6"


def test_a_label_of_host_and_target_follows_both(lab: Lab, hosts: list[Host]) -> None:
    label = answer(saved(lab, "series=label").question)[0].series[1]
    assert "beta" in label
    one = saved(lab, f"series=label&baseline={label}")
    rename(hosts[1], "gamma")
    assert answer(again(one).question)[0].baseline == label.replace("beta", "gamma")


def test_what_is_merged_is_followed(lab: Lab, hosts: list[Host]) -> None:
    one = saved(lab, "series=host&baseline=beta&host=beta")
    stays = Host.objects.create(lab=lab, name="delta")
    merge(lab, stays, hosts[1], (), "me", preview(lab, stays, hosts[1], ()).digest)
    assert again(one).question.filters == (("host", "delta"),)
    assert answer(again(one).question)[0].baseline == "delta"


def test_another_thing_of_the_old_name_is_another_thing(lab: Lab) -> None:
    study = Study.objects.create(lab=lab, slug="s", title="S")
    first = Configuration.objects.create(study=study, name="a", label="A")
    one = saved(lab, "study=s&configuration=A")
    first.delete()
    Configuration.objects.create(study=study, name="a", label="A")
    with pytest.raises(LostReferenceError, match="The configuration “A”, which this is about, was deleted"):
        _ = again(one).question


def test_what_is_no_things_name_stays_as_it_was_written(lab: Lab, hosts: list[Host]) -> None:
    one = saved(lab, "series=host&host=nobody&raid_level=5")
    assert one.refers_to == {}
    assert again(one).question.filters == (("host", "nobody"), ("raid_level", "5"))
