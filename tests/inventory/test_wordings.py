"""What other versions of RAID controllers' tools call the same fields."""

import pytest

from apps.inventory.discovery.tools import arcconf
from apps.inventory.discovery.tools.megacli import _inquiry

DASHES = "-" * 70
GETCONFIG = f"""\
Controllers found: 1
{DASHES}
Controller information
{DASHES}
   Controller Model                         : Adaptec ASR8405
   Installed memory                         : 1024 MB
   Host bus type                            : PCIe
   Host bus speed                           : 8000 MHz
   Host bus link width                      : 8 bit(s)
{DASHES}
Logical device information
{DASHES}
Logical device number 0
   Logical device name                      : video
   RAID level                               : 5
   Status of logical device                 : Optimal
   Size                                     : 1000 MB
   Stripe-unit size                         : 256 KB

Command completed successfully.
"""


@pytest.mark.parametrize("change", [str, str.title], ids=["small", "capital"])
def test_arcconf_in_any_capitals(change: object) -> None:
    names = [
        "Controller information", "Installed memory", "Host bus type", "Host bus speed", "Host bus link width",
        "Logical device information", "Logical device number", "Logical device name", "Status of logical device",
    ]  # fmt: skip
    printed = GETCONFIG
    for name in names:
        printed = printed.replace(name, change(name).replace("Of", "of"))  # type: ignore[operator]
    (card,) = arcconf.discover(printed).cards
    assert (card.cache_bytes, card.bus) == (1 << 30, "PCIe 3.0 x8")
    (volume,) = card.volumes
    assert (volume.name, volume.level, volume.state, volume.chunk_size) == ("video", "RAID5", "clean", 256 << 10)


@pytest.mark.parametrize(
    ("line", "told"),
    [
        ("IBM-ESXSST9900805SS     B55C6XS0ABCD            ", ("IBM-ESXS", "ST9900805SS", "6XS0ABCD", "B55C")),
        ("SEAGATE ST3146855SS     S5273LN0ABCD", ("SEAGATE", "ST3146855SS", "3LN0ABCD", "S527")),
        ("SEAGATE ST3146855SS S5273LN0ABCD", ("SEAGATE", "ST3146855SS", "3LN0ABCD", "S527")),
    ],
    ids=["eight letters", "as printed", "blanks lost"],
)
def test_the_inquiry_data_of_a_sas_drive(line: str, told: tuple[str, ...]) -> None:
    assert _inquiry("SAS", line) == told
