"""Lists of runs: rows as they are read, ordered and written."""

from datetime import timedelta
from functools import partial

import pytest
from django.db import connection
from django.template.loader import render_to_string
from django.test.utils import CaptureQueriesContext
from django.urls import reverse
from django.utils import timezone

from apps.inventory.models import Host, Target
from apps.labs.isolation import lab_scope
from apps.labs.models import Lab
from apps.parsers.core.models import ParsedSample
from apps.runs.models import FEW, Run, Workload
from apps.runs.samples import save_samples
from apps.runs.tables import NewestFirst, RunRow, listed, newest
from tests.sampling import for_each
from tests.statements import statements

pytestmark = pytest.mark.django_db
NOW = timezone.now().replace(microsecond=0)


def a_run(lab, minutes=0, **fields):
    run = Run.objects.create(**{"lab": lab, "tool": "fio", "origin": "uploaded", "state": "finished"} | fields)
    Run.objects.filter(pk=run.pk).update(created_at=NOW - timedelta(minutes=minutes))
    return Run.objects.get(pk=run.pk)


def rows_of(runs, lab, *, ticks=False):
    """Return the body of the table as the template writes it."""
    context = {"runs": runs, "lab": lab, "ticks": ticks, "caption": "Runs"}
    return render_to_string("runs/_rows.html", context).partition("<tbody>")[2]


def named(lab, name):
    host = Host.objects.create(lab=lab, name=name)
    return {"host": host, "target": Target.objects.create(lab=lab, host=host, name=name, path="/x")}


@for_each(
    "spec, facts, shown",
    [
        ({"jobs": [{"rw": "read"}, {"rw": "write"}, {"rw": "read"}]}, {"rw": "no"}, "read + write"),
        ({"jobs": []}, {"configuration": "", "rw": None, "caption": "RAID 5"}, "RAID 5"),
        ({"rw": "randread"}, {"configuration": "a", "rw": "b"}, "a"),
        (None, {"rw": 0, "caption": 1.5}, "1.5"),
        (None, {}, ""),
    ],
    taken_back=True,
)
def test_a_row_says_what_the_run_itself_says(lab, spec, facts, shown):
    workload = spec and Workload.objects.create(lab=lab, tool="fio", sha256="0" * 64, spec=spec)
    took = {"started_at": NOW, "finished_at": NOW + timedelta(seconds=95.25)}
    run = a_run(lab, workload=workload, facts=facts, created_by="me", problem="why", **named(lab, "h"), **took)
    (row,) = listed([run.pk])
    assert row == RunRow.of(run)
    assert row.operations == run.operations == shown
    assert row.seconds == 95.25


def measured(run, *operations, sizes=(None,), metric="bandwidth"):
    save_samples(
        run,
        [ParsedSample(name, metric, 1.0, file_size=size, printed="1") for name in operations for size in sizes],
    )
    return run


@for_each(
    "operations, shown",
    [
        (["read", "write"], "write + read"),
        (
            ["seek", "char_read", "char_write", "rewrite", "read", "write"],
            "write + read + rewrite + char write + 2 more",
        ),
        (["disk", "mixed"], "mixed"),
        (["disk"], "disk"),
        ([], ""),
    ],
    taken_back=True,
)
def test_a_row_says_what_was_measured_where_nothing_else_tells(lab, operations, shown):
    run = measured(a_run(lab, tool="bonnie"), *operations)
    (row,) = listed([run.pk])
    assert row == RunRow.of(run)
    assert row.operations == run.operations == shown


@for_each("points", [1, FEW - 1, FEW, FEW + 1, 3 * FEW], taken_back=True)
def test_however_many_samples_there_are_no_operation_is_overlooked(lab, points):
    run = a_run(lab, tool="iozone")
    measured(run, "write", "read", "stride_read", sizes=range(1, points + 1))
    measured(run, "fwrite", metric="latency_mean")
    (row,) = listed([run.pk])
    assert row.operations == "write + read + stride read + fwrite"


@for_each(
    "fields, shown",
    [
        ({"facts": {"rw": "randread"}}, "randread"),
        ({"facts": {"caption": "RAID 5"}}, "RAID 5"),
        ({"facts": {"caption": ""}}, "write"),
        ({"tool": "fio", "sections": {"0": {"name": "nightly"}}}, "nightly"),
        ({"tool": "iperf3", "sections": {"0": {"name": "SUM"}}}, "write"),
    ],
    taken_back=True,
)
def test_what_a_run_says_itself_stands_before_what_was_measured(lab, fields, shown):
    run = measured(a_run(lab, **fields), "write")
    (row,) = listed([run.pk])
    assert row == RunRow.of(run)
    assert row.operations == run.operations == shown


def test_every_list_of_runs_says_what_was_measured(lab, sign_in):
    viewer, place = sign_in("viewer"), named(lab, "n1")
    run = measured(a_run(lab, tool="bonnie", **place), "char_write")
    for address in ("/", "/runs/", f"/runs/{run.pk}/", f"/hosts/{run.host_id}/", f"/targets/{run.target_id}/"):
        assert "char write" in viewer.get(address).content.decode(), address


