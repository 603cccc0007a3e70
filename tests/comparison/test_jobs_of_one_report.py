"""Jobs of one report in a comparison: what they did together is one value, unlike jobs are unlike configurations."""

from typing import Any

import pytest

from apps.comparison.cells import ComparisonCell, Withheld
from apps.comparison.compare import compare
from apps.comparison.likeness import simple_path
from apps.comparison.queries.aggregates import facts_of_section
from apps.comparison.queries.samples import load
from apps.comparison.question import Question
from apps.labs.isolation import lab_scope
from apps.labs.models import Lab
from apps.runs.models import Run
from apps.studies.models import Configuration, Study, StudyRun
from tests.comparison.claims.conftest import make_claim
from tests.comparison.factories import MIB, run, sample
from tests.sampling import for_each

Section = dict[str, Any]


def section(name: str, group: int | None = None, **options: str) -> Section:
    return {"name": name, "options": options, **({"group": group} if group is not None else {})}


# what tells how long a job ran: 10 s each
TIMES = {"iops": {"bandwidth": 4096.0, "io_bytes": 40960.0}, "bandwidth": {"io_bytes": 10.0}}


def reported(
    lab: Lab, jobs: list[tuple[Section, float]], metric: str = "iops", times: int = 3, **fields: Any
) -> list[Run]:
    """Runs of one report each, whose jobs have these values."""
    made = []
    for repetition in range(times):
        sections = {str(number): one for number, (one, _) in enumerate(jobs)}
        one = run(lab, origin="uploaded", sections=sections, facts={"raid_level": fields.get("level", "0")})
        for number, (_, value) in enumerate(jobs):
            own = value * (1 + repetition / 1000)
            sample(one, own, "read", metric, section=number, **fields.get("point", {}))
            for beside, factor in TIMES.get(metric, {}).items():
                sample(one, own * factor, "read", beside, section=number, **fields.get("point", {}))
        made.append(one)
    return made


def cells(metric: str = "iops", series: str = "raid_level") -> list[ComparisonCell]:
    question = Question(operation="read", metric=metric, x="file_size", series=(series,))
    return list(compare(load(question), question).cells)


UNLIKE_JOBS = {
    "names": [section("hdd", 0), section("ssd", 1)],
    "files": [section("job", 0, filename="/data/hdd.img"), section("job", 1, filename="/data/ssd.img")],
    "folders": [section("job", 0, directory="/hdd"), section("job", 1, directory="/ssd")],
    "direct": [section("a", 0, stonewall="1", direct="0"), section("a", 1, stonewall="1", direct="1")],
    "no options": [{"name": "sequential_read", "group": 1}, {"name": "random_read_test", "group": 3}],
}  # fmt: skip


@pytest.mark.django_db
@pytest.mark.parametrize("jobs", UNLIKE_JOBS.values(), ids=UNLIKE_JOBS)
def test_unlike_jobs_one_after_another_are_unlike_configurations(lab: Lab, jobs: list[Section]) -> None:
    with lab_scope(lab.pk):
        reported(lab, [(jobs[0], 900.0), (jobs[1], 180_000.0)], level="0")
        reported(lab, [(jobs[1], 180_000.0)], level="5")
        mixture, one = cells()
    assert (mixture.unlike, mixture.ci_low, mixture.withheld) == (2, None, Withheld.UNLIKE)
    assert sorted(round(member.mean) for member in mixture.members) == [901, 180_180]
    assert (one.ratio, one.verdict, one.withheld) == (None, None, Withheld.UNLIKE_BASELINE)


@pytest.mark.django_db
@pytest.mark.parametrize(
    "jobs",
    [
        [section("job1", 0, rw="read"), section("job2", 1, rw="read")],
        [section("read", 0, rw="read", stonewall="1"), section("read", 1, rw="read", stonewall="1")],
        [section("run1", 0, filename="/data/run1.img"), section("run2", 1, filename="/data/run2.img")],
    ],
)  # fmt: skip
def test_a_section_that_is_repeated_is_a_repetition(lab: Lab, jobs: list[Section]) -> None:
    with lab_scope(lab.pk):
        reported(lab, [(jobs[0], 900.0), (jobs[1], 920.0)])
        [cell] = cells()
    assert (cell.unlike, cell.n, cell.withheld) == (1, 3, None)
    assert cell.ci_low is not None


@pytest.mark.django_db
@pytest.mark.parametrize("metric", ["bandwidth", "iops", "io_bytes"])
def test_what_adds_up_is_a_sum_of_jobs_at_the_same_time(lab: Lab, metric: str) -> None:
    jobs = [section(name, rw="read") for name in "abcd"]
    with lab_scope(lab.pk):
        reported(lab, [(one, 1e9) for one in jobs], metric, level="0", point={"threads": 1})
        reported(lab, [(section("whole", rw="read"), 3.6e9)], metric, level="5", point={"threads": 4})
        together, whole = cells(metric)
    assert (round(together.mean or 0, -8), together.unlike) == (4e9, 1)
    assert whole.verdict == "worse"
    assert whole.ratio == pytest.approx(0.9, rel=0.001)


