"""What the rules need comes from the database in a fixed number of queries, and their sums stand on the pages."""

from collections.abc import Callable
from typing import Any

from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from apps.comparison.answer import answer
from apps.comparison.queries.samples import of_run, of_runs
from apps.comparison.question import Question
from apps.inventory.models import Snapshot
from apps.labs.models import Lab
from apps.runs.models import Run, Series, Workload
from tests.comparison.caveats.machines import NOON, array, controller, disk, machine, plain
from tests.comparison.factories import MIB, run, sample, target
from tests.page_text import page_text

SignIn = Callable[[str], Client]


def snapshot(lab: Lab, storage: dict[str, Any], name: str = "a") -> Snapshot:
    return Snapshot.objects.create(lab=lab, sha256=name * 64, content=machine(storage).content, facts={})


def sata_run(lab: Lab, value: float, **more: Any) -> Run:
    one = run(lab, more.pop("at", None), facts={"tool": "iozone"}, origin="uploaded", tool="iozone", **more)
    sample(one, value, file_size=MIB, threads=10, printed=f"{value:.0f} B/s")
    return one


def test_a_runs_page_shows_the_sum_of_its_ceiling(lab: Lab, sign_in: SignIn) -> None:
    one = sata_run(lab, 1e9, snapshot=snapshot(lab, disk("sdi")))
    page = plain(sign_in("viewer").get(one.get_absolute_url()).content.decode())
    assert "Above what the topology can carry" in page
    assert "3.33 × the disk links: 1 × 300 MB/s SATA-3G links = 300 MB/s" in page_text(page)


def test_the_comparison_shows_it_too(lab: Lab, sign_in: SignIn) -> None:
    sata_run(lab, 1e9, snapshot=snapshot(lab, disk("sdi")))
    page = plain(sign_in("viewer").get("/compare/free/").content.decode())
    assert 'id="caveat-above_ceiling"' in page
    assert "1 × 300 MB/s SATA-3G links = 300 MB/s" in page_text(page)


def test_twelve_sas_drives_are_not_called_too_fast(lab: Lab, sign_in: SignIn) -> None:
    drives = [disk(f"d{n}", "SAS", "SAS-6G") for n in range(12)]
    one = sata_run(lab, 10_737_418_240 / 7.78806, snapshot=snapshot(lab, array("vd", "6", drives, "hardware")))
    assert "Above what" not in sign_in("viewer").get(one.get_absolute_url()).content.decode()


def test_a_reading_knows_what_was_measured_beside_it(lab: Lab) -> None:
    one = sata_run(lab, 1e9)
    sample(one, 3.7e6, metric="bandwidth_parent", file_size=MIB, threads=10)
    sample(one, 0.0, metric="bandwidth_min", file_size=MIB, threads=10)
    sample(one, 9e9, metric="bandwidth_parent", file_size=2 * MIB, threads=10)
    (compared,) = answer(Question())[1]
    (alone,) = [reading for reading in of_run(one) if reading.metric == "bandwidth" and reading.file_size == MIB]
    for reading in (compared, alone):
        assert (reading.beside["bandwidth_parent"], reading.beside["bandwidth_min"]) == (3.7e6, 0.0)
    assert "throughput_conflict" in {caveat.rule for caveat in answer(Question())[0].caveats}


def test_a_reading_knows_its_times_its_workloads_words_its_logs_and_its_cpu(lab: Lab) -> None:
    spec = {"tool": "iozone", "file_size": 48 * MIB}
    asked = Workload.objects.create(lab=lab, tool="iozone", sha256="f" * 64, spec=spec)
    one = run(lab, origin="uploaded", tool="iozone", workload=asked, started_at=NOON, finished_at=NOON)
    sample(one, 1e8, file_size=8 * MIB, cpu=0.97, printed="x")
    Series.objects.create(
        run=one, operation="write", metric="bandwidth", source="fio_log", count=0, packed=b"", overview=[]
    )  # fmt: skip
    (reading,) = of_run(one)
    assert reading.beside["cpu"] == 0.97
    assert reading.evidence.asked == spec
    assert reading.evidence.has_fio_logs
    assert reading.evidence.started_at == reading.evidence.finished_at == NOON
    rules = {caveat.rule: caveat for caveat in answer(Question())[0].caveats}
    assert "file size 48 MiB, the row 8 MiB" in plain(rules["header_conflict"].arithmetic[0])
    assert "cpu_bound" in rules


def test_runs_that_share_a_snapshot_share_its_machine(lab: Lab) -> None:
    shared = snapshot(lab, disk("sdi"))
    one, other = (sata_run(lab, 1e8, snapshot=shared) for _ in range(2))
    (first,), (second,) = of_runs([one.pk, other.pk]).values()
    assert first.machine is second.machine is not None


def queries(act: Callable[[], object]) -> int:
    with CaptureQueriesContext(connection) as captured:
        act()
    return len(captured)


def test_the_number_of_queries_does_not_grow_with_runs_snapshots_and_metrics(lab: Lab) -> None:
    def furnish(numbers: range) -> None:
        for number in numbers:
            storage = array("md0", "5", [disk(f"s{n}", on=controller(f"c{n}")) for n in range(3)])
            one = sata_run(lab, 1e8, at=target(lab, f"h{number}"), snapshot=snapshot(lab, storage, chr(97 + number)))
            sample(one, 1e6, metric="bandwidth_parent", file_size=MIB, threads=10)

    furnish(range(1))
    compare, alone = (
        queries(lambda: answer(Question())),
        queries(lambda: of_runs(Run.objects.values_list("id", flat=True))),
    )
    furnish(range(1, 8))
    assert queries(lambda: answer(Question())) == compare <= 4
    assert queries(lambda: of_runs(Run.objects.values_list("id", flat=True))) == alone <= 4
