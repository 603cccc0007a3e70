"""What pages and the command call the state of an upload and of its files, in the words of who reads them."""

from typing import Any

import pytest
from django.test import Client

from apps.labs.models import Lab
from apps.uploads.models import UploadedFile
from apps.uploads.review.upload_summary import neighbours
from tests.uploads.conftest import REPORT, Bring

pytestmark = pytest.mark.django_db
TABLE = b"file size MB;sata 3ware;scsi zero channel\n100;177456,5;166733,9\n200;17456,5;16733,9\n"


@pytest.fixture
def viewer(lab: Lab, sign_in: Any) -> Client:
    return sign_in("viewer")  # type: ignore[no-any-return]


def _page(client: Client, address: str) -> str:
    return client.get(address).content.decode()


def test_what_was_discarded_says_so_also_to_whoever_keeps_it_afterwards(engineer: Client, bring: Bring) -> None:
    upload = bring({"fio.json": REPORT})
    engineer.post(f"/uploads/{upload.pk}/discard/")
    answer = engineer.post(f"/uploads/{upload.pk}/keep/", {"act": "all"}, follow=True)
    assert "this upload was discarded" in answer.content.decode()
    assert '<span class="chip">discarded</span>' in answer.content.decode()


def test_a_table_that_waits_for_its_columns_is_called_alike_everywhere(engineer: Client, bring: Bring) -> None:
    upload = bring({"means.csv": TABLE})
    for address in ("/uploads/", upload.get_absolute_url()):
        shown = _page(engineer, address)
        assert '<span class="chip chip-pending">needs a mapping</span>' in shown
        assert "not readable" not in shown.partition("<tbody>")[2]


def test_who_may_only_look_is_not_told_to_map(viewer: Client, bring: Bring) -> None:
    shown = _page(viewer, bring({"means.csv": TABLE}).get_absolute_url())
    assert "somebody who may edit" in shown
    assert "Map the columns" not in shown


def test_an_empty_file_is_called_empty_and_counted_files_are_called_files(engineer: Client, bring: Bring) -> None:
    upload = bring({"fio.json": REPORT, "nothing.log": b""})
    assert '<span class="chip">empty</span>' in _page(engineer, upload.get_absolute_url())
    assert "1 file to keep" in _page(engineer, "/uploads/")


def test_files_stand_in_the_order_of_their_names_and_lead_to_each_other_so(engineer: Client, bring: Bring) -> None:
    upload = bring({"h2/b.txt": b"x\n", "h1/a.txt": b"y\n", "h2/a.txt": b"z\n"})
    shown = _page(engineer, upload.get_absolute_url())
    names = sorted(["h1/a.txt", "h2/a.txt", "h2/b.txt"], key=lambda name: shown.index(f">{name}<"))
    assert names == ["h1/a.txt", "h2/a.txt", "h2/b.txt"]
    middle = UploadedFile.objects.get(upload=upload, name="h2/a.txt")
    assert [one and one.name for _, one in neighbours(middle)] == ["h1/a.txt", "h2/b.txt"]
