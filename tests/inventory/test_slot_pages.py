"""The slot map's pages: the Thumper entered by forms, lit arrays, conflicts, layouts, placing, and a thousand slots."""

import time

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from apps.inventory.models import Array, ArrayMember, Controller, Disk, Enclosure, Filesystem, Host
from apps.inventory.slots import layout
from apps.inventory.slots.slot_map import slot_map
from apps.labs.isolation import lab_scope
from apps.labs.models import Lab
from tests.inventory import thumper
from tests.sampling import for_each

pytestmark = pytest.mark.django_db


@pytest.fixture
def x4500(lab, sign_in):
    return thumper.enter(sign_in("engineer"), lab)


def grid(host):
    """Controller → device name of disk 0 to 7, from the map."""
    [one] = slot_map(host).enclosures
    found = {number: ["-"] * 8 for number in range(6)}
    for cell in one.grid.cells:
        if cell.disks:
            found[cell.slot.controller][cell.slot.number] = cell.disks[0].name
    return found


def test_the_thumpers_grid_comes_out_exactly(x4500):
    assert grid(x4500) == thumper.GRID
    [one] = slot_map(x4500).enclosures
    controllers = [row.cells[0].slot.controller for row in one.grid.rows]
    assert controllers == [0, 0, 1, 1, 4, 4, 5, 5, 2, 2, 3, 3]
    assert [len(row.cells) for row in one.grid.rows] == [4] * 12
    assert [str(cell.slot) for cell in one.grid.cells if cell.is_boot] == ["c3d4", "c3d0"]
    assert (one.grid.occupied, len(one.grid.cells)) == (22, 48)


def test_seven_places_and_six_names_are_printed_and_all_else_is_inferred(x4500, sign_in):
    here = slot_map(x4500).disks
    places = {str(disk.slot) for disk in here if not disk.is_place_inferred}
    names = {disk.name for disk in here if not disk.is_name_inferred}
    assert places == {"c1d0", "c1d1", "c1d4", "c1d5", "c2d0", "c3d0", "c5d6"}
    assert names == {"sda", "sdb", "sdc", "sdd", "sde", "sdi"}
    page = sign_in("viewer").get(reverse("host-slots", args=[x4500.pk])).content.decode()
    assert page.count("is-inferred") == 15 + 1  # and the legend
    assert page.count("name inferred") == 1


def test_the_rule_is_shown_with_entries_and_block_numbers(x4500):
    naming = slot_map(x4500).enclosures[0].naming
    assert naming.as_numbers[:4] == [8, 9, 12, 13]
    assert naming.as_text[:4] == [12, 13, 16, 17]
    lines = {one.disk.name: one for one in naming.lines}
    assert (lines["sdi"].entry, lines["sdp"].block, lines["sdq"].block) == (24, (8, 240), (65, 0))
    assert [str(slot) for slot in lines["sdm"].possible] == ["c3d4", "c4d6"]
    assert lines["sda"].possible is None
    assert naming.disagreements == []


def test_an_array_says_how_many_controllers_it_spans(x4500, sign_in):
    md4 = Array.objects.get(host=x4500, name="md4", round="ext3")
    page = sign_in("viewer").get(reverse("host-slots", args=[x4500.pk]), {"array": md4.pk, "round": "ext3"})
    text = page.content.decode()
    assert (
        "md4 (RAID 6): 8 disks on 5 controllers (1, 2, 3, 4, 5), at most 2 on one. It survives the loss of any one"
        in text
    )
    assert text.count("is-lit") == 8
    assert "Place disks" not in text


def test_the_certain_bound_of_md1_is_three_controllers(x4500):
    spans = {one.row.name: one.span for one in slot_map(x4500, round_="ext3").arrays}
    assert spans["md1"].by_place == (("4", 2), ("5", 2))
    assert spans["md1"].at_most == 3
    assert spans["md1"].dies == ("4", "5")
    assert dict(spans["md2"].by_place) == {"1": 1, "2": 1, "3": 1, "5": 1}
    assert (spans["md5"].disks, spans["md5"].any_disks) == (8, 1)


