"""Logs of fio and the report of their test are found beside each other."""

import pytest
from django.test import Client

from apps.labs.isolation import lab_scope
from apps.labs.models import Lab
from apps.runs.models import Run
from apps.uploads.log_runs import Lying, beside_of, owners_of
from apps.uploads.models import UploadedRun
from tests.uploads.conftest import OTHER, REPORT, Bring

LOG = b"1000, 1273222, 0, 0\n2000, 1300000, 0, 0\n"
REPORTS = [
    Lying(1, "a/first.json", frozenset({"randread"})),
    Lying(2, "a/second.json", frozenset({"seqwrite", "both"})),
]


@pytest.mark.parametrize(
    ("log", "owner"),
    [
        ("a/randread_bw.1.log", 1),
        ("a/seqwrite_clat.2.log", 2),
        ("a/second_lat.log", 2),
        ("a/third_lat.log", None),
        ("a/bw.log", None),
    ],
)
def test_a_log_belongs_to_the_report_that_names_it(log: str, owner: int | None) -> None:
    assert owners_of([Lying(9, log)], REPORTS).get(9) == owner


def test_where_no_report_names_it_the_only_one_has_it_and_of_several_none() -> None:
    assert owners_of([Lying(9, "a/x_bw.1.log")], REPORTS[:1]) == {9: 1}
    assert owners_of([Lying(9, "a/both_bw.1.log")], [*REPORTS, Lying(3, "a/both.json")]) == {}
    assert owners_of([Lying(9, "a/x_bw.1.log")], []) == {}


def test_both_pages_lead_to_each_other(lab: Lab, bring: Bring, engineer: Client) -> None:
    files = {
        "new/out.json": REPORT,
        "new/out_bw.1.log": LOG,
        "new/out_clat.1.log": LOG.replace(b"1000", b"1001"),
        "old/out_bw.1.log": LOG.replace(b"1000", b"1002"),
    }
    with lab_scope(lab.pk):
        upload = bring(files, keep_at_once=True)
        runs = {
            row.file.name: row.run
            for row in UploadedRun.objects.filter(file__upload=upload).select_related("run", "file")
        }
    report = engineer.get(runs["new/out.json"].get_absolute_url()).content.decode()
    log = engineer.get(runs["new/out_bw.1.log"].get_absolute_url()).content.decode()
    other = engineer.get(runs["old/out_bw.1.log"].get_absolute_url()).content.decode()
    assert "Logs of this test" in report
    assert f'<a href="/runs/{runs["new/out_bw.1.log"].pk}/">out: bandwidth, job 1</a>' in report
    assert f'<a href="/runs/{runs["old/out_bw.1.log"].pk}/">' not in report
    assert f'log of <a href="/runs/{runs["new/out.json"].pk}/">' in log
    assert "log of" not in other
    assert "Logs of this test" not in log


def test_what_was_not_uploaded_or_is_too_much_has_none(lab: Lab, bring: Bring, monkeypatch: pytest.MonkeyPatch) -> None:
    with lab_scope(lab.pk):
        upload = bring({"out.json": REPORT, "other.json": OTHER, "out_bw.1.log": LOG}, keep_at_once=True)
        row = UploadedRun.objects.get(file__upload=upload, file__name="out.json")
        assert [type(one) for one in beside_of(row).logs] == [Run]
        monkeypatch.setattr("apps.uploads.log_runs.MOST", 2)
        assert beside_of(row).logs == []
    assert beside_of(None).report is None
