"""A study's wiki page in Italian and Russian has no English names of what was measured; pages say honestly what is translated."""

import re

import pytest

from tests.outside.product import Client, Product
from tests.outside.studies import bonnie, fio_report, make_study, new_name, upload_into, wiki_of

pytestmark = [pytest.mark.outside, pytest.mark.long]
SAME_EVERYWHERE = {"IOPS", "Jitter", "trim"}
IOZONE = """\tIozone: Performance Test of File I/O
\t        Version $Revision: 3.489 $
\tCommand line used: iozone -a -s 1g -r 1m -f /mnt/%s
\tOutput is in kBytes/sec
                                                            random  random    bkwd   record   stride
              kB  reclen    write  rewrite    read    reread    read   write    read  rewrite     read   fwrite frewrite   fread  freread
         1048576    1024  285299   511411   562886   582427   75299  496283   79965   676345    84816   401314   650136   78469    78469

iozone test complete.
"""


@pytest.fixture(scope="module")
def slugs(product: Product, owner: Client, admin: Client) -> list[str]:
    """Studies with what several tools measure, without comparisons of their own: their pages show every metric."""
    texts = {
        "f.json": fio_report(100_000_001, with_latencies=True),
        "b.csv": bonnie(new_name("b"), "8G", [90_000, 91_000, 92_000]),
        "i.txt": IOZONE % new_name("file"),
    }
    made = []
    for name, text in texts.items():
        slug = make_study(owner, new_name("words"))
        upload_into(product, admin, slug, "one", f"{slug}-{name}", text)
        made.append(slug)
    return made


def measures_of(wiki: str) -> list[tuple[str, str]]:
    """(operation, metric) of the headings of the results."""
    return re.findall(r"^=== ?=? ?([^=:\n]+): ([^=\n]+?) =+$", wiki, re.M)


@pytest.mark.parametrize("language", ["it", "ru"])
def test_no_operation_or_metric_stays_english(admin: Client, slugs: list[str], language: str) -> None:
    told = 0
    for slug in slugs:
        english, other = measures_of(wiki_of(admin, slug)), measures_of(wiki_of(admin, slug, language))
        assert len(english) == len(other) > 0, wiki_of(admin, slug)[:3000]
        for (operation, metric), (operation_there, metric_there) in zip(english, other, strict=True):
            assert metric in SAME_EVERYWHERE or metric != metric_there
            assert (
                re.match(r"[a-z]*(read|write)$", operation)
                or operation in SAME_EVERYWHERE
                or operation != operation_there
            )
            told += 1
    assert told > 20


def test_the_switch_says_what_is_translated(owner: Client) -> None:
    assert "all else is in English." in owner.get("/").text
