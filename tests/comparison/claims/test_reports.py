"""The 111 claims of the five reports, from the reports' own files: every verdict is the one worked out by hand."""

from collections import Counter

import pytest

from apps.comparison.claims.checks.doubts import Sensitivity, sensitivity
from apps.comparison.claims.checks.verdicts import JudgedClaim, judge
from apps.comparison.claims.checks.yaml_file import WrittenClaim, claims_of
from apps.studies.source import DATA
from tests.comparison.claims.published import STUDIES, readings
from tests.sampling import for_each

WRITTEN = {slug: claims_of((DATA / slug / "claims.yaml").read_text(encoding="utf-8")) for slug in STUDIES}
EVERY = [(slug, claim) for slug, claims in WRITTEN.items() for claim in claims]
COUNTED = {  # supported, partly, contradicted, not checkable
    "crs4-sata-scsi": (11, 2, 0, 4),
    "thumper-x4500": (10, 4, 5, 13),
    "infn-10ge-chain": (12, 6, 1, 7),
    "dtn-ucsc": (13, 3, 3, 1),
    "tristan-sas-sata": (10, 2, 0, 4),
}


def find(code: str) -> tuple[str, WrittenClaim]:
    return next((slug, claim) for slug, claims in WRITTEN.items() for claim in claims if claim.code == code)


def judged(code: str) -> JudgedClaim:
    slug, claim = find(code)
    return judge(claim.definition, readings(slug))


def doubted(code: str) -> Sensitivity:
    slug, claim = find(code)
    return sensitivity(claim.definition, readings(slug), judged(code).verdict)


def numbers(code: str, check: int = 0) -> list[float]:
    return [round(line.low, 2) for line in judged(code).outcomes[check].lines if line.low is not None]


@for_each("slug, claim", EVERY)
def test_the_verdict_is_the_one_worked_out_by_hand(slug: str, claim: WrittenClaim) -> None:
    assert claim.expected
    found = judge(claim.definition, readings(slug)).verdict
    if claim.reason_for_difference:
        assert found != claim.expected, "the verdicts agree: there is no difference to give a reason for"
    else:
        assert found == claim.expected


def test_there_are_111_claims_and_as_many_of_each_verdict_as_counted_by_hand() -> None:
    assert sum(len(claims) for claims in WRITTEN.values()) == 111
    for slug, counted in COUNTED.items():
        found = Counter(judge(claim.definition, readings(slug)).verdict for claim in WRITTEN[slug])
        assert tuple(found[verdict] for verdict in ("supported", "partly", "contradicted", "not checkable")) == counted


def test_what_cannot_be_checked_says_why_and_what_can_be_uses_samples() -> None:
    for slug, claims in WRITTEN.items():
        for claim in claims:
            found = judge(claim.definition, readings(slug))
            if found.verdict == "not checkable":
                assert all(len(outcome.sentence) > 9 for outcome in found.outcomes)
    codes = {
        claim.code for slug in STUDIES for claim in WRITTEN[slug] if judge(claim.definition, readings(slug)).samples
    }
    no_samples = {"T21", "T22", "T23", "T24", "T25", "N21", "N22", "N23", "D18", "D20"}  # of printed figures alone
    checkable = {
        c.code for s in STUDIES for c in WRITTEN[s] if judge(c.definition, readings(s)).verdict != "not checkable"
    }
    assert codes == checkable - no_samples


def test_c01_finds_all_21_series_faster_on_small_files() -> None:
    (outcome,) = judged("C01").outcomes
    assert (outcome.holding, outcome.made) == (21, 21)
    ratios = numbers("C01")
    assert (min(ratios), max(ratios)) == (1.19, 48.18)


def test_c03_has_the_ratios_of_the_reference_with_the_lost_cell_as_a_range() -> None:
    lines = {line.at: line for line in judged("C03").outcomes[0].lines}
    lost = lines["write · SCSI · 4\u202f000\xa0MiB"]
    assert lost.low == pytest.approx(143186 / 79000)
    assert lost.high == pytest.approx(143186 / 71000)
    assert lost.holds is True
    assert lines["read · SATA · 2\u202f000\xa0MiB"].low == pytest.approx(3.16, abs=0.01)


def test_c03_would_be_turned_by_one_doubtful_reading() -> None:
    (doubt,) = doubted("C03").doubts
    assert (doubt.sample, doubt.verdict, doubt.printed) == (103, "partly", "124120.5 Kbyte/sec")
    assert doubt.value == 1241205 * 1024


def test_c04_would_be_turned_by_two() -> None:
    assert [(doubt.sample, doubt.value / 1024) for doubt in doubted("C04").doubts] == [(98, 372856), (99, 574231)]


def test_c09_hangs_on_one_digit() -> None:
    (doubt,) = doubted("C09").doubts
    assert (doubt.sample, doubt.instead_of, doubt.value) == (37, 59500 * 1024, 29500 * 1024)
    assert numbers("C09")[0] == pytest.approx(1.90 / 1.69, abs=0.01)


@pytest.mark.parametrize("code", ["C01", "C05", "C06", "C07", "C08", "C13"])
def test_the_other_claims_of_the_scanned_tables_stand_whatever_the_doubtful_cells_are(code: str) -> None:
    found = doubted(code)
    assert not found.doubts
    assert found.tried == sum(
        len(one.alternatives) + 2 * (one.value is None) for one in readings("crs4-sata-scsi") if one.id in _meant(code)
    )


def _meant(code: str) -> set[int]:
    from apps.comparison.claims.checks.verdicts import used

    slug, claim = find(code)
    return {one.id for one in used(claim.definition, readings(slug))}


def test_the_tables_have_ten_doubtful_cells() -> None:
    assert [one.id for one in readings("crs4-sata-scsi") if one.alternatives] == [
        13,
        32,
        37,
        55,
        91,
        98,
        99,
        100,
        103,
        108,
    ]


def test_a_printed_range_stays_two_bounds() -> None:
    (line,) = judged("N01").outcomes[1].lines
    assert (round(line.low or 0, 2), round(line.high or 0, 2)) == (2.69, 3.8)


def test_text_against_table_says_what_the_unit_must_mean() -> None:
    words = [outcome.lines[0].words for code in ("C05", "C06") for outcome in judged(code).outcomes[1:]]
    fitting = [set(text.partition("it fits as ")[2].split(" and as ")) for text in words]
    assert len(fitting) == 6
    assert set.intersection(*fitting) == {"MB of 1 000 KiB"}  # the only meaning that makes all six figures fit
    assert "no meaning of the unit fits" in judged("D11").outcomes[0].lines[0].words


def test_the_disk_that_is_in_two_arrays_is_named() -> None:
    assert "sdp is in md1 of the ext3 round and in md4" in judged("T22").outcomes[0].lines[0].words


def test_bytes_over_seconds_give_each_printed_rate() -> None:
    found = judged("R15")
    assert len(found.outcomes) == 10
    assert max(abs(outcome.lines[0].low or 0) for outcome in found.outcomes) < 140  # B/s of 8.9 to 281 MB/s
