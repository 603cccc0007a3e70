"""What the agent saw beside a run becomes facts of the run; whatever else stands in a journal becomes none."""

import json
from typing import Any

import pytest

from apps.labs.models import Lab
from apps.runs.activity import ACTIVITY, activity_facts
from apps.runs.ingest import ingest
from apps.runs.models import Run
from tests.runs.test_ingest import STONEWALL, delivered

FIGURES = {
    "load_before": 0.04, "disk_before": 1204.2, "network_before": 88, "load_during": 1.2345,
    "other_disk_during": 34_100_000.4, "other_disk_during_max": 68e6, "network_during": 0.0, "network_during_max": 12,
}  # fmt: skip


def line(**more: Any) -> bytes:
    return json.dumps({"event": "activity", "at": 1.7e9, "seconds_before": 25.0, "own_disks": ["sda"], **more}).encode()


def test_figures_become_facts_in_bytes_per_second_and_cores() -> None:
    facts = activity_facts(b'{"event": "accepted"}\n' + line(**FIGURES) + b"\n")
    assert facts == FIGURES | {"disk_before": 1204, "load_during": 1.234, "other_disk_during": 34_100_000}
    assert set(facts) == ACTIVITY


def test_an_older_agents_journal_has_none() -> None:
    assert activity_facts(b'{"event": "accepted"}\n{"event": "ended", "reason": "\\"activity\\""}\n') == {}


@pytest.mark.parametrize("value", ["2", None, True, -1, 1e300, [1], {"a": 1}])
def test_what_is_no_sound_number_is_no_fact(value: Any) -> None:
    assert activity_facts(line(load_before=value, disk_before=7)) == {"disk_before": 7}


@pytest.mark.parametrize(
    "text", [b'{"event": "activity", "load_before": NaN}', b'["activity"]', b'{"activity', b'\xff"activity"']
)
def test_a_line_that_is_none_is_passed_over(text: bytes) -> None:
    assert activity_facts(text + b"\n" + line(load_before=1)) == {"load_before": 1}
    assert activity_facts(text) == {}


@pytest.mark.services
def test_a_run_that_is_read_in_has_them_and_no_label_hides_them(lab: Lab, settings: Any, tmp_path: Any) -> None:
    settings.ARTEFACT_DIR = tmp_path
    attempt = delivered(lab, result=STONEWALL, journal=line(load_before=0.7, other_disk_during=2e6) + b"\n")
    Run.objects.filter(pk=attempt.run_id).update(labels={"load_before": "none, honestly", "load": "0.1"})
    ingest(attempt)
    facts = Run.objects.get(pk=attempt.run_id).facts
    assert (facts["load_before"], facts["other_disk_during"], facts["load"]) == (0.7, 2_000_000, "0.1")