def test_both_rounds_are_kept_apart(x4500):
    now, before = slot_map(x4500), slot_map(x4500, round_="ext3")
    assert (now.round, now.rounds) == ("xfs", ["ext3", "xfs"])
    assert {one.row.name: one.row.level for one in now.arrays}["md1"] == "0"
    assert {one.row.name: one.row.level for one in before.arrays}["md1"] == "5"
    assert now.contradictions == before.contradictions == []


def test_the_conflict_of_the_text_is_seen_as_a_note_and_a_real_one_as_a_contradiction(x4500, sign_in):
    address = reverse("host-slots", args=[x4500.pk])
    assert "text has sdp (already in md1), command has sdo" in sign_in("viewer").get(address).content.decode()
    md4 = Array.objects.get(host=x4500, name="md4", round="ext3")
    place = md4.members.get(disk__device_name="sdo")
    place.disk = Disk.objects.get(host=x4500, device_name="sdp")
    place.save()
    assert slot_map(x4500, round_="ext3").contradictions == ["sdp is a member of md1 and of md4."]
    assert "sdp is a member of md1 and of md4." in sign_in("viewer").get(address, {"round": "ext3"}).content.decode()


@pytest.mark.slow
@for_each("query", ["?colour=state", "?colour=model", "?colour=x&array=999999999999999999999&round=nope", "?array=-1"])
def test_any_address_of_the_map_answers(x4500, sign_in, query):
    assert sign_in("viewer").get(reverse("host-slots", args=[x4500.pk]) + query).status_code == 200


def test_groups_have_a_letter_a_pattern_and_a_name(x4500):
    by_array = slot_map(x4500, "array").legend
    assert [(shade.name, shade.letter, shade.tone, shade.count) for shade in by_array] == [
        ("md1", "A", 1, 4), ("md2", "B", 2, 4), ("md3", "C", 3, 4), ("md4", "D", 4, 8), ("free", "–", 0, 2),
    ]  # fmt: skip
    Filesystem.objects.create(
        lab=x4500.lab, host=x4500, disk=Disk.objects.get(device_name="sdi"), type="ext2", mount_point="/"
    )
    assert {shade.name: shade.count for shade in slot_map(x4500, "state").legend} == {
        "in an array": 20,
        "free": 1,
        "system": 1,
    }


def test_a_second_time_the_listing_changes_nothing(x4500, sign_in):
    row = Enclosure.objects.get(host=x4500)
    before = list(Disk.objects.filter(host=x4500).order_by("pk").values())
    told = {
        "listing": thumper.LISTING + thumper.NAMES,
        "inferred": thumper.INFERRED,
        "makes_new": "on",
        "gives_names": "on",
    }
    client = sign_in("engineer")
    found = client.post(reverse("enclosure-place", args=[row.pk]), told | {"act": "preview"}).context["found"]
    assert {one.act for one in found.placements} == {"same"}
    answer = client.post(
        reverse("enclosure-place", args=[row.pk]), told | {"act": "apply", "fingerprint": found.fingerprint}
    )
    assert answer.status_code == 302
    assert list(Disk.objects.filter(host=x4500).order_by("pk").values()) == before


def test_without_a_rule_no_name_follows_from_a_place(box, sign_in):
    told = {"listing": "d1\nd2 sdq", "makes_new": "on", "gives_names": "on", "act": "preview"}
    found = sign_in("engineer").post(reverse("enclosure-place", args=[box.pk]), told).context["found"]
    assert [(one.device_name, one.act) for one in found.placements] == [("", "new"), ("sdq", "new")]


@pytest.fixture
def box(lab):
    host = Host.objects.create(lab=lab, name="vault")
    rows = layout.as_json(layout.grid(2, 4))
    return Enclosure.objects.create(lab=lab, host=host, name="front", layout=rows)


def a_disk(box, name="sda", **fields):
    return Disk.objects.create(
        lab=box.lab, host=box.host, device_name=name, sources={"device_name": "discovered"}, **fields
    )


