"""Seed 004: the same SAS RAID 10 under ESXi and native, 22.3 and 153.3 MB/s."""

from apps.comparison.caveats.guest import RULE, check
from apps.comparison.compare import compare
from apps.comparison.question import Question
from tests.comparison.caveats.machines import on, plain
from tests.comparison.factories import GIB, reading

SAS = {"interface": "SAS", "raid_level": "10", "sync": "none", "ram": 4 * GIB, "tool": "dd"}
ESXI, NATIVE = SAS | {"environment": "guest"}, SAS | {"environment": "native"}


def test_a_guest_is_said_with_its_hypervisor() -> None:
    one = reading(1, 22_342_325.0, facts=ESXI, evidence=on(hypervisor="VMware ESXi 4.1"))
    assert plain(check(one)) == "environment guest, hypervisor VMware ESXi 4.1, RAM of the guest 4 GiB"


def test_tristans_hypervisor_costs_a_factor_of_seven() -> None:
    guest = reading(1, 22_342_325.0, "esxi", file_size=1_048_576_000, facts=ESXI)
    native = reading(2, 153_324_369.0, "native", file_size=1_048_576_000, facts=NATIVE)
    (found,) = [one for one in compare([guest, native], Question()).caveats if one.rule == RULE.name]
    assert found.series == ("esxi",)
    assert "esxi: native 153 MB/s ÷ guest 22.3 MB/s = 6.86 × with all else equal" in map(plain, found.arithmetic)


def test_a_native_run_with_other_disks_is_not_held_against_it() -> None:
    guest = reading(1, 22_342_325.0, "esxi", facts=ESXI)
    sata = reading(2, 68_532_932.0, "native", facts=NATIVE | {"interface": "SATA"})
    (found,) = [one for one in compare([guest, sata], Question()).caveats if one.rule == RULE.name]
    assert not any("÷" in line for line in found.arithmetic)


def test_native_and_unknown_are_silent() -> None:
    assert check(reading(1, 153_324_369.0, facts=NATIVE)) is None
    assert check(reading(1, 1.0)) is None
