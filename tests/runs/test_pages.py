"""The runs' pages: finding runs, starting and cancelling them, results and raw artefacts."""

import json

import pytest
from django.urls import reverse

from apps.core.quantities import parse_size, spell_size
from apps.labs.isolation import lab_scope
from apps.labs.models import AuditEvent
from apps.runs.models import Run
from apps.runs.states import State
from tests.dashboard import world
from tests.sampling import for_each
from tests.shared_world import cast, furnished

__all__ = ["cast", "furnished"]

pytestmark = pytest.mark.django_db


def form(target, act="start", repetitions=1, **job):
    asked = {
        "rw": "randread", "block_size": "4k", "file_size": "1g", "iodepth": "1", "numjobs": "1",
        "ioengine": "psync", "runtime": "30",
        "time_based": "on", "direct": "on", "sync": "none",
    } | job  # fmt: skip
    fields = {f"jobs-0-{name}": value for name, value in asked.items() if value is not None}
    return {
        "act": act,
        "target": target.pk,
        "repetitions": repetitions,
        "jobs-TOTAL_FORMS": 1,
        "jobs-INITIAL_FORMS": 0,
        **fields,
    }


def runs(lab):
    with lab_scope(lab.pk):
        return list(Run.objects.order_by("id"))


def test_an_engineer_starts_a_run_and_lands_on_its_page(furnished, sign_in):
    answer = sign_in("engineer").post(reverse("run-new"), form(furnished.target), follow=True)
    run = runs(furnished.lab)[-1]
    assert answer.redirect_chain == [(run.get_absolute_url(), 302)]
    assert run.state == State.QUEUED
    assert run.workload.jobs[0]["block_size"] == 4096
    with lab_scope(furnished.lab.pk):
        [event] = AuditEvent.objects.filter(act="runs started", detail={"runs": [run.pk]})
        assert event.who == "engineer@example.org"


def test_repetitions_lead_to_the_list(furnished, sign_in):
    answer = sign_in("engineer").post(reverse("run-new"), form(furnished.target, repetitions=3), follow=True)
    assert "3 repetitions are queued" in answer.content.decode()
    assert [run.repetition for run in runs(furnished.lab)[-3:]] == [1, 2, 3]


def test_review_shows_the_job_and_sends_nothing(furnished, sign_in):
    before = len(runs(furnished.lab))
    page = (
        sign_in("engineer")
        .post(reverse("run-new"), form(furnished.target, act="review", rw="write", block_size="1m"))
        .content.decode()
    )
    assert "rw=write\nbs=1m\nsize=1g" in page
    assert len(runs(furnished.lab)) == before


def test_htmx_gets_the_job_only(furnished, sign_in):
    data = form(furnished.target)
    del data["act"]
    answer = sign_in("engineer").post(reverse("run-new"), data, headers={"HX-Request": "true"})
    assert answer.status_code == 200
    assert "[job0]" in answer.content.decode()
    assert "<form" not in answer.content.decode()


@pytest.mark.slow
@for_each(
    "job, sentence",
    [
        ({"iodepth": "16"}, "psync has one I/O under way at a time"),
        ({"block_size": "4MB"}, "1000 to some and 1024 to others"),
        ({"block_size": "1000"}, "a multiple of 512"),
        ({"block_size": "8m", "file_size": "4m"}, "at most the file size"),
        ({"rwmixread": "70"}, "unless rw is rw or randrw"),
        ({"ioengine": "exec"}, "not one of the available choices"),
        ({"runtime": "9999999"}, "from 1 to 2678400"),
        ({"rw": "trimwrite"}, "not one of the available choices"),
    ],
)
def test_what_does_not_fit_is_said_at_its_field_and_nothing_is_sent(furnished, sign_in, job, sentence):
    before = len(runs(furnished.lab))
    answer = sign_in("engineer").post(reverse("run-new"), form(furnished.target, **job))
    assert answer.status_code == 422
    assert sentence in answer.content.decode()
    assert len(runs(furnished.lab)) == before