def test_what_was_known_is_replaced_only_where_it_is_ticked(box, sign_in):
    known = a_disk(box, "sdx", enclosure="front", slot_number=3)
    told = {"listing": "d3 sda", "makes_new": "on"}
    client, address = sign_in("engineer"), reverse("enclosure-place", args=[box.pk])
    preview = client.post(address, told | {"act": "preview"})
    assert 'name="replace" value="d3"' in preview.content.decode()
    told |= {"act": "apply", "fingerprint": preview.context["found"].fingerprint}
    client.post(address, told)
    known.refresh_from_db()
    assert known.device_name == "sdx"
    preview = client.post(address, told | {"act": "preview"})
    client.post(address, told | {"replace": "d3", "fingerprint": preview.context["found"].fingerprint})
    known.refresh_from_db()
    assert (known.device_name, known.sources["device_name"]) == ("sda", "typed")


def test_a_preview_that_is_out_of_date_writes_nothing(box, sign_in):
    a_disk(box)
    told = {"listing": "d3 sda", "act": "apply", "fingerprint": "0" * 64}
    answer = sign_in("engineer").post(reverse("enclosure-place", args=[box.pk]), told)
    assert answer.status_code == 409
    assert "has changed since this preview" in answer.content.decode()
    assert "d3 sda" in answer.content.decode()
    assert Disk.objects.get().slot_number is None


@for_each(
    "told, said",
    [
        ({"listing": "/proc/scsi/mvSata/12:1 5 0 0"}, "Line 1: found “12”, expected entry number 8 × 1 + 5 = 13."),
        ({"listing": "", "inferred": ""}, "Found no slot, expected a listing or slots."),
        ({"inferred": "c1x"}, "found “c1x”, expected a slot such as c1d4 or d7"),
    ],
    taken_back=True,
)
def test_a_bad_listing_is_refused_and_stays_in_its_box(box, sign_in, told, said):
    answer = sign_in("engineer").post(reverse("enclosure-place", args=[box.pk]), told | {"act": "preview"})
    text = answer.content.decode()
    assert answer.status_code == 422
    assert said.lower() in text.lower()
    assert told.get("listing", "") in text


def test_a_disk_is_put_in_a_slot_and_taken_out(box, sign_in):
    one, other, client = a_disk(box), a_disk(box, "sdb"), sign_in("engineer")
    put = reverse("enclosure-put", args=[box.pk])
    assert client.post(put, {"slot": "d5", "disk": one.pk}).status_code == 302
    one.refresh_from_db()
    assert (one.enclosure, one.slot_controller, one.slot_number, one.sources["slot_number"]) == (
        "front",
        None,
        5,
        "typed",
    )
    taken = client.post(put, {"slot": "d5", "disk": other.pk})
    assert (taken.status_code, "d5 holds sda. Take it out first." in taken.content.decode()) == (409, True)
    assert "front has no slot d9" in client.post(put, {"slot": "d9", "disk": other.pk}).content.decode()
    client.post(reverse("enclosure-take-out", args=[box.pk]), {"disk": one.pk})
    one.refresh_from_db()
    assert (one.enclosure, one.slot_number, "slot_number" in one.sources) == ("", None, False)


def test_a_viewer_may_look_and_not_touch(box, sign_in):
    client = sign_in("viewer")
    assert client.get(reverse("host-slots", args=[box.host_id])).status_code == 200
    assert client.get(reverse("enclosure-layout", args=[box.pk])).status_code == 403
    assert client.post(reverse("enclosure-put", args=[box.pk]), {}).status_code == 403


def test_a_published_labs_enclosure_cannot_be_changed(cast, sign_in):
    with lab_scope(cast.other_lab.pk):
        host = Host.objects.create(lab=cast.other_lab, name="theirs")
        row = Enclosure.objects.create(lab=cast.other_lab, host=host, name="box")
    Lab.objects.filter(pk=cast.other_lab.pk).update(is_published=True)
    client = sign_in("owner")
    assert client.get(reverse("host-slots", args=[host.pk])).status_code == 200
    for name in ("enclosure-layout", "enclosure-place"):
        assert client.get(reverse(name, args=[row.pk])).status_code == 404
        assert client.post(reverse(name, args=[row.pk]), {}).status_code == 404
    assert client.get(reverse("host-enclosure-new", args=[host.pk])).status_code == 404


