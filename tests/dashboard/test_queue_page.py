"""The page of the queue, and what a run's page offers: again, like it, labels and note, giving up."""

import re
from datetime import timedelta

import pytest
from django.urls import reverse
from django.utils import timezone

from apps.agents.models import Agent
from apps.labs.isolation import lab_scope
from apps.labs.models import AuditEvent
from apps.runs.models import Run
from apps.runs.services import offer_next_run
from apps.runs.states import State
from apps.studies.models import Study
from tests.dashboard import world
from tests.runs.test_pages import form
from tests.sampling import for_each

pytestmark = pytest.mark.django_db
HTMX = {"HX-Request": "true"}


@pytest.fixture
def furnished(lab, settings, tmp_path):
    settings.ARTEFACT_DIR = tmp_path
    made = world.furnish(lab)
    world.start(lab, made.target, 2)
    return made


def queued(lab) -> list[int]:
    with lab_scope(lab.pk):
        return list(Run.objects.filter(lab=lab, state=State.QUEUED).in_dispatch_order().values_list("pk", flat=True))


def rows(page: str) -> list[int]:
    return [int(number) for number in re.findall(r'id="queue-run-(\d+)"', page)]


def lose_first(furnished) -> int:
    with lab_scope(furnished.lab.pk):
        attempt = offer_next_run(furnished.host.pk)
        attempt.accept()
        attempt.move(State.RUNNING)
        attempt.lose()
        Agent.objects.update(last_seen_at=timezone.now() - timedelta(minutes=9))
    return attempt.run_id


def test_everybody_reads_it_and_engineers_act(furnished, sign_in) -> None:
    page = sign_in("viewer").get(reverse("queue")).content.decode()
    assert rows(page) == queued(furnished.lab)
    assert "storage1" in page
    assert 'name="run"' not in page
    assert "Set priority" not in page
    page = sign_in("engineer").get(reverse("queue")).content.decode()
    assert page.count('name="run"') == 3
    assert "Set priority" in page
    assert rows(sign_in("stranger").get(reverse("queue")).content.decode()) == []
    for name in ("queue-order", "queue-cancel"):
        assert sign_in("viewer").post(reverse(name), {"act": "priority"}).status_code == 403
    assert sign_in("viewer").post(reverse("host-abandon", args=[furnished.host.pk])).status_code == 403


def test_it_is_in_the_navigation_beside_the_runs(furnished, sign_in) -> None:
    for address in ("/runs/", "/queue/"):
        page = sign_in("viewer").get(address).content.decode()
        assert len(re.findall(r'<a href="/runs/" aria-current="page">', page)) == 1
        tab = re.search(r'<a class="tab" href="([^"]+)"\s+aria-current="page"', page)
        assert tab
        assert tab[1] == address


def test_a_press_moves_a_run_and_answers_with_the_table_alone(furnished, sign_in) -> None:
    a, b, c = queued(furnished.lab)
    answer = sign_in("engineer").post(reverse("queue-order"), {"act": f"front-{c}"}, headers=HTMX)
    page = answer.content.decode()
    assert rows(page) == [c, a, b]
    assert f"Run {c} is moved to the front." in page
    assert "<html" not in page
    answer = sign_in("engineer").post(reverse("queue-order"), {"act": f"up-{c}"}, follow=True)
    assert "stays where it is" in answer.content.decode()


@for_each("act", ["", "up-", "up-x", "sideways-1", "front-999999999999999999999", "priority"])
def test_a_press_that_means_nothing_changes_nothing(furnished, sign_in, act) -> None:
    before = queued(furnished.lab)
    assert sign_in("engineer").post(reverse("queue-order"), {"act": act}, follow=True).status_code == 200
    assert queued(furnished.lab) == before


