"""What an uploaded report says of its jobs, in the words in which an agent's own runs say it."""

import pytest

from apps.parsers.fio.workload import read_job_facts


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ({"rw": "write"}, ("write", 0, "none")),
        ({"bs": "4k"}, ("read", 0, "none")),
        ({"rw": "randread:8", "direct": "1"}, ("randread", 1, "direct")),
        ({"rw": "write", "buffered": "0"}, ("write", 1, "direct")),
        ({"rw": "write", "direct": "1", "sync": "0"}, ("write", 1, "direct")),
        ({"rw": "write", "direct": "1", "fsync": "4"}, ("write", 1, "fsync")),
        ({"rw": "write", "fdatasync": "1"}, ("write", 0, "fdatasync")),
        ({"rw": "write", "sync": "dsync"}, ("write", 0, "dsync")),
        ({"rw": "write", "sync": "1"}, ("write", 0, "sync")),
        ({"rw": "write", "end_fsync": "1"}, ("write", 0, "fsync")),
        ({"rw": "write", "fsync_on_close": "1"}, ("write", 0, "fsync")),
        ({"rw": "write", "end_fsync": "0"}, ("write", 0, "none")),
        ({"rw": "$RW", "direct": "$D", "sync": "$S"}, (None, None, None)),
    ],
)
def test_what_is_not_said_has_fios_default(
    options: dict[str, str], expected: tuple[str | None, int | None, str | None]
) -> None:
    facts = read_job_facts(options)
    assert tuple(facts.get(name) for name in ("rw", "direct", "sync")) == expected
    assert "ioengine" not in facts, "its default is the system's"
    assert read_job_facts({**options, "ioengine": "libaio"})["ioengine"] == "libaio"