def test_a_preset_fills_the_box_and_saves_nothing_until_asked(lab, sign_in):
    host = Host.objects.create(lab=lab, name="vault")
    address, client = reverse("host-enclosure-new", args=[host.pk]), sign_in("engineer")
    told = {"name": "jbod", "preset": "grid", "rows": 2, "columns": 3, "order": "down", "first": 1}
    filled = client.post(address, told | {"act": "fill"})
    assert "d1 d3 d5\nd2 d4 d6" in filled.content.decode()
    assert not Enclosure.objects.exists()
    assert client.post(address, told | {"act": "save"}).status_code == 302
    assert Enclosure.objects.get().layout[0] == {"label": "", "slots": ["d1", "d3", "d5"]}
    again = client.post(address, told | {"act": "save"})
    assert (again.status_code, "has an enclosure “jbod” already" in again.content.decode()) == (422, True)


def test_controllers_stand_in_the_order_that_is_given(lab, sign_in):
    host = Host.objects.create(lab=lab, name="vault")
    told = {"name": "box", "preset": "controllers", "controllers": "0, 1, 4, 5, 2, 3", "disks_per_controller": 8, "columns": 4,
            "descending": "on", "act": "save"}  # fmt: skip
    sign_in("engineer").post(reverse("host-enclosure-new", args=[host.pk]), told)
    assert layout.rows_of(Enclosure.objects.get().layout) == layout.PRESETS["x4500"][1]


def test_two_people_do_not_overwrite_each_other(box, sign_in):
    address, client = reverse("enclosure-layout", args=[box.pk]), sign_in("engineer")
    version = client.get(address).context["form"].initial["version"]
    told = {"name": "front", "layout": "d0 d1", "version": version, "act": "save"}
    assert client.post(address, told).status_code == 302
    second = client.post(address, told | {"layout": "d7"})
    assert second.status_code == 422
    assert "Somebody has changed this enclosure" in second.content.decode()
    box.refresh_from_db()
    assert box.layout == [{"label": "", "slots": ["d0", "d1"]}]


def test_disks_keep_to_an_enclosure_that_gets_another_name(box, sign_in):
    disk = a_disk(box, enclosure="front", slot_number=1)
    sign_in("engineer").post(
        reverse("enclosure-layout", args=[box.pk]), {"name": "back", "layout": "d0 d1", "act": "save"}
    )
    disk.refresh_from_db()
    assert disk.enclosure == "back"


@for_each("broken", ["text", {"a": 1}, [{"slots": "x"}], [None]], taken_back=True)
def test_a_layout_that_cannot_be_read_is_said_and_the_slots_still_shown(box, sign_in, broken):
    a_disk(box, enclosure="front", slot_number=2)
    Enclosure.objects.filter(pk=box.pk).update(layout=broken, boot_slots=broken)
    text = sign_in("engineer").get(reverse("host-slots", args=[box.host_id])).content.decode()
    assert "Its layout cannot be read" in text
    assert "sda" in text
    assert sign_in("engineer").get(reverse("enclosure-layout", args=[box.pk])).status_code == 200


def test_two_disks_in_one_slot_and_slots_that_are_not_there_are_said(box):
    for name, number in (("sda", 1), ("sdb", 1), ("sdc", 99)):
        a_disk(box, name, enclosure="front", slot_number=number)
    assert slot_map(box.host).contradictions == [
        "sda and sdb are both said to be in slot d1 of front.", "front has no such slot for sdc (d99).",
    ]  # fmt: skip


def test_discovered_slots_are_shown_without_any_layout(lab, sign_in):
    host = Host.objects.create(lab=lab, name="vault")
    for number in range(1, 5):
        Disk.objects.create(lab=lab, host=host, device_name=f"sd{number}", enclosure="252", slot_number=number)
    Disk.objects.create(lab=lab, host=host, device_name="nvme0n1")
    found = slot_map(host)
    assert [str(cell.slot) for cell in found.enclosures[0].grid.cells] == ["d1", "d2", "d3", "d4"]
    assert [disk.name for disk in found.unplaced] == ["nvme0n1"]
    assert "Disks in no slot" in sign_in("viewer").get(reverse("host-slots", args=[host.pk])).content.decode()


