"""The maker and the model of a PCI device are told apart in the one name that plain `lspci` prints."""

import pytest

from apps.inventory.discovery.tools import lspci


@pytest.mark.parametrize(
    ("maker", "model"),
    [
        ("ASMedia Technology Inc.", "ASM1062 Serial ATA Controller"),
        ("JMicron Technology Corp.", "JMB58x AHCI SATA controller"),
        ("Huawei Technologies Co., Ltd.", "ES3000 V3 NVMe PCIe SSD"),
        ("Yangtze Memory Technologies Co.,Ltd", "ZHITAI TiPro5000 NVMe SSD"),
        ("MAXIO Technology (Hangzhou) Ltd.", "NVMe SSD Controller MAP1001"),
        ("Kingston Technology Company, Inc.", "HyperX Predator PCIe AHCI SSD"),
        ("Seagate Technology PLC", "Nytro PCIe Flash Storage"),
        ("Marvell Technology Group Ltd.", "88SE9230 PCIe 2.0 x2 4-port SATA 6 Gb/s RAID Controller"),
        ("Solid State Storage Technology Corporation", 'NVMe SSD [3DNAND] 2.5" U.2 (LJ1)'),
        ("Advanced Micro Devices, Inc. [AMD/ATI]", "SB7x0 SATA Controller [AHCI mode]"),
        ("Broadcom / LSI", "MegaRAID SAS-3 3108 [Invader]"),
        ("Broadcom Inc. and subsidiaries", "BCM57416 NetXtreme-E Dual-Media 10G RDMA Ethernet Controller"),
        ("Lite-On IT Corp. / Plextor", "M6e PCI Express SSD [Marvell 88SS9183]"),
        ("Micron/Crucial Technology", "P1 NVMe PCIe SSD"),
        ("Mellanox Technologies", "MT27500 Family [ConnectX-3]"),
        ("Samsung Electronics Co Ltd", "NVMe SSD Controller SM981/PM981/PM983"),
        ("Adaptec", "Series 7 6G SAS/PCIe 3"),
        ("SK hynix", "Gold P31/PC711 NVMe Solid State Drive"),
        ("3ware Inc", "9690SA SAS/SATA-II RAID PCIe"),
    ],
)
def test_makers_end_where_their_legal_form_ends(maker: str, model: str) -> None:
    (card,) = lspci.discover(f"03:00.0 RAID bus controller: {maker} {model} (rev 02)\n").cards
    assert (card.vendor, card.model) == (maker, model)


def test_a_name_of_which_nobody_knows_where_the_maker_ends_stays_whole() -> None:
    (card,) = lspci.discover("03:00.0 SATA controller: Unheard Of 88X9 SATA Host\n").cards
    assert (card.vendor, card.model) == ("", "Unheard Of 88X9 SATA Host")