@pytest.mark.django_db
@for_each("metric", ["cpu", "clat_mean", "bandwidth_min", "iops_max", "bandwidth_mean"], taken_back=True)
def test_what_does_not_add_up_has_no_verdict_against_a_whole(lab: Lab, metric: str) -> None:
    """Means of intervals add up where the jobs are known to have run for the same time, which is not so here."""
    jobs = [section("clones", rw="read")] * 4
    with lab_scope(lab.pk):
        reported(lab, [(one, 1000.0) for one in jobs], metric, level="0", point={"threads": 4})
        reported(lab, [(section("clones", rw="read"), 3600.0)], metric, level="5", point={"threads": 4})
        parts, whole = cells(metric)
    assert (parts.mean is not None, parts.unlike) == (True, 1)
    assert (whole.verdict, whole.withheld) == (None, Withheld.CONFOUNDED)
    assert whole.advice == "Not tested: jobs at the same time differs too"


@pytest.mark.django_db
def test_means_of_intervals_add_up_where_the_jobs_ran_for_the_same_time(lab: Lab) -> None:
    jobs = [section("clones", rw="read")] * 2
    with lab_scope(lab.pk):
        for one in reported(lab, [(jobs[0], 1000.0), (jobs[1], 1100.0)], "iops_mean"):
            for number in (0, 1):
                sample(one, 1e6, "read", "bandwidth", section=number)
                sample(one, 1e7, "read", "io_bytes", section=number)
        [cell] = cells("iops_mean")
    assert round(cell.mean or 0) == 2102


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("seconds", "delays", "expected"),
    [((10, 10), ("", ""), 3000), ((10, 40), ("", ""), 2250), ((10, 10), ("", "5"), None), ((10, None), ("", ""), None)],
    ids=["same time", "common time", "begun later", "time not known"],
)
def test_rates_are_added_up_over_the_common_time_or_not_at_all(
    lab: Lab, seconds: tuple[int | None, ...], delays: tuple[str, ...], expected: int | None
) -> None:
    """1,000 a second for 10 s and 2,000 a second for 40 s are 90,000 in 40 s."""
    jobs = [section("clones", rw="read", **({"startdelay": delay} if delay else {})) for delay in delays]
    with lab_scope(lab.pk):
        one = run(lab, origin="uploaded", sections={str(number): job for number, job in enumerate(jobs)})
        for number, (rate, time) in enumerate(zip((1000.0, 2000.0), seconds, strict=True)):
            sample(one, rate, "read", "iops", section=number)
            if time is not None:
                sample(one, rate * 4096, "read", "bandwidth", section=number)
                sample(one, rate * 4096 * time, "read", "io_bytes", section=number)
        loaded = [reading.value for reading in load(Question(operation="read", metric="iops"))]
    assert loaded == ([expected] if expected else [1000.0, 2000.0])


@pytest.mark.django_db
def test_unlike_jobs_at_the_same_time_are_no_like_whole(lab: Lab) -> None:
    jobs = [section("hdd", filename="/data/hdd.img"), section("ssd", filename="/data/ssd.img")]
    with lab_scope(lab.pk):
        reported(lab, [(jobs[0], 900.0), (jobs[1], 180_000.0)], level="0")
        reported(lab, [(jobs[1], 180_000.0)], level="5")
        _, one = cells()
    assert (one.verdict, one.withheld) == (None, Withheld.CONFOUNDED)


@for_each(
    "one, other, are_alike",
    [
        ("/data/hdd.img", "/data/ssd.img", False),
        ("/data/test1.img", "/data/test2.img", True),
        ("/data/bench.0.0", "/data/bench.1.0", True),
        ("/data/seq.0.0", "/data/rand.0.0", True),  # fio's names from those of its jobs
        ("/data/tmp.x3Fa9Q", "/data/tmp.Zk81bb", True),
        ("/data/tmpab12cd34", "/data/tmpzz99yy00", True),
        ("/data/0a1b2c3d4e", "/data/99887766aa", True),
        ("/data/raid5.img", "/data/raid6.img", False),
        ("/data/ext3.img", "/data/ext4.img", False),
        ("/mnt/disk1/file", "/mnt/disk2/file", False),
        ("/mnt/a/file", "/mnt/b/file", False),
        ("/dev/sda", "/dev/sdb", False),
        ("/dev/nvme0n1", "/dev/nvme1n1", False),
        ("hdd.img", "ssd.img", False),
    ],
)
def test_files_are_alike_where_only_what_is_generated_differs(one: str, other: str, are_alike: bool) -> None:
    assert (simple_path(one) == simple_path(other)) is are_alike


def test_a_section_that_is_not_known_has_no_facts() -> None:
    assert facts_of_section({"run__sections": {"0": {"name": "a"}}, "section": 3}) == {}


@pytest.mark.django_db
def test_unlike_jobs_stand_beside_a_claim_as_confounders(lab: Lab) -> None:
    turns = {"0": section("hdd", 0), "1": section("ssd", 1)}
    with lab_scope(lab.pk):
        study = Study.objects.create(lab=lab, slug="paper", title="Paper")
        for place, sections in enumerate((turns, {"0": section("ssd")})):
            configuration = Configuration.objects.create(
                study=study, name=f"c{place}", label=f"c{place}", position=place
            )
            one = run(lab, origin="uploaded", sections=sections)
            StudyRun.objects.create(run=one, configuration=configuration)
            for number in map(int, sections):
                sample(one, 2e8 - place * 1e8, section=number, file_size=MIB)
        claim = make_claim(study)
    assert {one["fact"]: one["text"] for one in claim.confounders}["fio_job"] == "job hdd and ssd"
