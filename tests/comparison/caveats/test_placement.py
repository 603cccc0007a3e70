"""Seed 001: the members of md1 lie on two controllers. Seed 002: one link of the double one is used."""

from apps.comparison.caveats.placement import check
from tests.comparison.caveats.machines import array, controller, disk, machine

C4, C5 = controller("c4"), controller("c5")


def test_thumpers_md1_shares_two_controllers() -> None:
    members = [disk("sdm", on=C4), disk("sdp", on=C4), disk("sds", on=C5), disk("sdv", on=C5)]
    assert check(machine(array("md1", "5", members))) == (
        "md1: 4 members on 2 controllers: c4 carries sdm, sdp; c5 carries sds, sdv"
    )


def test_infns_double_link_to_the_jbods_is_used_singly() -> None:
    storage = array("san-8tb", "0", [], "hardware", on=controller("T2000"))
    found = check(machine(storage, labels={"path controllers to JBODs": "1 × FC-2G"}))
    assert found == "all members behind one link (path controllers to JBODs: 1 × FC-2G)"


def test_a_path_of_the_inventory_of_which_one_link_only_stands_by_is_used_singly() -> None:
    storage = array("san-8tb", "0", [], "hardware", on=controller("T2000"))
    path = {"name": "SAN", "sections": [
        {"name": "server – T2000", "link": "FC-2G", "count": 4},
        {"name": "T2000 – JBOD", "link": "FC-2G", "count": 2, "standby_count": 1},
    ]}  # fmt: skip
    found = check(machine(storage, storage_paths=[path]))
    assert found == "all members behind one link (T2000 – JBOD: 1 × FC-2G, 1 more stands by)"


def test_four_links_or_none_that_are_known_are_silent() -> None:
    storage = array("san-8tb", "0", [], "hardware", on=controller("T2000"))
    assert check(machine(storage, labels={"path server to controllers": "4 × FC-2G"})) is None
    assert check(machine(storage)) is None


def test_a_member_on_each_controller_is_silent() -> None:
    members = [disk(name, on=controller(f"c{n}")) for n, name in enumerate(("sde", "sdq", "sdk", "sda"))]
    assert check(machine(array("md2", "5", members))) is None


def test_a_hardware_array_lies_behind_its_controller_by_nature() -> None:
    assert check(machine(array("vd-data", "6", [disk(f"d{n}", on=C4) for n in range(12)], "hardware"))) is None


def test_unknown_controllers_are_silent() -> None:
    assert check(machine(array("md0", "1", [disk("sda"), disk("sdb")]))) is None


def test_a_slots_own_controller_counts_before_the_row_that_stands_for_six() -> None:
    six_in_one = controller("6 × Marvell 88SX6081")

    def slotted(name: str, number: int) -> dict[str, object]:
        member = disk(name, on=six_in_one)
        member["disk"] |= {"slot_controller": number}
        return member

    apart = [slotted(name, n) for n, name in enumerate(("sda", "sde", "sdk", "sdq"))]
    assert check(machine(array("md2", "5", apart))) is None
    assert check(machine(array("md2", "5", [*apart, slotted("sdb", 0)]))) == (
        "md2: 5 members on 4 controllers: controller 0 carries sda, sdb"
    )
