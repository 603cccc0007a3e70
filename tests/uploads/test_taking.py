"""Descriptions of machines that lay among the files, taken to a host or declined."""

import json
from typing import Any

import pytest
from django.test import Client

from apps.inventory.models import Host, ToolOutput
from apps.labs.models import AuditEvent, Lab
from apps.uploads.inventory_import import take
from apps.uploads.models import FoundInventory
from tests.comparison.factories import target as make_target
from tests.uploads.conftest import Bring, only_file

pytestmark = pytest.mark.django_db
DISKS = {"blockdevices": [{"name": "sdz", "kname": "sdz", "type": "disk", "size": 480103981056, "rota": False}]}
LSBLK = b"$ lsblk -J\n" + json.dumps(DISKS, indent=1).encode() + b"\n$ exit\n"


@pytest.fixture
def offer(bring: Bring) -> Any:
    """`offer("lsblk", 2, 12)` → that tool's output in those lines, found in an upload."""

    def offered(tool: str = "lsblk", first: int = 2, last: int = 12) -> FoundInventory:
        file = only_file(bring({"machine.txt": LSBLK}))
        file.inventory.all().delete()
        made: FoundInventory = FoundInventory.objects.create(
            file=file, tool=tool, summary="one disk", content={}, line=first, last_line=last
        )
        return made

    return offered


def last_line() -> int:
    return len(LSBLK.splitlines()) - 1


def test_taking_what_discovery_reads_puts_it_into_the_inventory(lab: Lab, offer: Any) -> None:
    host = Host.objects.create(lab=lab, name="host3")
    found = offer(last=last_line())
    assert "is in the inventory of host3 now" in take(found, host)
    assert [disk.device_name for disk in host.disks.all()] == ["sdz"]
    output = ToolOutput.objects.get(host=host)
    assert json.loads(output.stdout) == DISKS
    assert (found.state, found.host) == ("taken", host)


def test_no_exit_status_is_stated_where_none_was_recorded(lab: Lab, offer: Any, sign_in: Any) -> None:
    host = Host.objects.create(lab=lab, name="host3")
    take(offer(last=last_line()), host)
    assert ToolOutput.objects.get(host=host).exit_status is None
    page = sign_in("viewer").get(f"/hosts/{host.pk}/").content.decode()
    row = page[page.index("/tool-outputs/") :]
    assert '<td class="num">–</td>' in row[: row.index("</tr>")]


def test_an_output_in_a_page_is_taken_without_its_tags(lab: Lab, bring: Bring) -> None:
    host = Host.objects.create(lab=lab, name="host3")
    lines = [
        "Personalities : [raid1]",
        "md7 : active raid1 sdy1[1] sdz1[0]",
        "      1000 blocks super 1.2 [2/2] [UU]",
        "",
    ]
    page = (
        "<html><body><p>Look:</p>\n<pre>\n"
        + "\n".join(f"<span>{line}</span>" for line in lines)
        + "</pre></body></html>\n"
    )
    (found,) = only_file(bring({"page.html": page.encode()})).inventory.all()
    assert "is in the inventory of host3 now" in take(found, host)
    assert ToolOutput.objects.get(host=host).stdout.splitlines()[:3] == lines[:3]


def test_what_discovery_does_not_read_is_kept_beside_the_host(lab: Lab, offer: Any) -> None:
    host = Host.objects.create(lab=lab, name="host3")
    assert "is kept beside host3." in take(offer("fio"), host)
    assert "cannot read this form" in take(offer("storcli"), host)
    assert "cannot read this form" in take(offer("lsblk", 1, 1), host)
    assert not ToolOutput.objects.exists()
    assert host.found_inventory.count() == 3


def test_an_old_output_never_replaces_what_the_hosts_own_agent_saw(lab: Lab, offer: Any) -> None:
    host = make_target(lab, "host3", is_agents_own=True).host
    assert "whose agent reports its own lsblk" in take(offer(last=last_line()), host)
    assert not ToolOutput.objects.exists()


def test_the_page_offers_it_and_a_person_decides(lab: Lab, offer: Any, sign_in: Any) -> None:
    engineer: Client = sign_in("engineer")
    host, found = Host.objects.create(lab=lab, name="host3"), offer(last=last_line())
    upload = found.file.upload
    assert "one disk" in engineer.get(upload.get_absolute_url()).content.decode()
    address = f"/uploads/found/{found.pk}/"
    assert "choose the host" in engineer.post(address, {"act": "take"}, follow=True).content.decode()
    assert "choose the host" in engineer.post(address, {"act": "take", "host": "9" * 30}, follow=True).content.decode()
    assert sign_in("viewer").post(address, {"act": "decline"}).status_code == 403
    found.refresh_from_db()
    assert found.state == "offered"
    engineer.post(address, {"act": "take", "host": host.pk})
    found.refresh_from_db()
    assert found.state == "taken"
    assert AuditEvent.objects.get(act="inventory taken").subject == "host3"
    assert f"/hosts/{host.pk}/" in engineer.get(upload.get_absolute_url()).content.decode()


def test_declining_takes_it_nowhere(lab: Lab, offer: Any, sign_in: Any) -> None:
    found = offer(last=last_line())
    sign_in("engineer").post(f"/uploads/found/{found.pk}/", {"act": "decline"})
    found.refresh_from_db()
    assert (found.state, found.host) == ("declined", None)
    assert not ToolOutput.objects.exists()