def test_an_empty_host_says_what_to_do(lab, sign_in):
    host = Host.objects.create(lab=lab, name="new")
    address = reverse("host-slots", args=[host.pk])
    assert "Add an enclosure" in sign_in("engineer").get(address).content.decode()
    assert "no tool reported slot numbers" in sign_in("viewer").get(address).content.decode()


def test_names_from_outside_are_never_markup(box, sign_in):
    Enclosure.objects.filter(pk=box.pk).update(name="<b>x", model="<i>", layout=[{"label": "<u>", "slots": ["d1"]}])
    a_disk(box, "<script>", enclosure="<b>x", slot_number=1, model="<img>")
    Array.objects.create(lab=box.lab, host=box.host, name='"><svg>', notes="<h1>")
    text = sign_in("engineer").get(reverse("host-slots", args=[box.host_id])).content.decode()
    for tag in ("<b>x", "<i>", "<u>", "<script>\n", "<img>", "<svg>", "<h1>\n<", "><svg"):
        assert tag not in text.replace("<h1>Slots", "")


def big_host(lab, slots, arrays):
    host = Host.objects.create(lab=lab, name=f"big{slots}")
    card = Controller.objects.create(lab=lab, host=host, name="HBA")
    rows = layout.as_json(layout.grid(slots // 20, 20))
    Enclosure.objects.create(lab=lab, host=host, name="jbod", layout=rows)
    disks = Disk.objects.bulk_create(
        Disk(lab=lab, host=host, controller=card, device_name=f"sd{n}", enclosure="jbod", slot_number=n, model="ST4000")
        for n in range(slots)
    )
    made = Array.objects.bulk_create(Array(lab=lab, host=host, name=f"md{n}", level="6") for n in range(arrays))
    each = slots // arrays
    ArrayMember.objects.bulk_create(
        ArrayMember(array=array, position=p, disk=disk)
        for n, array in enumerate(made) for p, disk in enumerate(disks[n * each : (n + 1) * each])
    )  # fmt: skip
    return host


@pytest.mark.slow
def test_a_thousand_slots_cost_the_same_queries_as_twenty(lab, sign_in):
    client, counts = sign_in("engineer"), []
    for slots, arrays in ((20, 2), (1000, 100)):
        address = reverse("host-slots", args=[big_host(lab, slots, arrays).pk])
        client.get(address)
        with CaptureQueriesContext(connection) as queries:
            answer = client.get(address)
        counts.append(len(queries))
        assert answer.status_code == 200
    assert counts[0] == counts[1]
    assert counts[1] <= 16


@pytest.mark.slow
def test_a_page_of_slots_takes_no_more_than_its_share_of_slots(lab, sign_in):
    """Four times the slots and arrays: at most about four times as long, where a look at every array for every slot would take sixteen times."""
    client, took = sign_in("engineer"), []
    for slots, arrays in ((250, 25), (1000, 100)):
        address = reverse("host-slots", args=[big_host(lab, slots, arrays).pk])
        client.get(address)
        took.append(min(spent_on(client, address) for _ in range(3)))
    assert took[1] < 8 * took[0]


def spent_on(client, address: str) -> float:
    """Seconds of processor time for the page."""
    began = time.process_time()
    assert client.get(address).status_code == 200
    return time.process_time() - began


def test_the_map_is_in_the_rest_interface(x4500, client, token):
    headers = {"Authorization": f"Bearer {token('read')}"}
    found = client.get(f"/api/v1/hosts/{x4500.pk}/slots/?round=ext3", headers=headers).json()
    [one] = found["enclosures"]
    assert [row["label"] for row in one["rows"] if row["label"]] == [f"Ctrl {n}" for n in thumper.ORDER]
    names = {
        slot["slot"]: slot["disks"][0]["device_name"]
        for row in one["rows"]
        for slot in row["slots"]
        if slot and slot["disks"]
    }
    assert names == {f"c{c}d{d}": name for c, row in thumper.GRID.items() for d, name in enumerate(row) if name != "-"}
    assert {array["name"]: array["controllers_at_most"] for array in found["arrays"]}["md1"] == 3
    assert one["naming"]["disks"][0] == {
        "slot": "c1d0", "entry": 8, "device_name": "sda", "by_rule": "sda", "major": 8, "minor": 0, "possible": None,
    }  # fmt: skip


def test_the_thumper_can_be_entered_by_rest_too(lab, client, token):
    host = Host.objects.create(lab=lab, name="by-rest")
    headers = {"Authorization": f"Bearer {token('admin')}"}

    def send(method, path, body):
        return getattr(client, method)(f"/api/v1/{path}", body, content_type="application/json", headers=headers)

    made = send(
        "post",
        "enclosures/",
        {"host": host.pk, "name": "chassis", "naming_rule": "driver_entry", "disks_per_controller": 8},
    )
    assert made.status_code == 201, made.content
    row = made.json()["id"]
    rows = layout.as_json(layout.PRESETS["x4500"][1])
    laid = send("put", f"enclosures/{row}/layout/", {"layout": rows, "boot_slots": ["c3d0", "c3d4"]})
    assert laid.json() == {"layout": rows, "boot_slots": ["c3d0", "c3d4"]}
    told = {"listing": thumper.LISTING + thumper.NAMES, "inferred": thumper.INFERRED}
    preview = send("post", f"enclosures/{row}/place/", told).json()
    assert (len(preview["placements"]), preview["written"]) == (22, None)
    assert not Disk.objects.exists()
    done = send(
        "post", f"enclosures/{row}/place/", told | {"apply": True, "fingerprint": preview["fingerprint"]}
    ).json()
    assert done["written"] == 22
    assert grid(host) == thumper.GRID
    stale = send("post", f"enclosures/{row}/place/", told | {"apply": True, "fingerprint": preview["fingerprint"]})
    assert stale.status_code == 409


@for_each("body, said", [({}, "a list of rows"), ({"layout": [{"slots": ["x"]}]}, "a slot such as"),
     ({"layout": [{"slots": ["d1"]}], "boot_slots": ["d2"]}, "boot slots that are in the layout")], taken_back=True)  # fmt: skip
def test_a_layout_that_is_none_is_a_problem_with_found_and_expected(box, client, token, body, said):
    headers = {"Authorization": f"Bearer {token('admin')}"}
    answer = client.put(f"/api/v1/enclosures/{box.pk}/layout/", body, content_type="application/json", headers=headers)
    assert answer.status_code == 400
    assert said in answer.json()["expected"]
    assert client.put(
        f"/api/v1/enclosures/{box.pk}/layout/", {}, content_type="application/json",
        headers={"Authorization": f"Bearer {token('read')}"},
    ).status_code == 403  # fmt: skip


@pytest.mark.slow
def test_arrays_in_a_circle_or_nested_without_end_do_not_stop_the_map(lab, sign_in):
    host = Host.objects.create(lab=lab, name="odd")
    made = Array.objects.bulk_create(
        Array(lab=lab, host=host, name=f"md{n}", level="10", layout="near=4000000000", implementation="software")
        for n in range(1500)
    )
    ArrayMember.objects.bulk_create(
        ArrayMember(array=array, position=0, member_array=made[(n + 1) % 1500]) for n, array in enumerate(made)
    )
    Disk.objects.create(lab=lab, host=host, device_name="sda", slot_number=2**31 - 1, enclosure="x")
    assert sign_in("viewer").get(reverse("host-slots", args=[host.pk])).status_code == 200


def test_a_slot_number_beyond_all_reason_costs_nothing(x4500, sign_in):
    Disk.objects.filter(host=x4500, device_name="sdv").update(slot_controller=2**31 - 1, slot_number=2**31 - 1)
    found = slot_map(x4500)
    assert len(found.enclosures[0].naming.lines) == 21
    assert found.contradictions == ["chassis has no such slot for sdv (c2147483647d2147483647)."]
