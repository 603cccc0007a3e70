"""Outputs of several hosts whose lines say whose they are."""

from collections.abc import Callable

import pytest

from apps.parsers.cleanup.timestamps import without_times
from apps.parsers.core.source_text import SourceText
from apps.uploads.file_reader import read_file
from tests.sampling import for_each

TURNS = "".join(f"n{host}: line {line}\n" for line in range(6) for host in (1, 2))


def test_the_lines_of_each_host_keep_their_numbers() -> None:
    parts = dict(SourceText(b"n1: a\nn2: b\nn1: c\n\nn2: d\n").by_host())
    assert {name: part.lines for name, part in parts.items()} == {"n1": ["a", "c"], "n2": ["b", "d"]}
    assert [parts["n2"].number(index) for index in range(2)] == [2, 5]
    assert parts["n1"].data == b"a\n\nc"
    assert parts["n2"].data == b"\nb\n\n\nd"


def test_hosts_that_take_turns_amid_prose_are_read_apart() -> None:
    turns = "".join(f"n{host}: line {line}\n" for line in range(6) for host in (1, 2))
    prose = "One sentence of a README.\n" * 20
    parts = dict(SourceText(f"# pdsh -w n[1-2] ./run\n{turns}\nThen:\nn3: is down\n{prose}").by_host())
    assert sorted(parts) == ["", "n1", "n2"]
    assert parts["n2"].lines == [f"line {line}" for line in range(6)]
    assert (parts["n2"].number(0), parts[""].number(1)) == (3, 14)
    assert "n3: is down" in parts[""].lines


def test_hosts_one_after_the_other_amid_prose_are_not_split() -> None:
    text = SourceText("".join(f"n{host}: line {line}\n" for host in (1, 2) for line in range(6)) + "prose\n" * 9)
    assert text.by_host() == [("", text)]


@for_each("encoding", ["utf-8", "utf-16", "utf-32-be", "cp1251"])
@for_each("before, behind", [(90, 0), (90, 90), (0, 900)])
def test_hosts_below_much_prose_are_read_apart(encoding: str, before: int, behind: int) -> None:
    prose = "Ещё одно предложение, one of a long README.\n"
    parts = dict(SourceText(f"{prose * before}{TURNS}{prose * behind}".encode(encoding)).by_host())
    assert sorted(parts) == ["", "n1", "n2"]
    assert parts["n1"].number(0) == before + 1


def test_a_document_of_json_is_one_hosts() -> None:
    text = SourceText('{\n"a" : 1}\n' + TURNS)
    assert text.by_host() == [("", text)]


@pytest.mark.parametrize("mark", ["disks-{}  | ", "[pod/disks-{}/fio] "])
def test_containers_that_take_turns_are_read_apart(mark: str) -> None:
    lines = [f"{mark.format(at)}line {line}" for line in range(0, 12, 2) for at in (1, 2) for _ in range(2)]
    parts = SourceText("\n".join(lines)).by_host()
    assert len(parts) == 2
    assert all(part.lines == [f"line {line}" for line in range(0, 12, 2) for _ in range(2)] for _, part in parts)


def test_a_rule_before_a_column_is_no_container() -> None:
    text = SourceText("".join(f"-     |  {n}.00th=[{n}]\n" for n in range(5)))
    assert without_times(text) is None


HEADS = {
    "ad hoc": "{} | CHANGED | rc=0 >>",
    "play": "ok: [{}] => {{",
    "delegated": "changed: [{} -> bastion.example] => (item=4k) => {{",
    "dshbak": "----------------\n{}\n----------------",
    "clush": "---------------\n{} (1)\n---------------",
    "parallel-ssh": "[1] 10:11:12 [SUCCESS] {}",
}


@pytest.mark.parametrize("head", HEADS.values(), ids=HEADS)
def test_the_lines_below_a_hosts_name_are_its_own(head: str) -> None:
    text = "".join(f"{head.format(name)}\nline of {name}\n\nand more\n" for name in ("n1", "n2.example"))
    parts = dict(SourceText(f"above\n{text}[root@n9 ~]# date\nbelow\n").by_host())
    assert sorted(parts) == ["", "n1", "n2.example"]
    assert parts["n2.example"].lines[-3:] == ["line of n2.example", "", "and more"]
    assert parts[""].lines == ["above", "[root@n9 ~]# date", "below"]
    rows = text.count("\n")
    assert [parts[""].number(index) for index in range(3)] == [1, rows + 2, rows + 3]


def test_what_a_host_said_ends_with_a_plays_next_task() -> None:
    text = "TASK [fio] ****\nok: [n1] => {\n    a\n}\n\nPLAY RECAP *****\nn1   : ok=1\n"
    parts = dict(SourceText(text).by_host())
    assert parts["n1"].lines == ["ok: [n1] => {", "    a", "}", ""]
    assert parts[""].lines == ["TASK [fio] ****", "PLAY RECAP *****", "n1   : ok=1"]


def test_what_a_host_said_ends_with_its_block() -> None:
    parts = dict(SourceText("```\nn1 | CHANGED | rc=0 >>\na\n```\nAnd on my own:\n").by_host())
    assert parts["n1"].lines == ["n1 | CHANGED | rc=0 >>", "a"]
    assert parts[""].lines == ["```", "```", "And on my own:"]


@pytest.mark.parametrize("heading", ["Random read", "results", "test1"])
def test_a_heading_between_rules_is_no_host(heading: str) -> None:
    text = SourceText(f"----------------\n{heading}\n----------------\na\nb\n")
    assert text.by_host() == [("", text)]


def test_results_below_hosts_in_strings_have_their_hosts() -> None:
    dd = "1024+0 records in\\n1024+0 records out\\n1073741824 bytes (1.1 GB) copied, {} s, 134 MB/s"
    text = "".join(f'changed: [n{n}] => {{"stderr": "{dd.format(n)}"}}\n' for n in (7, 8))
    found = read_file(SourceText(text))
    assert [(one.run.host, one.run.line) for one in found.runs] == [("n7", 1), ("n8", 2)]


def test_the_places_of_bytes_are_no_hosts() -> None:
    rows = "".join(f"{place:02x}: 86 80 34 3a 05 00 90 02\n" for place in range(0, 256, 16))
    text = f"00:1f.2 SATA controller: Example Corporation 9000 (rev 02)\n{rows}"
    assert [name for name, _ in SourceText(text).by_host()] == [""]
    (one,) = read_file(SourceText(text)).inventory
    assert (one.tool, len(one.content["devices"]), one.last_line) == ("lspci", 1, 17)


@pytest.mark.parametrize(
    "dress", [lambda row: row.replace("1.1 GB", "1.1\xa0GB"), lambda row: f"| {row}"], ids=["blanks", "marks"]
)
def test_what_else_is_around_a_hosts_lines_leaves_their_numbers(dress: Callable[[str], str]) -> None:
    rows = [
        "1024+0 records in", "1024+0 records out", "1073741824 bytes (1.1 GB, 1.0 GiB) copied, 8.25 s, 130 MB/s", "done", "uptime: 1 d",
        "bye",
    ]  # fmt: skip
    text = (
        "Both at once:\n\n"
        + "".join(f"n{host}: {dress(row)}\n" for row in rows for host in (1, 2))
        + "\nAnd that was it.\n"
    )
    found = read_file(SourceText(text))
    assert [(one.run.host, one.run.line, one.run.last_line) for one in found.runs] == [("n1", 3, 7), ("n2", 4, 8)]
