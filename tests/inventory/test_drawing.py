"""A host's drawing: what leads to what, alike parts together, few crossings, and nothing that a name could break."""

import itertools
import re
import xml.etree.ElementTree as ET
from collections.abc import Callable, Iterator

import pytest
from django.template.loader import render_to_string
from django.test import Client
from django.urls import reverse

from apps.inventory.drawing.boxes import Box, Boxes, boxes_of
from apps.inventory.drawing.graph import DrawingPart, Graph, in_order
from apps.inventory.drawing.storage import graph_of
from apps.inventory.drawing.svg import BETWEEN, HEIGHT, ROOM, DrawingLayout, drawing_of, layout_of, words_of
from apps.inventory.models import Array, ArrayMember, Controller, Disk, Filesystem, Host, Target
from apps.inventory.topology.tree import topology
from apps.labs.models import Lab
from tests.inventory import plants
from tests.sampling import for_each

SVG = "{http://www.w3.org/2000/svg}"


def drawn(host: Host, *opened: str) -> Boxes:
    return boxes_of(graph_of(topology(host)), opened)


def names(boxes: Boxes) -> dict[str, str]:
    """Key → what the box is called."""
    return {box.key: words_of(box)[0].replace("\u00a0", " ") for box in boxes.boxes}


def edges(boxes: Boxes) -> set[tuple[str, str]]:
    called = names(boxes)
    return {(called[a], called[b]) for a, b in boxes.edges}


def graph(*pairs: str, kind: Callable[[str], str] = lambda key: "array") -> Graph:
    """`graph("ab", "bc")`: a → b → c."""
    keys = dict.fromkeys(key for pair in pairs for key in pair)
    return Graph({key: DrawingPart(key, kind(key), key) for key in keys}, dict.fromkeys(pairs))


def crossings(layout: DrawingLayout) -> int:
    """Counted pair by pair."""
    rows = {id(spot): row for column in layout.columns for row, spot in enumerate(column)}
    steps = [(a.column, rows[id(a)], rows[id(b)]) for a, b in layout.steps()]
    return sum(
        one[0] == other[0] and (one[1] - other[1]) * (one[2] - other[2]) < 0
        for place, one in enumerate(steps)
        for other in steps[place + 1 :]
    )


def test_raid_50_over_several_controllers_is_drawn_once_with_its_arrays_nested(lab: Lab) -> None:
    found = drawn(plants.thumper(lab))
    told = edges(found)
    assert {("md2 (round ext3)", "md5 (round ext3)"), ("md3 (round ext3)", "md5 (round ext3)")} <= told
    assert {("sda", "md2 (round ext3)"), ("sde", "md2 (round ext3)"), ("sdk", "md2 (round ext3)")} <= told
    assert ("Marvell 3", "sdk") in told
    assert {("md5 (round ext3)", "/raid/c50"), ("sdi", "/")} <= told
    assert sum(box.count for box in found.boxes if box.kind == "disk") == 22


def test_alike_disks_of_a_controller_in_the_same_arrays_stand_in_one_box(lab: Lab) -> None:
    found = drawn(plants.thumper(lab))
    assert ("2 × Hitachi 250 GB", "md4 (round ext3)") in edges(found)
    found = drawn(plants.dtn(lab))
    sizes = [box.count for box in found.boxes if box.kind == "disk"]
    assert sorted(sizes) == [2, 12]


def test_a_zero_channel_card_sits_on_its_hba_and_makes_the_array_of_its_disks(lab: Lab) -> None:
    told = edges(drawn(plants.crs4(lab)))
    assert told == {
        ("aiodda2", "Adaptec AIC-7902"), ("Adaptec AIC-7902", "Adaptec 2010S"),
        ("Adaptec AIC-7902", "2 × Seagate 73 GB"), ("2 × Seagate 73 GB", "raid0"), ("Adaptec 2010S", "raid0"),
    } | {("raid0", "raid0")}  # fmt: skip


def test_a_san_is_drawn_section_by_section_and_the_network_to_its_left(lab: Lab) -> None:
    told = edges(drawn(plants.infn(lab)))
    assert {
        ("server-san", "server – T2000"), ("server – T2000", "Storm T2000"), ("Storm T2000", "T2000 – JBODs"),
        ("T2000 – JBODs", "san-8tb"), ("san-8tb", "san"),
    } <= told  # fmt: skip
    assert {
        ("worker-nodes", "switch B"), ("switch B", "switch A"), ("switch A", "myri1"), ("myri1", "server-san"),
        ("server1", "myri0"), ("to server1", "server1"), ("to the farm", "worker-nodes"),
    } <= told  # fmt: skip


