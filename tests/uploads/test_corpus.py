"""Every real file of the corpus is recognised by its content, as an upload reads it: the format of its folder, and where several tools stand in
one file, each of them. The true values are held in tests/parsers.
"""

import pytest

from apps.parsers.core.source_text import SourceText
from apps.uploads.file_reader import read_file
from tests.parsers.corpus import CORPUS
from tests.sampling import for_each

# folder → the formats that its files may be recognised as
FORMATS = {
    "bonnie1": {"bonnie"}, "bonniepp": {"bonnie++"}, "dd": {"dd"}, "dmidecode": {"dmidecode"}, "findmnt": {"findmnt"},
    "fio-json": {"fio json"}, "fio-logs": {"fio log"}, "fio-terse": {"fio terse"}, "fio-text": {"fio text"},
    "hdparm": {"hdparm"}, "ioping": {"ioping", "ioping json"}, "iozone": {"iozone"},
    "iperf": {"iperf2", "iperf2 csv", "iperf3", "iperf3 json"}, "lsblk": {"lsblk"}, "lspci": {"lspci"},
    "mdadm": {"mdadm"}, "mdstat": {"mdstat"}, "netperf": {"netperf"}, "raid-arcconf": {"arcconf"},
    "raid-hp": {"ssacli"}, "raid-megacli": {"megacli"}, "raid-omreport": {"omreport"},
    "raid-storcli": {"storcli json", "storcli text"}, "raid-tw_cli": {"tw_cli"}, "smartctl-json": {"smartctl json"},
    "smartctl-text": {"smartctl text"}, "sysbench-fileio": {"sysbench fileio"},
    "vdbench": {"vdbench", "vdbench flatfile", "vdbench histogram"},
}  # fmt: skip
# what holds no figure says why, and where
EMPTY = {
    "fio-logs/pbench-perf36-fio_clat_hist.1.log": "no line of this log",  # counts of 19 digits: another memory's content
    "netperf/doc-tcp-stream-plain.txt": "the test has no figures",  # cut before its row
    "vdbench/oceanstor-aborted-summary.html": "a report without any run: Vdbench was aborted",
}
MIXED = {
    "pi-SDCard-output_benchmark_1.txt": {"hdparm", "dd", "iozone"},
    "pi-SSD_Kingston-output_benchmark_3.txt": {"hdparm", "dd", "iozone"},
    "pi-iSCSI-output_benchmark_2.txt": {"hdparm", "dd", "iozone"},
    "kaiser-iozone-in-markdown.md": {"iozone", "iperf3"},
}
FILES = sorted(str(path.relative_to(CORPUS)) for path in CORPUS.glob("*/*") if path.is_file())


@pytest.mark.skipif(bool(FILES), reason="the corpus is here, and each of its files has a test of its own")
def test_the_corpus_is_here() -> None:
    pytest.skip(f"the corpus of real files is not here ({CORPUS})")


@for_each("name", FILES)
def test_a_real_file_is_recognised(name: str) -> None:
    folder, _, file = name.partition("/")
    found = read_file(SourceText((CORPUS / name).read_bytes(), file))
    formats = {one.format for one in found.runs if one.is_chosen}
    if name in EMPTY:
        assert found.error is not None
        assert found.error.message == EMPTY[name]
        assert found.error.line
    elif folder == "mixed-logs":
        assert formats == MIXED[file]
    else:
        assert formats & FORMATS[folder] or found.format in FORMATS[folder]
        assert found.error is None
    assert not [one for one in found.runs if one.rivals], "two formats claim the same lines"


def test_the_index_lists_them_all() -> None:
    assert not FILES or len(FILES) >= 304
