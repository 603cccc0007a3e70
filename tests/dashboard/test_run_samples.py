"""The samples on a run's page: everything that is kept of them, in the field's order."""

import re
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest

from apps.parsers.core.models import ParsedSample
from apps.runs.models import Run
from apps.runs.samples import save_samples

pytestmark = pytest.mark.django_db


def page_of(lab: Any, sign_in: Any, *samples: ParsedSample) -> str:
    run = Run.objects.create(lab=lab, tool="bonnie", origin="uploaded", state="finished")
    save_samples(run, samples)
    page: str = sign_in("viewer").get(f"/runs/{run.pk}/").content.decode()
    return page.replace("\u00a0", " ")


def rows(page: str) -> list[str]:
    """The text of each row of the samples."""
    part = page.split('id="samples-title"')[1].split("</section>")[0]
    return [" ".join(re.sub("<[^>]*>", " ", row).split()) for row in re.findall("<tr>(.*?)</tr>", part, re.DOTALL)][1:]


def test_a_bonnie_is_one_table_in_the_fields_order_with_its_cpu(lab, sign_in):
    page = page_of(
        lab, sign_in,
        ParsedSample("seek", "rate", 86.1, printed="86.1 /s", cpu=0.0),
        ParsedSample("char_read", "bandwidth", 21.8e6, file_size=2**30, printed="21276 K/s", cpu=0.607),
        ParsedSample("write", "bandwidth", 18.9e6, printed="18486 K/s", cpu=1.592, line=6),
    )  # fmt: skip
    assert rows(page) == [
        "write Bandwidth 18.9 MB/s 159 % 18486 K/s , line 6 of the result –",
        "char read Bandwidth 21.8 MB/s 60.7 % 21276 K/s 1 GiB file",
        "seek Rate 86.1 /s 0 % 86.1 /s –",
    ]


def test_what_is_to_be_said_of_a_value_stands_beside_it(lab, sign_in):
    page = page_of(
        lab, sign_in,
        ParsedSample("write", "bandwidth", 1e6, printed="1", note="sum of <4> children"),
        ParsedSample("read", "bandwidth", None, missing_reason="not printed", cpu=0.5),
    )  # fmt: skip
    assert rows(page) == [
        "write Bandwidth 1.00 MB/s – 1 sum of &lt;4&gt; children",
        "read Bandwidth not printed 50.0 % –",
    ]


def test_longer_groups_have_a_table_each_and_a_disk_its_name(lab, sign_in):
    many = [ParsedSample("read", metric, 1e6, printed="1") for metric in ("bandwidth", "iops", "latency_mean")]
    page = page_of(lab, sign_in, *many, ParsedSample("disk", "disk_util", 0.5, printed="50", note="disk sda"))
    assert re.findall("<caption><strong> (.*?)</strong>", page) == ["read", "disk sda"]
    assert page.count("disk sda") == 2  # the region's name and the caption


def test_the_cpu_stands_with_its_value_unless_it_is_a_metric_of_its_own(lab, sign_in):
    names = ("bandwidth", "iops", "latency_mean")
    some = [ParsedSample("read", name, 1e6, printed="1", cpu=0.25) for name in names]
    assert page_of(lab, sign_in, *some).count("CPU 25.0 %") == 3
    assert "CPU 25.0 %" not in page_of(lab, sign_in, *some, ParsedSample("read", "cpu", 0.25, printed="25"))


def test_an_operation_is_compared_by_a_metric_that_it_has(lab, sign_in):
    page = page_of(
        lab, sign_in,
        ParsedSample("seek", "rate", 86.1, printed="86"),
        ParsedSample("disk", "disk_util", 0.5, printed="50", note="disk sda"),
    )  # fmt: skip
    queries = [
        parse_qs(urlsplit(one.replace("&amp;", "&")).query)
        for one in re.findall('href="([^"]*)">[^<]*: with all runs', page)
    ]
    asked = [(one["operation"][0], one["metric"][0]) for one in queries]
    assert asked == [("seek", "rate"), ("disk", "disk_util")]
    for operation, metric in asked:
        assert sign_in("viewer").get("/compare/", {"operation": operation, "metric": metric}).status_code == 200