def test_a_large_host_is_drawn_with_few_boxes_that_can_be_opened(lab: Lab) -> None:
    host = plants.large(lab, 200, 20)
    found = drawn(host)
    assert len(found.boxes) < 40
    assert {"20 × RAID 6", "20 × xfs", "20 × targets"} <= set(names(found).values())
    assert sum(box.count for box in found.boxes if box.kind == "disk") == 200
    (key,) = [box.key for box in found.boxes if box.count == 20 and box.kind == "disk"][:1]
    opened = drawn(host, key)
    assert len(opened.boxes) == len(found.boxes) + 19


def test_opening_shows_so_many_and_leaves_the_rest_to_the_next() -> None:
    many = Graph({f"d-{n}": DrawingPart(f"d-{n}", "disk", f"sd{n}", look=("x",)) for n in range(60)})
    assert [box.count for box in boxes_of(many).boxes] == [60]
    once = boxes_of(many, ["d-0"])
    assert [box.count for box in once.boxes] == [1] * 24 + [36]
    twice = boxes_of(many, ["d-0", "d-24"])
    assert [box.count for box in twice.boxes] == [1] * 48 + [12]
    assert len(boxes_of(many, ["nothing-7"]).boxes) == 1


def test_a_degraded_array_is_not_put_with_sound_ones(lab: Lab) -> None:
    host = plants.large(lab, 200, 20)
    Array.objects.filter(name="md7").update(state="degraded")
    assert sorted(box.count for box in drawn(host).boxes if box.kind == "array") == [1, 19]


def test_lines_do_not_cross_where_they_need_not() -> None:
    layout = layout_of(
        boxes_of(
            graph(
                "ax",
                "by",
                "cz",
                "xr",
                "yq",
                "zp",
                kind=lambda key: "disk" if key in "abc" else "array" if key in "xyz" else "filesystem",
            )
        )
    )
    assert (layout.crossings, crossings(layout)) == (0, 0)


def test_crossings_are_counted_truly() -> None:
    layout = layout_of(
        boxes_of(graph(*(f"{a}{b}" for a in "abc" for b in "xyz"), kind=lambda k: "disk" if k in "abc" else "array"))
    )
    assert layout.crossings == crossings(layout)


def test_boxes_stand_in_columns_and_never_on_each_other(lab: Lab) -> None:
    for host in (plants.thumper(lab), plants.infn(lab), plants.large(lab, 200, 20)):
        layout = layout_of(drawn(host))
        for column in layout.columns:
            boxes = [spot for spot in column if spot.is_box]
            for above, below in itertools.pairwise(boxes):
                assert below.y - above.y >= HEIGHT + BETWEEN - 0.2
        for a, b in layout.steps():
            assert b.column == a.column + 1
        assert all(0 < spot.y < layout.height for column in layout.columns for spot in column)


def test_a_line_over_a_column_does_not_run_behind_its_boxes(lab: Lab) -> None:
    """sdi → / passes the columns of arrays."""
    layout = layout_of(drawn(plants.thumper(lab)))
    (way,) = [way for left, right, way in layout.lines if left.startswith("disk") and right.startswith("filesystem")]
    for passage in way[1:-1]:
        for spot in layout.columns[passage.column]:
            if spot.is_box:
                assert abs(spot.y - passage.y) >= HEIGHT / 2


def test_circles_end(lab: Lab) -> None:
    circle = graph("ab", "bc", "ca", "cd").finished()
    assert in_order(circle)
    host = plants.thumper(lab)
    md5, md2 = Array.objects.get(name="md5"), Array.objects.get(name="md2")
    ArrayMember.objects.create(array=md2, position=9, member_array=md5)
    one, other = Controller.objects.filter(host=host)[:2]
    Controller.objects.filter(pk=one.pk).update(sits_on=other)
    Controller.objects.filter(pk=other.pk).update(sits_on=one)
    assert len(layout_of(drawn(host)).columns) > 3


def test_arrays_of_any_depth_are_drawn(lab: Lab) -> None:
    host = Host.objects.create(lab=lab, name="deep")
    below: Array | Disk = Disk.objects.create(lab=lab, host=host, device_name="sda")
    for depth in range(40):
        below = plants.array(host, f"v{depth}", "linear", [below])
    layout = layout_of(drawn(host))
    assert layout.kinds.count("array") == 40


@pytest.fixture
def nasty(lab: Lab) -> Host:
    host = plants.dtn(lab)
    Host.objects.filter(pk=host.pk).update(name='<script>alert("1")</script> & "x\' onload=')
    Controller.objects.update(name="]]><img src=x onerror=1>", model="</svg>")
    host.refresh_from_db()
    return host


def page_and_file(host: Host) -> Iterator[str]:
    made = graph_of(topology(host))

    def address(box: Box) -> str:
        return 'javascript:"x"<'

    context = {"drawing": drawing_of(made, host.name, address)}
    yield render_to_string("inventory/drawing.svg", context).replace("<svg ", f'<svg xmlns="{SVG[1:-1]}" ', 1)
    yield render_to_string("inventory/drawing-file.svg", context)