@for_each(
    "act, job, name, sentence",
    [
        (act, *case)
        for act in ["review", "start"]
        for case in [
            ({"numjobs": "65", "file_size": "1m"}, "numjobs", "Found 65, expected at most 64 on "),
            ({"iodepth": "2000", "ioengine": "libaio"}, "iodepth", "Found 2000, expected at most 1024 on "),
            ({"runtime": "4000"}, "runtime", "Found 4000, expected at most 3600 on "),
        ]
    ],
)
def test_what_agent_conf_does_not_allow_is_said_at_its_field_before_the_start(
    furnished, sign_in, act, job, name, sentence
):
    answer = sign_in("engineer").post(reverse("run-new"), form(furnished.target, act=act, **job))
    [errors] = [each.errors for each in answer.context["jobs"].forms]
    assert sentence in errors[name][0]


def test_jobs_are_added_as_copies_and_removed_without_script(furnished, sign_in):
    engineer = sign_in("engineer")
    page = engineer.post(reverse("run-new"), form(furnished.target, act="add", block_size="64k"))
    assert page.context["jobs"].total_form_count() == 2
    assert page.content.decode().count('value="64k"') == 2
    two = form(furnished.target, act="remove-0") | {
        "jobs-TOTAL_FORMS": 2,
        "jobs-1-rw": "write",
        "jobs-1-block_size": "1m",
    }
    page = engineer.post(reverse("run-new"), two)
    assert page.context["jobs"].total_form_count() == 1
    assert 'value="1m"' in page.content.decode()


def test_files_that_fit_into_memory_are_warned_about_before_they_are_sent(furnished, sign_in):
    page = (
        sign_in("engineer").post(reverse("run-new"), form(furnished.target, act="review", direct=None)).content.decode()
    )
    assert "64\u00a0GiB of RAM" in page


def test_a_run_is_started_again_with_the_same_jobs(furnished, sign_in):
    page = sign_in("engineer").get(reverse("run-new") + f"?like={furnished.finished.pk}")
    assert page.context["jobs"].total_form_count() == 2
    assert 'value="4g"' in page.content.decode()


def test_only_targets_that_the_labs_agents_offer_can_be_chosen(furnished, cast, sign_in):
    with lab_scope(cast.other_lab.pk):
        foreign = world.Target.objects.get(host=world.raid_host(cast.other_lab, "theirs"), is_agents_own=True)
    answer = sign_in("engineer").post(reverse("run-new"), form(foreign))
    assert answer.status_code == 422


def test_viewers_start_and_cancel_nothing(furnished, sign_in):
    viewer = sign_in("viewer")
    assert viewer.post(reverse("run-new"), form(furnished.target)).status_code == 403
    assert viewer.post(reverse("run-cancel", args=[furnished.queued.pk])).status_code == 403
    assert reverse("run-new") not in viewer.get(reverse("runs")).content.decode()


def test_cancel_says_what_will_be_lost_before_it_cancels(furnished, sign_in):
    address = reverse("run-cancel", args=[furnished.queued.pk])
    engineer = sign_in("engineer")
    assert "nothing has been measured yet" in engineer.get(address).content.decode()
    assert runs(furnished.lab)[-1].state == State.QUEUED
    engineer.post(address)
    assert runs(furnished.lab)[-1].state == State.CANCELLED
    assert "nothing was cancelled" in engineer.post(address, follow=True).content.decode()


def test_a_stranger_neither_cancels_nor_downloads(furnished, sign_in):
    stranger = sign_in("stranger")
    assert stranger.post(reverse("run-cancel", args=[furnished.queued.pk])).status_code == 404
    for name in ("run-artefact", "run-artefact-view"):
        assert stranger.get(reverse(name, args=[furnished.finished.pk, "result.json"])).status_code == 404


def test_an_artefact_is_handed_out_byte_for_byte_as_a_download(furnished, sign_in):
    answer = sign_in("viewer").get(reverse("run-artefact", args=[furnished.finished.pk, "result.json"]))
    assert b"".join(answer.streaming_content) == world.FIO_RESULT.read_bytes()
    assert answer["Content-Type"] == "application/octet-stream"
    assert answer["Content-Disposition"] == f'attachment; filename="run-{furnished.finished.pk}-result.json"'
    assert answer["X-Content-Type-Options"] == "nosniff"
    assert "sandbox" in answer["Content-Security-Policy"]


