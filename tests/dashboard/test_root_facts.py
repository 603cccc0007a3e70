"""What a host's page says is missing for want of root."""

import json
from typing import Any

import pytest
from django.urls import reverse

from apps.inventory.discovery.root_facts import find_missing
from apps.inventory.models import ToolOutput
from apps.labs.isolation import lab_scope
from tests.dashboard import world


def output(tool: str, status: int, stdout: str = "") -> ToolOutput:
    return ToolOutput(tool=tool, exit_status=status, stdout=stdout, sha256="0" * 64)


def machine(**probe: Any) -> ToolOutput:
    return output("machine", 0, json.dumps({"hostname": "a", "probe": probe} if probe else {"hostname": "a"}))


def test_what_needs_root_and_did_not_answer_is_missing() -> None:
    found = find_missing(
        [machine(), output("dmidecode", 1), output("smartctl", 127), output("lvs", 0, "{}"), output("uname", 1)]
    )
    assert found is not None
    assert (list(found.facts), found.has_probe) == (["dmidecode"], False)


@pytest.mark.parametrize(
    "outputs",
    [
        [output("dmidecode", 1)],
        [machine(is_there=True), output("dmidecode", 0, "SMBIOS")],
        [machine(), output("dmidecode", 127)],
        [output("machine", 0, "no json"), output("lvs", 0, "{}")],
    ],
)
def test_nothing_is_missing_where_all_answered_or_nobody_reported(outputs: list[ToolOutput]) -> None:
    assert find_missing(outputs) is None


def test_a_probe_that_is_late_says_so() -> None:
    found = find_missing([machine(is_there=True, problem="its outputs are of another boot, or older than a day")])
    assert found is not None
    assert (found.has_probe, found.facts) == (True, {})
    assert "another boot" in found.problem


@pytest.mark.django_db
def test_the_page_says_what_is_missing_and_what_to_do(lab, sign_in, settings, tmp_path) -> None:
    settings.ARTEFACT_DIR = tmp_path
    furnished = world.furnish(lab)
    with lab_scope(lab.pk):
        for row in (machine(), output("smartctl", 2)):
            row.lab, row.host = lab, furnished.host
            row.save()
    page = sign_in("engineer").get(reverse("host", args=[furnished.host.pk])).content.decode()
    assert "serial numbers, health and wear of drives" in page
    assert "install.sh --probe" in page