def test_ticked_runs_get_a_priority(furnished, sign_in) -> None:
    a, b, c = queued(furnished.lab)
    sent = {"act": "priority", "run": [c, "x", "-4"], "priority": "high"}
    page = sign_in("engineer").post(reverse("queue-order"), sent, headers=HTMX).content.decode()
    assert "1 run now has high priority." in page
    assert rows(page) == [c, a, b]
    sent = {"act": "priority", "run": [c], "priority": "urgent"}
    assert (
        "Tick the waiting runs" in sign_in("engineer").post(reverse("queue-order"), sent, follow=True).content.decode()
    )


def test_cancelling_many_says_first_what_is_lost(furnished, sign_in) -> None:
    a, b, c = queued(furnished.lab)
    engineer = sign_in("engineer")
    page = engineer.post(reverse("queue-cancel"), {"run": [a, c]}).content.decode()
    assert "Cancel 2 runs?" in page
    assert "2 runs have not begun and leave the queue." in page
    assert queued(furnished.lab) == [a, b, c]
    page = engineer.post(reverse("queue-cancel"), {"run": [a, c], "sure": "yes"}, follow=True).content.decode()
    assert "2 runs cancelled." in page
    assert queued(furnished.lab) == [b]
    assert "No run is chosen" in engineer.get(reverse("queue-cancel"), {"run": [a]}).content.decode()


def test_the_runs_of_a_dead_host_are_given_up_with_a_reason(furnished, sign_in) -> None:
    lost = lose_first(furnished)
    engineer, address = sign_in("engineer"), reverse("host-abandon", args=[furnished.host.pk])
    assert address in engineer.get(reverse("queue")).content.decode()
    assert address in engineer.get(reverse("run", args=[lost])).content.decode()
    assert f"run {lost}" in engineer.get(address).content.decode()
    refused = engineer.post(address, {"reason": " "})
    assert (refused.status_code, "why it is given up" in refused.content.decode()) == (422, True)
    page = engineer.post(address, {"reason": "burnt", "with_waiting": "on"}, follow=True).content.decode()
    assert f"Run {lost} is given up. 2 runs that waited for storage1 cancelled." in page
    assert queued(furnished.lab) == []
    page = engineer.get(reverse("run", args=[lost])).content.decode()
    assert "Given up by engineer@example.org, because its host had gone quiet: burnt" in page


def test_a_late_run_says_so_on_its_page_and_in_the_list(furnished, sign_in) -> None:
    lost = lose_first(furnished)
    address = reverse("host-abandon", args=[furnished.host.pk])
    sign_in("engineer").post(address, {"reason": "burnt"})
    with lab_scope(furnished.lab.pk):
        attempt = Run.objects.get(pk=lost).attempts.get()
        assert attempt.resume()
    page = sign_in("viewer").get(reverse("run", args=[lost])).content.decode()
    assert "Its host is back and still runs it" in page
    with lab_scope(furnished.lab.pk):
        attempt.move(State.FAILED, ended_at=timezone.now(), reason="fio failed")
    page = sign_in("viewer").get(reverse("run", args=[lost])).content.decode()
    assert "Late." in page
    assert "(burnt)" in page
    assert ">late<" in sign_in("viewer").get(reverse("runs")).content.decode()


def test_a_run_is_started_again_and_numbered_on(furnished, sign_in) -> None:
    engineer = sign_in("engineer")
    answer = engineer.post(reverse("run-again", args=[furnished.finished.pk]), follow=True)
    with lab_scope(furnished.lab.pk):
        new = Run.objects.order_by("pk").last()
        numbers = list(
            Run.objects.filter(workload=new.workload, target=new.target).values_list("repetition", flat=True)
        )
    assert answer.redirect_chain == [(new.get_absolute_url(), 302)]
    assert new.repetition == max(numbers)
    assert numbers.count(new.repetition) == 1
    assert sign_in("viewer").post(reverse("run-again", args=[new.pk])).status_code == 403
    with lab_scope(furnished.lab.pk):
        type(new.target).objects.filter(pk=new.target_id).update(is_agents_own=False)
    page = engineer.post(reverse("run-again", args=[new.pk]), follow=True).content.decode()
    assert "cannot be started again: target: found" in page