def test_an_artefact_on_a_page_is_text(furnished, sign_in):
    page = (
        sign_in("viewer")
        .get(reverse("run-artefact-view", args=[furnished.finished.pk, "result.json"]))
        .content.decode()
    )
    assert "&quot;fio version&quot;" in page


def test_the_page_of_a_finished_run_shows_what_was_printed_and_where(furnished, sign_in):
    page = sign_in("viewer").get(furnished.finished.get_absolute_url()).content.decode()
    called = ("<dt>RAID level</dt>", "<dt>RAM</dt>", "<dt>disks</dt>")  # as the compare page calls these facts
    for said in ("of the result", "99.99 %", "rw=randread", *called, "result.json", "Time series", "md10"):
        assert said in page, said


def test_the_charts_hold_nothing_that_the_tables_do_not_sum_up(furnished, sign_in):
    answer = sign_in("viewer").get(furnished.finished.get_absolute_url())
    chart, page = answer.context["chart"], answer.content.decode()
    assert json.loads(json.dumps(chart)) == json.loads(
        page.split('id="chart-data" type="application/json">')[1].split("</script>")[0]
    )
    histogram, curve = chart["latency"]
    for drawn in (histogram, curve):
        assert [one["label"] for one in drawn["series"]] == [
            f"{one.name} ({one.kind})" for one in answer.context["latencies"]
        ]
    for one, latency in zip(histogram["series"], answer.context["latencies"], strict=True):
        assert sum(point["n"] for point in one["points"]) == latency.count


@pytest.mark.slow
@for_each("state", [State.RUNNING, State.UNKNOWN, State.FAILED, State.INTERRUPTED], taken_back=True)
def test_every_state_has_its_page(furnished, sign_in, state):
    with lab_scope(furnished.lab.pk):
        world.attempt_at(furnished.queued, state, reason="No space left on device." if state == State.FAILED else "")
    page = sign_in("engineer").get(furnished.queued.get_absolute_url()).content.decode()
    assert f"chip-{state}" in page
    assert ("/events/runs/" in page) == (state in (State.RUNNING, State.UNKNOWN))
    assert ("No space left on device." in page) == (state == State.FAILED)


@for_each("query, found", [
        ("state=finished", 1), ("state=queued", 1), ("state=failed", 0), ("rw=randread", 2), ("rw=randwrite", 0),
        ("tool=fio", 2),
        ("origin=dispatched", 2), ("origin=published", 0), ("q=storage1", 2), ("q=nowhere", 0), ("study=crs4", 0),
        ("upload=1", 0), ("page=99", 2),
    ])  # fmt: skip
def test_runs_are_found_by(furnished, sign_in, query, found):
    answer = sign_in("viewer").get(f"{reverse('runs')}?{query}")
    assert answer.context["page"].paginator.count == found
    if not found:
        assert "No run matches" in answer.content.decode()


@for_each("number", ["x", "1e2", "1.5", "-1", "9" * 30])
def test_what_is_no_upload_finds_every_run_and_no_address(furnished, sign_in, number):
    page = sign_in("viewer").get(f"{reverse('runs')}?upload={number}").content.decode()
    assert "2 runs, newest first" in page


def test_a_filter_of_another_labs_host_finds_nothing(furnished, cast, sign_in):
    with lab_scope(cast.other_lab.pk):
        foreign = world.raid_host(cast.other_lab, "theirs")
    page = sign_in("viewer").get(f"{reverse('runs')}?host={foreign.pk}").content.decode()
    assert "theirs" not in page


def test_a_page_of_the_list_holds_fifty(furnished, sign_in):
    with lab_scope(furnished.lab.pk):
        world.start(furnished.lab, furnished.target, repetitions=60)
    page = sign_in("viewer").get(reverse("runs"))
    assert len(page.context["page"].object_list) == 50
    assert 'rel="next"' in page.content.decode()


