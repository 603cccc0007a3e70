"""Files from people: what they change, what is refused and where, and that a hostile one does no harm."""

import io
import json
import zipfile
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from apps.inventory.exchange.files import MAX_BYTES, FileError, read
from apps.inventory.exchange.importer import bring_in, preview
from apps.inventory.exchange.outcome import Outcome, StaleOutcomeError
from apps.inventory.models import Array, Change, Disk, Host, Target
from apps.labs.isolation import lab_scope
from apps.labs.models import Lab
from tests.dashboard import world
from tests.sampling import examples, for_each

pytestmark = pytest.mark.django_db


def csv_of(lab: Lab, name: str, *lines: str) -> Outcome:
    return bring_in(lab, read("\n".join(lines).encode(), name), "engineer")


def json_of(lab: Lab, **kinds: Any) -> Outcome:
    text = json.dumps({"format": "spindle inventory", "version": 1, **kinds})
    return bring_in(lab, read(text.encode(), "inventory.json"), "engineer")


def problems(outcome: Outcome) -> list[str]:
    return [f"{entry.where}: {one.field}: {one.sentence}" for entry in outcome.entries for one in entry.problems]


@pytest.fixture
def host(lab: Lab) -> Host:
    return world.raid_host(lab, "storage1")


def test_a_persons_table_of_disks_makes_typed_rows(lab: Lab, host: Host) -> None:
    outcome = csv_of(
        lab, "disks.csv", "host,controller,serial,model,capacity_bytes,is_solid_state",
        "storage1,storage1 HBA 1,N1,WD,4 TB,no", "storage1,,N2,WD,250000000000,yes",
    )  # fmt: skip
    assert outcome.counts["created"] == 2
    first, second = Disk.objects.filter(serial__in=["N1", "N2"]).order_by("serial")
    assert (first.capacity_bytes, first.is_solid_state, first.controller.name) == (4 * 10**12, False, "storage1 HBA 1")
    assert (second.capacity_bytes, second.is_solid_state, second.controller) == (250 * 10**9, True, None)
    assert first.sources["serial"] == "typed"


def test_a_changed_cell_is_typed_and_the_others_stay_as_they_were(lab: Lab, host: Host) -> None:
    outcome = csv_of(lab, "hosts.csv", "name,kernel,os", "storage1,6.1.0-30,Debian GNU/Linux 12")
    [entry] = outcome.entries
    assert [(one.field, one.before, one.after) for one in entry.changes if one.field == "kernel"] == [
        ("kernel", "6.1.0-18-amd64", "6.1.0-30")
    ]
    host.refresh_from_db()
    assert (host.sources["kernel"], host.sources["os"], host.cpu_count) == ("typed", "discovered", 32)


def test_the_history_says_that_it_was_an_import(lab: Lab, host: Host) -> None:
    csv_of(lab, "hosts.csv", "name,kernel", "storage1,6.1.0-30")
    newest = Change.objects.of_part("host", host.pk).first()
    assert newest.who["by"] == "import"
    assert newest.after["kernel"] == "6.1.0-30"


@for_each("name, lines, said", [
        ("disks.csv", ["host,serial", "nowhere,S"], "disks.csv line 2: host: found 'nowhere', expected the key of a host in the file or in the lab"),
        ("disks.csv", ["serial,rpm", "S,fast"], "disks.csv line 2: rpm: found 'fast', expected a whole number such as 7200"),
        ("disks.csv", ["serial,capacity_bytes", "S,4 KB"], "capacity_bytes: found '4 KB', expected 250 GB or 4 MiB; KB is 1000-based"),
        ("disks.csv", ["serial,interface", "S,RS232"], "disks.csv line 2: interface: found 'RS232', expected one of: SCSI, SATA"),
        ("disks.csv", ["serial,labels", "S,{x"], "disks.csv line 2: labels: found '{x', expected JSON, such as {} or []"),
        ("disks.csv", ["serial,labels", 'S,"{""a"": NaN}"'], "labels: found '{\"a\": NaN}', expected lists and names"),
        ("disks.csv", ["serial,labels", 'S,"{""a"": ""\\u0000""}"'], "expected lists and names of plain text"),
        ("arrays.csv", ["name,level", "md9,5"], "arrays.csv line 2: host: found 'nothing', expected the host that the array is in"),
        ("arrays.csv", ["host,name,members", 'storage1,md9,"[{""disk"": ""x""}]"'], "line 2: members.0.disk: found 'x', expected the key of a disk"),
        ("arrays.csv", ["host,name,members", 'storage1,md0,"[{""member_array"": ""md10""}]"'], "which lies on md0 itself"),
        ("hosts.csv", ["name", "twin", "twin"], "hosts.csv line 3: key: found 'twin"),
    ], taken_back=True)  # fmt: skip
def test_what_cannot_be_is_refused_with_its_place_and_what_was_expected(
    lab: Lab, host: Host, name: str, lines: list[str], said: str
) -> None:
    before = Disk.objects.count(), Array.objects.count()
    if "twin" in lines:
        Host.objects.create(lab=lab, name="twin")
        lines = ["key,name", "twin,twin", "twin,twin"]
    outcome = csv_of(lab, name, *lines)
    assert any(said in one for one in problems(outcome)), problems(outcome)
    assert outcome.counts["refused"] == 1
    assert (Disk.objects.count(), Array.objects.count()) == before