def test_names_are_never_markup(nasty: Host) -> None:
    for text in page_and_file(nasty):
        tree = ET.fromstring(text)
        tags = {element.tag.removeprefix(SVG) for element in tree.iter()}
        assert tags <= {"svg", "title", "style", "rect", "path", "text", "a", "g"}
        assert not [
            name for element in tree.iter() for name in element.attrib if name.startswith("on") or name == "style"
        ]
        assert any("<script>" in (element.text or "") for element in tree.iter(f"{SVG}title"))


def test_every_box_says_in_full_what_it_is(lab: Lab) -> None:
    host = plants.thumper(lab)
    tree = ET.fromstring(next(page_and_file(host)))
    boxes = [e for e in tree.iter() if "box" in e.get("class", "").split()]
    titles = [box.findtext(f"{SVG}title", "").replace("\u00a0", " ") for box in boxes]
    assert len(titles) == len(drawn(host).boxes)
    assert "disks, 2 × Hitachi 250 GB: sdb, sdd" in titles
    assert any(title.startswith("array md5 (round ext3): RAID 0, 2 members") for title in titles)


def test_long_names_are_cut_to_the_box(lab: Lab) -> None:
    host = plants.crs4(lab)
    Controller.objects.update(model="W" * 150)
    texts = re.findall(r'class="detail"[^>]*>([^<]*)<', next(page_and_file(host)))
    assert max(map(len, texts)) * 11 * 0.61 < ROOM * 1.2
    assert any(text.endswith("…") for text in texts)


@pytest.mark.parametrize("route", ["host", "host-drawing"])
def test_the_pages_show_it_with_its_text(lab: Lab, sign_in: Callable[[str], Client], route: str) -> None:
    host = plants.thumper(lab)
    page = sign_in("viewer").get(reverse(route, args=[host.pk])).content.decode()
    assert page.count('<svg class="drawing') == 1
    assert "style=" not in page[page.index('<svg class="drawing') : page.index("</main>")]
    assert 'href="/arrays/' in page
    assert "md5 (round ext3)" in page[page.index('<ul class="tree">') :]
    assert f'href="{reverse("host-drawing", args=[host.pk])}?open=disk-' in page


def test_a_group_is_opened_by_its_address(lab: Lab, sign_in: Callable[[str], Client]) -> None:
    host = plants.dtn(lab)
    key = next(box.key for box in drawn(host).boxes if box.count == 12)
    page = (
        sign_in("viewer")
        .get(reverse("host-drawing", args=[host.pk]), {"open": [key, "<x>", "a" * 99]})
        .content.decode()
    )
    svg = page[page.index('<svg class="drawing') : page.index("</svg>", page.index('<svg class="drawing'))]
    assert svg.count("kind-disk") == 13
    assert "Close all groups" in page
    assert "<x>" not in page


def test_the_file_is_a_picture_that_can_do_nothing(lab: Lab, sign_in: Callable[[str], Client]) -> None:
    host = plants.infn(lab)
    answer = sign_in("viewer").get(reverse("host-drawing-file", args=[host.pk]))
    assert answer["Content-Type"] == "image/svg+xml; charset=utf-8"
    assert answer["Content-Disposition"] == 'attachment; filename="server-san.svg"'
    assert "default-src 'none'" in answer["Content-Security-Policy"]
    tree = ET.fromstring(answer.content)
    assert tree.findtext(f"{SVG}title") == "server-san: storage and network"
    assert f"http://testserver/hosts/{host.pk}/" in answer.content.decode()


def test_an_empty_host_is_a_box_by_itself(lab: Lab) -> None:
    found = drawn(Host.objects.create(lab=lab, name="bare"))
    assert list(names(found).values()) == ["bare"]
    assert layout_of(found).width > 0


@for_each(
    "is_present, is_on_disk, has_target, is_drawn",
    [
        (True, True, False, True),
        (True, False, False, False),  # such as tmpfs
        (False, True, False, False),  # one of the past
        (True, False, True, True),  # what somebody measures is always drawn
        (False, True, True, True),
        (False, False, True, True),
    ],
    taken_back=True,
)
def test_which_filesystems_are_drawn(
    lab: Lab, is_present: bool, is_on_disk: bool, has_target: bool, is_drawn: bool
) -> None:
    host = Host.objects.create(lab=lab, name="alpha")
    disk = Disk.objects.create(lab=lab, host=host, device_name="sda")
    filesystem = Filesystem.objects.create(
        lab=lab, host=host, mount_point="/data", is_present=is_present, disk=disk if is_on_disk else None
    )
    if has_target:
        Target.objects.create(lab=lab, host=host, filesystem=filesystem, kind="directory", path="/data", name="data")
    assert (f"filesystem-{filesystem.pk}" in names(drawn(host))) is is_drawn
