"""Tool outputs are kept as they came, once, within bounds; what is not a list of outputs is refused whole."""

from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from django.db import connection

from apps.inventory.discovery import receive as module
from apps.inventory.discovery.receive import MAX_BYTES, RefusedOutputsError, receive
from apps.inventory.models import Array, Disk, Host, Target, ToolOutput
from apps.labs.isolation import lab_scope
from apps.labs.models import Lab
from tests.inventory import hosts
from tests.inventory.hosts import output
from tests.sampling import for_each

pytestmark = pytest.mark.services


@pytest.fixture
def host(lab: Lab) -> Host:
    return hosts.host(lab)


def test_outputs_are_stored_verbatim(host: Host) -> None:
    [stored] = receive(host, [output("pvs", "# dmidecode 3.4\n\tHandle…\r\n", 1, "warning\n")])
    row = ToolOutput.objects.get(pk=stored.pk)
    assert (row.tool, row.argv, row.exit_status) == ("pvs", ["pvs"], 1)
    assert (row.stdout, row.stderr, row.problem) == ("# dmidecode 3.4\n\tHandle…\r\n", "warning\n", "")


def test_the_same_output_again_is_not_stored_but_a_return_to_it_is(host: Host) -> None:
    first, second = output("mdstat", "Personalities : \n"), output("mdstat", "Personalities : [raid1]\n")
    assert [len(receive(host, [o])) for o in (first, first, second, first)] == [1, 0, 1, 1]
    assert len(receive(host, [first, second, second, first])) == 2


def test_an_unreadable_output_is_kept_with_what_was_found_and_expected(host: Host) -> None:
    receive(host, [output("meminfo", "permission denied"), output("uname", "", 127, "[Errno 2] No such file: 'uname'")])
    problems = dict(ToolOutput.objects.values_list("tool", "problem"))
    assert problems["meminfo"] == "meminfo, line 1: found 'permission denied', expected a line 'MemTotal: … kB'"
    assert "exit status 127 and [Errno 2] No such file" in problems["uname"]


def test_a_missing_mdstat_is_no_problem(host: Host) -> None:
    receive(host, [output("mdstat", "", 1, "No such file or directory")])
    assert ToolOutput.objects.get().problem == ""


def test_nul_and_lone_surrogates_are_stored_as_replacement_characters(host: Host) -> None:
    [stored] = receive(
        host, [{"tool": "lsblk", "argv": ["a\0b"], "exit_status": 0, "stdout": "x\0y\ud800z", "stderr": "\0"}]
    )
    row = ToolOutput.objects.get(pk=stored.pk)
    assert (row.stdout, row.stderr, row.argv) == ("x\ufffdy\ufffdz", "\ufffd", ["a\ufffdb"])


@for_each(
    "outputs, says",
    [
        ({"tool": "lsblk"}, "outputs: found 'dict', expected a list of at most 40"),
        ([output("lsblk", "")] * 41, "outputs: found '41 outputs', expected a list of at most 40"),
        (["lsblk"], "outputs[0]: found 'str', expected an object"),
        ([{"stdout": "x"}], "outputs[0].tool: found 'None', expected a name such as lsblk"),
        ([output("../etc", "")], "outputs[0].tool: found '../etc'"),
        ([output("lsblk", "x"), output("lsblk", 7)], "outputs[1].stdout: found 'int', expected text"),  # type: ignore[arg-type]
        ([output("lsblk", "é" * (MAX_BYTES // 2 + 1))], f"expected at most {MAX_BYTES} bytes"),
        (
            [output("lsblk", "") | {"argv": "lsblk -J"}],
            "outputs[0].argv: found 'lsblk -J', expected a list of at most 100 words",
        ),
        (
            [output("lsblk", "", 2**40)],
            "outputs[0].exit_status: found '1099511627776', expected an exit status or null",
        ),
        ([output("lsblk", "") | {"exit_status": True}], "outputs[0].exit_status: found 'True'"),
    ],
    taken_back=True,
)
def test_what_is_no_list_of_outputs_is_refused_and_nothing_stored(host: Host, outputs: Any, says: str) -> None:
    with pytest.raises(RefusedOutputsError) as error:
        receive(host, outputs)
    assert says in str(error.value)
    assert not ToolOutput.objects.exists()


def test_history_and_tool_names_are_bounded(host: Host, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "KEPT_PER_TOOL", 3)
    monkeypatch.setattr(module, "MAX_TOOLS", 4)
    for number in range(6):
        receive(host, [output("lspci", str(number)), output(f"tool{number}", "x")])
    assert list(ToolOutput.objects.filter(tool="lspci").values_list("stdout", flat=True)) == ["5", "4", "3"]
    assert ToolOutput.objects.values("tool").distinct().count() == 4


def test_a_failure_in_reading_loses_no_output(
    host: Host, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def broken(host: Host) -> None:
        raise RuntimeError("a bug of ours")

    monkeypatch.setattr(module, "rebuild", broken)
    assert len(receive(host, [output("uname", "Linux 6.1 x86_64")])) == 1
    assert "could not be rebuilt" in caplog.text


@pytest.mark.slow
@pytest.mark.django_db(transaction=True)
def test_hosts_of_a_lab_that_report_at_the_same_moment_share_one_row_of_a_disk() -> None:
    lab = Lab.objects.create(name="Race", slug="race")
    with lab_scope(lab.pk):
        machines = [hosts.host(lab, f"node{number}") for number in range(4)]

    def report(machine: Host) -> None:
        try:
            with lab_scope(lab.pk):
                receive(machine, hosts.raid50())
        finally:
            connection.close()

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(report, machines * 2))
    with lab_scope(lab.pk):
        assert Disk.objects.count() == 8
        assert Array.objects.count() == 12
        assert Target.objects.filter(is_agents_own=True).count() == 4