def test_what_many_runs_measured_costs_no_more_statements(lab, sign_in):
    viewer, place = sign_in("viewer"), named(lab, "n1")
    addresses = ("/", "/runs/", f"/hosts/{place['host'].pk}/", f"/targets/{place['target'].pk}/")
    asked = []
    for n in (1, 11):
        for _ in range(n):
            measured(a_run(lab, tool="dd", **place), "read")
        asked.append({address: len(statements(partial(viewer.get, address))) for address in addresses})
    assert asked[0] == asked[1]


def test_a_run_of_no_host_and_no_end_has_a_row(lab):
    run = a_run(lab, started_at=NOW)
    (row,) = listed([run.pk])
    assert row == RunRow.of(run)
    assert rows_of([row], lab).count("–") == 4


def test_where_there_is_no_host_the_output_says_where_it_ran(lab):
    run = a_run(lab, labels={"machine": "rock-5 <b>", "path": "/mnt/md0"})
    (row,) = listed([run.pk])
    assert row == RunRow.of(run)
    html = rows_of([row], lab)
    assert ">rock-5 &lt;b&gt;</span>" in html
    assert ">/mnt/md0</span>" in html


@pytest.mark.parametrize("who", ["published report", "", "engineer@example.org"])
def test_where_a_run_comes_from_is_said_once(lab, who):
    a_run(lab, origin="published", created_by=who)
    shown = rows_of(listed(newest(Run.objects.all(), 0, 1)), lab)
    assert shown.count("published report") == 1
    assert '<td class="num">–</td>' in shown  # a report numbers no repetitions
    assert ("engineer@<wbr>example.org" in shown) == ("@" in who)


def test_rows_keep_the_order_of_their_keys(lab):
    keys = [a_run(lab).pk for _ in range(4)]
    asked = [keys[2], keys[0], keys[3]]
    assert [row.pk for row in listed(asked)] == asked


def test_rows_of_another_lab_are_not_read(lab, cast):
    with lab_scope(cast.other_lab.pk):
        foreign = a_run(cast.other_lab)
    assert listed([foreign.pk]) == []


def test_runs_of_several_labs_are_one_list(lab, cast):
    """With a published lab's beside the own: the same pages as of all of them, sorted."""
    published = Lab.objects.create(name="Reports", slug="reports", is_published=True)
    with lab_scope(lab.pk, published.pk):
        made = [a_run((lab, published)[n % 3 == 0], minutes=n // 4) for n in range(23)]
        in_order = [run.pk for run in sorted(made, key=lambda run: (run.created_at, run.pk), reverse=True)]
        pages = NewestFirst(Run.objects.all(), 5)
        assert [[row.pk for row in page] for page in pages] == [in_order[n : n + 5] for n in range(0, 23, 5)]
        assert (
            newest(Run.objects.filter(lab=published), 2, 4)
            == [key for key in in_order if Run.objects.get(pk=key).lab_id == published.pk][2:4]
        )
        assert list(NewestFirst(Run.objects.filter(tool="none"), 5).get_page(1)) == []


def test_what_people_wrote_is_escaped(lab):
    evil = "<script>alert('\"&%d{}')</script>"
    words = dict.fromkeys(("tool", "problem", "created_by"), evil[:40]) | {"facts": {"rw": evil}, "tool_version": "<i>"}
    a_run(lab, **words, **named(lab, evil))
    html = rows_of(listed(newest(Run.objects.all(), 0, 1)), lab, ticks=True)
    assert "<script" not in html
    assert "<i>" not in html
    assert html.count("&lt;script&gt;") == 6
    assert 'title="&lt;script&gt;alert(&#x27;&quot;&amp;' in html


def test_only_runs_of_the_own_lab_have_a_box(lab):
    published = Lab.objects.create(name="Reports", slug="reports", is_published=True)
    with lab_scope(lab.pk, published.pk):
        own, theirs = listed([a_run(lab).pk, a_run(published).pk])
    assert f'value="{own.pk}"' in rows_of([own], lab, ticks=True)
    assert ">published<" not in rows_of([own], lab, ticks=True)
    shown = rows_of([theirs], lab, ticks=True)
    assert "checkbox" not in shown
    assert ">published<" in shown
    assert 'class="tick"' not in rows_of([own], lab)


def test_the_list_leads_to_run_host_and_target(lab, sign_in):
    run = a_run(lab, **named(lab, "n1"))
    page = sign_in("viewer").get(reverse("runs")).content.decode()
    for name, key in (("run", run.pk), ("host", run.host_id), ("target", run.target_id)):
        assert f'href="{reverse(name, args=[key])}"' in page


def test_more_runs_and_hosts_ask_no_more_statements(lab, sign_in):
    viewer, asked = sign_in("viewer"), []
    for n in (1, 60):
        for i in range(n):
            a_run(lab, **named(lab, f"host {n} {i}"))
        with CaptureQueriesContext(connection) as statements:
            assert viewer.get(reverse("runs")).status_code == 200
        asked.append(len(statements))
    assert asked[0] == asked[1]