@pytest.mark.parametrize(
    ("text", "size"), [("4k", 4096), ("1m", 1024**2), ("100 MiB", 100 * 1024**2), ("512", 512), ("1.5g", 1610612736)]
)
def test_sizes_are_read_as_fio_reads_them(text, size):
    assert parse_size(text) == size
    assert parse_size(spell_size(size)) == size


@pytest.mark.parametrize("text", ["4kb", "1 MB", "", "-1", "4x", "1e9", "0.3"])
def test_sizes_that_say_two_things_are_refused(text):
    with pytest.raises(ValueError, match="found"):
        parse_size(text)


class TestSeveralTargets:
    @pytest.fixture
    def other(self, furnished):
        with lab_scope(furnished.lab.pk):
            return world.Target.objects.create(
                lab=furnished.lab, host=furnished.target.host, name="second", path="/srv/second", is_agents_own=True,
                lies_on={"type": "xfs", "source": "/dev/md9", "uuid": "9-9"},
            )  # fmt: skip

    def test_all_targets_of_a_host_can_be_chosen_and_none_is_chosen_unasked(self, furnished, other, sign_in):
        page = sign_in("engineer").get(reverse("run-new")).content.decode()
        assert 'xfs on /dev/md9 (UUID 9-9) <span class="muted mono">/srv/second</span>' in page
        assert page.count('name="target"') == 2
        assert "checked" not in page[page.index('name="target"') : page.index('name="repetitions"')]
        chosen = sign_in("engineer").get(reverse("run-new") + f"?target={other.pk}&target={furnished.target.pk}")
        form_part = chosen.content.decode()
        assert form_part[form_part.index('name="target"') : form_part.index('name="repetitions"')].count("checked") == 2

    def test_the_only_target_is_chosen(self, furnished, sign_in):
        page = sign_in("engineer").get(reverse("run-new")).content.decode()
        assert "checked" in page[page.index('name="target"') : page.index('name="repetitions"')]

    def test_runs_start_on_every_chosen_target(self, furnished, other, sign_in):
        before = len(runs(furnished.lab))
        data = form(furnished.target, repetitions=2) | {"target": [furnished.target.pk, other.pk]}
        review = sign_in("engineer").post(reverse("run-new"), data | {"act": "review"}).content.decode()
        assert "4 runs, at most" in review
        assert "2\xa0min 0\xa0s" in review or "2\xa0min" in review
        answer = sign_in("engineer").post(reverse("run-new"), data, follow=True)
        assert "4 runs on 2 targets are queued" in answer.content.decode()
        started = runs(furnished.lab)[before:]
        assert {(run.target_id, run.repetition) for run in started} == {
            (target.pk, repetition) for target in (furnished.target, other) for repetition in (1, 2)
        }

    def test_no_target_is_refused(self, furnished, other, sign_in):
        data = form(furnished.target)
        del data["target"]
        answer = sign_in("engineer").post(reverse("run-new"), data)
        assert (answer.status_code, "Choose at least one target." in answer.content.decode()) == (422, True)

    def test_one_that_takes_no_runs_any_more_starts_none(self, furnished, other, sign_in):
        before = len(runs(furnished.lab))
        with lab_scope(furnished.lab.pk):
            world.Target.objects.filter(pk=other.pk).update(is_agents_own=False)
        data = form(furnished.target) | {"target": [furnished.target.pk, other.pk]}
        assert sign_in("engineer").post(reverse("run-new"), data).status_code == 422
        assert len(runs(furnished.lab)) == before

    def test_before_a_target_is_chosen_the_preview_asks_for_one(self, furnished, other, sign_in):
        data = form(furnished.target, act="review")
        del data["target"]
        answer = sign_in("engineer").post(reverse("run-new"), data, headers={"HX-Request": "true"})
        assert (answer.status_code, "Choose targets" in answer.content.decode()) == (200, True)
        assert "cannot start yet" not in answer.content.decode()