def test_a_run_again_with_changes_begins_with_what_that_run_had(furnished, sign_in) -> None:
    engineer = sign_in("engineer")
    with lab_scope(furnished.lab.pk):
        Run.objects.filter(pk=furnished.queued.pk).update(labels={"cable": "old, long"}, priority=1)
    address = f"{reverse('run-new')}?like={furnished.queued.pk}"
    assert address in engineer.get(reverse("run", args=[furnished.queued.pk])).content.decode()
    page = engineer.get(address)
    assert page.context["details"].initial == {"priority": "high", "labels": {"cable": "old, long"}}
    text = page.content.decode()
    assert "cable=&quot;old, long&quot;" in text
    assert f"Filled in like run {furnished.queued.pk}." in text
    assert 'value="libaio" selected' in text
    sent = form(furnished.target, repetitions=2) | {"labels": "cable=new", "note": "swapped", "priority": "low"}
    engineer.post(address, sent)
    with lab_scope(furnished.lab.pk):
        new = list(Run.objects.order_by("-pk")[:2])
    assert [(run.labels, run.note, run.get_priority_display(), run.repetition) for run in new] == [
        ({"cable": "new"}, "swapped", "low", 2), ({"cable": "new"}, "swapped", "low", 1),
    ]  # fmt: skip
    assert (
        "is not one of the available choices" in engineer.post(address, sent | {"priority": "urgent"}).content.decode()
    )
    refused = engineer.post(address, sent | {"labels": "no value"})
    assert (refused.status_code, "expected name=value" in refused.content.decode()) == (422, True)


def test_labels_and_note_are_changed_on_the_runs_page(furnished, sign_in) -> None:
    address = reverse("run-describe", args=[furnished.finished.pk])
    assert sign_in("viewer").post(address, {"note": "x"}).status_code == 403
    assert address not in sign_in("viewer").get(furnished.finished.get_absolute_url()).content.decode()
    page = sign_in("engineer").post(address, {"labels": "room=B12", "note": "with\nnew cables"}, follow=True)
    assert "with<br>new cables" in page.content.decode()
    refused = sign_in("engineer").post(address, {"labels": "room", "note": ""})
    assert refused.status_code == 422
    with lab_scope(furnished.lab.pk):
        run = Run.objects.get(pk=furnished.finished.pk)
        assert (run.labels, run.facts["room"]) == ({"room": "B12"}, "B12")
        assert AuditEvent.objects.filter(act="run described").count() == 1
    listed = sign_in("viewer").get(reverse("runs")).content.decode()
    assert "room=B12" in listed


def test_an_uploaded_runs_labels_are_its_files(furnished, sign_in) -> None:
    with lab_scope(furnished.lab.pk):
        run = Run.objects.create(
            lab=furnished.lab, tool="fio", origin="uploaded", state=State.FINISHED, labels={"machine": "m"}
        )
    sign_in("engineer").post(reverse("run-describe", args=[run.pk]), {"labels": "x=y", "note": "old disks"})
    with lab_scope(furnished.lab.pk):
        run.refresh_from_db()
    assert (run.labels, run.note) == ({"machine": "m"}, "old disks")


def test_a_study_is_chosen_at_the_start(furnished, sign_in) -> None:
    with lab_scope(furnished.lab.pk):
        study = Study.objects.create(lab=furnished.lab, slug="cables", title="Cables")
        column = study.configurations.create(name="old", label="old cable")
    page = sign_in("engineer").get(reverse("run-new")).content.decode()
    assert f'value="configuration-{column.pk}"' in page
    sent = form(furnished.target) | {"study": f"configuration-{column.pk}"}
    sign_in("engineer").post(reverse("run-new"), sent)
    with lab_scope(furnished.lab.pk):
        assert column.study_runs.get().run.state == State.QUEUED
    refused = sign_in("engineer").post(reverse("run-new"), sent | {"study": "configuration-999999"})
    assert refused.status_code == 422