def test_a_refused_row_leaves_nothing_and_the_others_are_written(lab: Lab, host: Host) -> None:
    outcome = json_of(
        lab,
        arrays=[
            {"host": "storage1", "name": "good", "members": []},
            {"host": "storage1", "name": "bad", "members": [{"disk": "no such disk"}]},
            {"host": "storage1", "name": "on the bad", "members": [{"member_array": "storage1/bad"}]},
        ],
    )
    assert outcome.counts == {"created": 1, "changed": 0, "unchanged": 0, "refused": 2}
    assert Array.objects.filter(name="good").exists()
    assert not Array.objects.filter(name__in=["bad", "on the bad"]).exists()


def test_a_preview_of_another_day_is_not_applied(lab: Lab, host: Host) -> None:
    rows = read(b"name,kernel\nstorage1,6.9", "hosts.csv")
    shown = preview(lab, rows)
    Host.objects.update(kernel="6.5")
    with pytest.raises(StaleOutcomeError) as stale:
        bring_in(lab, rows, "engineer", shown.digest)
    assert Host.objects.get().kernel == "6.5"
    assert bring_in(lab, rows, "engineer", stale.value.outcome.digest).counts["changed"] == 1


def test_only_an_agent_says_which_directory_it_offers(lab: Lab, host: Host) -> None:
    outcome = json_of(lab, targets=[{"host": "storage1", "name": "mine", "path": "/etc", "is_agents_own": True}])
    assert "the host's own agent says what it offers" in problems(outcome)[0]
    outcome = json_of(lab, targets=[{"host": "storage1", "name": "data", "path": "/etc"}])
    assert "the host's own agent offers it" in problems(outcome)[0]
    assert Target.objects.get(name="data").path == "/srv/data/spindle"


def test_another_labs_rows_are_neither_found_nor_changed(cast: Any, lab: Lab) -> None:
    with lab_scope(cast.other_lab.pk):
        theirs = Host.objects.create(lab=cast.other_lab, name="theirs", kernel="1")
    outcome = json_of(
        lab, hosts=[{"key": "theirs", "name": "theirs", "kernel": "2"}], disks=[{"serial": "S", "host": "theirs"}]
    )
    assert outcome.counts["created"] == 2
    with lab_scope(cast.other_lab.pk):
        theirs.refresh_from_db()
        assert (theirs.kernel, theirs.disks.count()) == ("1", 0)


def zipped(**files: bytes) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in files.items():
            archive.writestr(f"{name}.csv", content)
    return out.getvalue()


@pytest.mark.parametrize(
    ("name", "data", "said"),
    [
        ("x.csv", b"name\na", "expected a file name that begins with one of: hosts"),
        ("hosts.csv", b"", "hosts.csv line 1: found 'nothing', expected the names of the columns"),
        ("hosts.csv", b"name,colour\na,b", "found 'colour', expected one of: key, name"),
        ("hosts.csv", b"name,name\na,b", "expected each column once"),
        ("hosts.csv", b"name,os\na", "hosts.csv line 2: found '1 cells', expected 2"),
        ("hosts.csv", b'name\n"a', "expected comma-separated values"),
        ("hosts.csv", b"name\n\xff", "hosts.csv byte 5: found 'ff', expected UTF-8"),
        ("i.json", b"{", "expected JSON"),
        ("i.json", b"[" * 100_000, "expected JSON"),
        ("i.json", b'{"format": "other"}', 'expected "format": "spindle inventory"'),
        ("i.json", b'{"format": "spindle inventory", "version": 1, "pigs": []}', "found 'pigs'"),
        ("i.json", b'{"format": "spindle inventory", "version": 1, "hosts": {}}', "expected a list of rows"),
        ("i.json", b'{"format": "spindle inventory", "version": 1, "hosts": [1]}', "hosts[0]: found 'int'"),
        ("i.json", b'{"format": "spindle inventory", "version": 1, "hosts": [{"id": 7}]}', "found 'id'"),
        ("big.csv", b"x" * (MAX_BYTES + 1), "expected at most"),
        ("hosts.csv", b"name\n" + b"a\n" * 5001, "found '5001 rows', expected at most 5000"),
        ("bomb.zip", zipped(hosts=b"name\n" + b"a" * (MAX_BYTES + 1)), "expected at most"),
        ("broken.zip", b"PK\x03\x04nonsense", "expected a zip of CSV files"),
    ],
    ids=range(18),
)
def test_a_file_that_cannot_be_read_says_where_and_why(name: str, data: bytes, said: str) -> None:
    with pytest.raises(FileError) as refused:
        read(data, name)
    assert said in str(refused.value)


json_values = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(-(10**25), 10**25), st.floats(), st.text(max_size=8)),
    lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(st.text(max_size=5), inner, max_size=3)),
    max_leaves=6,
)
fields = st.sampled_from(
    ["key", "name", "host", "serial", "labels", "absent", "sources", "members", "sysctl", "capacity_bytes", "sits_on", "notes", "controller"]
)  # fmt: skip


@settings(max_examples=examples(25), deadline=None)
@given(
    st.dictionaries(
        st.sampled_from(["hosts", "controllers", "disks", "arrays"]),
        st.lists(st.dictionaries(fields, json_values), max_size=3),
    )
)
def test_no_file_breaks_anything(kinds: dict[str, Any]) -> None:
    lab, _ = Lab.objects.get_or_create(name="Fuzzed", slug="fuzzed")
    text = json.dumps({"format": "spindle inventory", "version": 1, **kinds})
    try:
        outcome = preview(lab, read(text.encode(), "fuzz.json"))
    except FileError:
        return
    assert all(entry.problems or entry.act != "refused" for entry in outcome.entries)
    with lab_scope(lab.pk):
        assert not Host.objects.exists()
