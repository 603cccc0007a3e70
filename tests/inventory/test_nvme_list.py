"""`nvme list` as people bring it: a table, and the JSON of both generations."""

import json

from tests.inventory.brought import BroughtText

TABLE = """\
# nvme list
Node                  Generic               SN                   Model                Namespace  Usage                      Format           FW Rev
--------------------- --------------------- -------------------- -------------------- ---------- -------------------------- ---------------- --------
/dev/nvme0n1          /dev/ng0n1            QQ10001              OWN FLASH PRO 2TB    0x1          1.02  TB /   2.00  TB    512   B +  0 B   7B1QFXO7
/dev/nvme1n1          /dev/ng1n1            QQ10002              OWN FLASH 960        0x1         46.43  GB / 960.20  GB      4 KiB +  0 B   OWN 1.2
"""
OLD = """\
Node             SN                   Model            Namespace Usage                      Format           FW Rev
---------------- -------------------- ---------------- --------- -------------------------- ---------------- --------
/dev/nvme2n1     QQ10003              OWN FLASH 400    1         400.09  GB / 400.09  GB    512   B +  8 B   8DV1
"""
ONE = {"Firmware": "OWN1", "ModelNumber": "OWN FLASH", "SerialNumber": "QQ10004", "SectorSize": 4096}


def test_a_table_tells_model_serial_firmware_and_rounded_size() -> None:
    disks = BroughtText(TABLE + "# exit\n").disks
    assert [(key, one.model, one.serial, one.firmware, one.interface) for key, one in disks.items()] == [
        ("nvme0n1", "OWN FLASH PRO 2TB", "QQ10001", "7B1QFXO7", "NVMe"),
        ("nvme1n1", "OWN FLASH 960", "QQ10002", "OWN 1.2", "NVMe"),
    ]
    assert [(one.capacity_bytes, one.logical_block_bytes) for one in disks.values()] == [
        (2 * 10**12, 512),
        (960200000000, 4096),
    ]


def test_a_table_of_an_older_version_is_read() -> None:
    (disk,) = BroughtText(OLD).disks.values()
    assert (disk.device_name, disk.serial, disk.firmware, disk.capacity_bytes) == (
        "nvme2n1",
        "QQ10003",
        "8DV1",
        400090000000,
    )


def test_json_of_both_generations_is_the_same_drive() -> None:
    first = {"Devices": [{"NameSpace": 1, "DevicePath": "/dev/nvme3n1", "PhysicalSize": 960197124096, **ONE}]}
    space = {"NameSpace": "nvme3n1", "NSID": 1, "PhysicalSize": 960197124096, "SectorSize": 4096}
    controller = {"Controller": "nvme3", **ONE, "Namespaces": [space]}
    second = {
        "Devices": [
            {"HostNQN": "x", "Subsystems": [{"SubsystemNQN": "y", "Controllers": [controller], "Namespaces": []}]}
        ]
    }
    for document in (first, second):
        text = BroughtText(f"$ nvme list -o json\n{json.dumps(document, indent=2)}\n")
        (disk,) = text.disks.values()
        assert (disk.device_name, disk.model, disk.serial, disk.firmware) == ("nvme3n1", "OWN FLASH", "QQ10004", "OWN1")
        assert (disk.capacity_bytes, disk.logical_block_bytes, disk.is_solid_state) == (960197124096, 4096, True)
        assert text.file.inventory[0].summary == "1 NVMe drive: nvme3n1 OWN FLASH"


def test_namespaces_of_one_drive_add_up() -> None:
    spaces = [{"NameSpace": n, "DevicePath": f"/dev/nvme4n{n}", "PhysicalSize": n * 10**11, **ONE} for n in (1, 2)]
    (disk,) = BroughtText(json.dumps({"Devices": spaces})).disks.values()
    assert (disk.device_name, disk.capacity_bytes) == ("nvme4n1", 3 * 10**11)
