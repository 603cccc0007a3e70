"""Other people's outputs of smartctl and of RAID controllers' programs: their true values are exact."""

from typing import Any

import pytest

from apps.inventory.discovery.tool_output import Content
from tests.inventory.discovery.tools.formats import content, corpus_text, parsed
from tests.sampling import for_each

Expected = tuple[str | None, str | None, str | None, int | None, int | None, int | None, bool | None, str, str]
SMART: dict[str, Expected] = {  # model, serial, firmware, bytes, hours, temperature, passed, protocol, type
    "scrutiny-smart-ata.json": (
        "WDC WD140EDFZ-11A0VA0",
        "9RK1XXXX",
        "81.00A81",
        14000519643136,
        1730,
        32,
        True,
        "ATA",
        "sat",
    ),
    "scrutiny-smart-fail2.json": (
        "Hitachi HDS721050DLE630",
        "MSK423Y20S3HBC",
        "MS1OA650",
        500107862016,
        65592,
        25,
        False,
        "ATA",
        "usbjmicron",
    ),
    "scrutiny-smart-nvme.json": (
        "INTEL SSDPEKNW010T8",
        "BTNH93710FS91P0B",
        "002C",
        1024209543168,
        2401,
        36,
        True,
        "NVMe",
        "nvme",
    ),
    "scrutiny-smart-scsi2.json": (
        "SEAGATE ST1200MM0088",
        "Z4028VRY0000C810BZXB",
        None,
        1200243695616,
        5675,
        31,
        True,
        "SCSI",
        "scsi",
    ),
    "scrutiny-smart-megaraid0.json": (
        "WD4000FYYX",
        "XXXXXXXXXXXX",
        "00.0D1K4",
        4000787030016,
        37787,
        36,
        True,
        "ATA",
        "sat+megaraid,0",
    ),
    "scrutiny-smart-ata-full.json": (
        "Samsung SSD 860 EVO 500GB",
        "S3YZNB0KB00864E",
        "RVT02B6Q",
        500107862016,
        14551,
        36,
        True,
        "ATA",
        "sat",
    ),
    "scrutiny-smart-nvme-failed.json": (
        "Samsung SSD 970 EVO 500GB",
        "S466NX0M776250H",
        "2B2QEXE7",
        500107862016,
        12798,
        35,
        True,
        "NVMe",
        "nvme",
    ),
    "scrutiny-smart-megaraid1.json": (
        "WD4000FYYX",
        "XXXXXXXXXXXX",
        "00.0D1K4",
        4000787030016,
        37788,
        36,
        True,
        "ATA",
        "sat+megaraid,1",
    ),
    "exporter-HITACHI_H109060SESUN600G_10.json": (
        None,
        "REDACTED",
        None,
        600127266816,
        22364,
        26,
        True,
        "SCSI",
        "scsi",
    ),
    "exporter-INTEL_SSDPE2KX080T8_1.json": (
        "INTEL SSDPE2KX080T8",
        "REDACTED",
        "REDACTED",
        None,
        12164,
        29,
        True,
        "NVMe",
        "nvme",
    ),
    "exporter-ST3200820AS_16.json": (
        "ST3200820AS",
        "REDACTED",
        "REDACTED",
        200048565760,
        100161,
        33,
        True,
        "ATA",
        "sat",
    ),
    "telegraf-scsi_extended.json": (None, "XYZZZZ", None, 13715978079776, 34222, 24, True, "SCSI", "scsi"),
    "telegraf-usb.json": ("SanDisk pSSD", "06c9f4c44", "3", 15693664256, 11, None, True, "ATA", "sat"),
    "netdata-type-sat-device-hdd-sda.json": (
        "WDC WD181KRYZ-01AGBB0",
        "REDACTED",
        "REDACTED",
        18000207937536,
        8244,
        49,
        True,
        "ATA",
        "sat",
    ),
    "pysmart-heliumhdd.json": (
        "WDC  WUH721816ALE6L4",
        "3WJMHZ6L",
        "PCGNW232",
        16000900661248,
        593,
        26,
        True,
        "ATA",
        "ata",
    ),
}


def _at(value: Any, *keys: str) -> Any:
    for key in keys:
        value = value.get(key) if isinstance(value, dict) else None
    return value


@for_each("file", SMART)
def test_smartctl_json(file: str) -> None:
    found = content("smartctl json", corpus_text(f"smartctl-json/{file}"))
    seen = (
        found.get("model_name"), found.get("serial_number"), found.get("firmware_version"), _at(found, "user_capacity", "bytes"),
        _at(found, "power_on_time", "hours"), _at(found, "temperature", "current"), _at(found, "smart_status", "passed"),
        _at(found, "device", "protocol"), _at(found, "device", "type"),
    )  # fmt: skip
    assert seen == SMART[file]


def test_smartctl_json_of_a_scan_and_of_a_failure() -> None:
    scan = content("smartctl json", corpus_text("smartctl-json/scrutiny-smartctl_scan_megaraid.json"))
    assert (len(scan["devices"]), scan["devices"][0]["name"]) == (2, "/dev/bus/0")
    (failed,) = parsed("smartctl json", corpus_text("smartctl-json/scrutiny-smart-fail.json")).inventory
    assert failed.content["smartctl"]["messages"][0]["string"].startswith(
        r"Smartctl open device: /dev/sda failed: \\.\PhysicalDrive0: O"
    )
    assert failed.summary.startswith("Smartctl open device: /dev/sda failed")
    usb = content("smartctl json", corpus_text("smartctl-json/scrutiny-smart-megaraid0.json"))
    assert "Warning: This result is based on an Attribute check." in [
        one["string"] for one in usb["smartctl"]["messages"]
    ]
    scsi = content("smartctl json", corpus_text("smartctl-json/scrutiny-smart-scsi2.json"))
    assert (scsi["vendor"], scsi["product"]) == ("SEAGATE", "ST1200MM0088")


SMART_TEXT: dict[str, tuple[Content, str, str | None]] = {  # information, health, raw power-on hours
    "pysmart-megaraid-sas-hdd.txt": (
        {
            "Product": "HUS726040AL5210", "Vendor": "HGST", "Serial number": "XXXXXXXX",
            "User Capacity": "4,000,787,030,016 bytes [4.00 TB]", "Rotation Rate": "7200 rpm",
        }, "OK", None),
    "pysmart-nvme0.txt": ({"Model Number": "KBG30ZMV256G TOSHIBA", "Serial Number": "XXXXXXXXXXXX"}, "PASSED", None),
    "pysmart-sas-ssd-x.txt": (
        {
            "Product": "MZILT7T6HALA/007", "Vendor": "SAMSUNG", "Serial number": "S5DDNE0R801692",
            "User Capacity": "7 681 501 126 656 bytes [7,68 TB]", "Rotation Rate": "Solid State Device",
        }, "OK", None),
    "pysmart-sata-ssd-macos.txt": (
        {
            "Device Model": "APPLE SSD SM0256F", "Serial Number": "S1XXXXXXXXXXXX",
            "User Capacity": "251,000,193,024 bytes [251 GB]", "Rotation Rate": "Solid State Device",
        }, "PASSED", "20503"),
    "pysmart-unsupported.txt": (
        {
            "Product": "MR9361-16i", "Vendor": "AVAGO", "Serial number": "00574c0df553f2000000349c07b26200",
            "User Capacity": "959,119,884,288 bytes [959 GB]",
        }, "", None),
    "pysmart-sat-hdd-sg2.txt": (
        {
            "Device Model": "ST2000NM000A-2J2100", "Serial Number": "WS10SM2A",
            "User Capacity": "2 000 398 934 016 bytes [2,00 TB]", "Rotation Rate": "7200 rpm",
        }, "PASSED", "1380"),
    "pysmart-megaraid-sata-ssd.txt": (
        {
            "Device Model": "INTEL SSDSC2BB120G6", "Serial Number": "BXXXXXXXXXXXXXXXXN",
            "User Capacity": "120,034,123,776 bytes [120 GB]", "Rotation Rate": "Solid State Device",
        }, "PASSED", "43583"),
    "glpi-sample1.txt": (
        {
            "Device Model": "SAMSUNG SSD PM800 TM 128GB", "Serial Number": "DFW1W11002SE002B3117",
            "User Capacity": "128 035 676 160 bytes",
        }, "", None),
    "glpi-sample7.txt": (
        {
            "Product": "HUH721212AL5200", "Vendor": "HGST", "Serial number": "D5G7WG8L",
            "User Capacity": "11,756,399,230,976 bytes [11.7 TB]", "Rotation Rate": "7200 rpm",
        }, "", None),
}  # fmt: skip


@pytest.mark.parametrize("file", SMART_TEXT)
def test_smartctl_text(file: str) -> None:
    found = content("smartctl text", corpus_text(f"smartctl-text/{file}"))
    information, health, hours = SMART_TEXT[file]
    assert {
        key: " ".join(found["information"][key].split()) for key in information
    } == information  # thin blanks in sizes
    assert found["health"] == health
    raws = [one["raw"] for one in found["attributes"] if one["name"] == "Power_On_Hours"]
    assert raws == ([hours] if hours else [])


def test_smartctl_text_of_nvme_keeps_its_hours_as_printed() -> None:
    assert content("smartctl text", corpus_text("smartctl-text/pysmart-nvme0.txt"))["data"]["Power On Hours"] == "5.809"


def test_smartctl_text_several_times_in_one_file() -> None:
    mail = parsed("smartctl text", corpus_text("smartctl-text/mail-question-smart.txt")).inventory
    assert [len(one.content["attributes"]) for one in mail] == [17, 17, 17, 17]
    first = mail[0].content["information"]
    assert (first["Device Model"], first["Serial Number"], first["User Capacity"], first["Rotation Rate"]) == (
        "WDC WD10EFRX-68FYTN0", "WD-WCC4J3TC25D3", "1,000,204,886,016 bytes [1.00 TB]", "5400 rpm",
    )  # fmt: skip
    assert mail[0].content["health"] == "PASSED"
    cciss = parsed("smartctl text", corpus_text("smartctl-text/checkraid-cciss-smartctl.txt")).inventory
    assert [one.content["health"] for one in cciss][:4] == ["OK", "OK", "OK", ""]


STORCLI = {  # of each controller: status, what its data say
    "json/netdata-megaraid-controllers-info.json": [
        ("Success", {"Model": "ServeRAID M5015 SAS/SATA Controller", "Serial Number": "SV04616189", "Virtual Drives": 1, "Physical Drives": 6})
    ],
    "json/netdata-mpt3sas-controllers-info.json": [("Success", {"Model": "HBA 9500-8i", "Serial Number": "REDACTED"})],
    "json/puppet-perccli_call_show_fail.json": [("Failure", {})],
    "json/pystorcli-controllerSet-test03-__c0_show_J.json": [
        (
            "Failure",
            {
                "Product Name": "Intel(R) RAID Controller RS3DC080", "Serial Number": "SK75074929", "FW Version": "4.650.00-8128",
                "Virtual Drives": 1, "Physical Drives": 12,
            },
        )
    ],
    "text/storclicheck-single-controller.txt": [("Failure", {"Model": "ServeRAID M5110e", "PD LIST": 16})],
    "text/storclicheck-single-controller-degraded.txt": [("Failure", {"Model": "ServeRAID M5110e", "PD LIST": 16})],
    "text/storclicheck-mutli-controller-ok-01-show-all.txt": [("Success", {"Model": "LSI MegaRAID SAS 9240-8i", "PD LIST": 8})],
    "text/storclicheck-multi-controller-degraded.txt": [
        ("Success", {"Model": "LSI MegaRAID SAS 9286CV-8e"}),
        ("Success", {"Model": "LSI MegaRAID SAS 9240-8i", "PD LIST": 8, "VD LIST": 1}),
        ("Success", {"Model": "LSI MegaRAID SAS 9286CV-8e", "PD LIST": 12, "VD LIST": 1}),
    ],
    "text/inphobia-windows-c0-show.txt": [("Success", {"Product Name": "HBA 9500-16e", "Physical Drives": 16, "PD LIST": 16})],
}  # fmt: skip


@pytest.mark.parametrize("place", STORCLI)
def test_storcli(place: str) -> None:
    kind, _, file = place.partition("/")
    found = parsed(f"storcli {kind}", corpus_text(f"raid-storcli/{file}")).inventory
    assert len(found) == len(STORCLI[place])
    for one, (status, expected) in zip(found, STORCLI[place], strict=True):
        assert one.content["Command Status"]["Status"] == status
        data = one.content.get("Response Data", {})
        about = {**data, **data.get("Basics", {})}
        assert {key: len(about[key]) if isinstance(about[key], list) else about[key] for key in expected} == expected


def test_storcli_of_three_controllers() -> None:
    found = parsed("storcli json", corpus_text("raid-storcli/puppet-storcli_call_show.json")).inventory
    assert len(found) == 3
    first = found[0].content["Response Data"]
    assert (first["Product Name"], first["Serial Number"], first["FW Version"]) == (
        "AVAGO 3108 MegaRAID",
        "FW-BAMQTHEAARBWA",
        "4.680.00-8290",
    )
    assert (first["Virtual Drives"], first["Physical Drives"]) == (1, 18)


def test_storcli_tables_keep_blanks_inside_values() -> None:
    (one,) = parsed("storcli text", corpus_text("raid-storcli/storclicheck-single-controller.txt")).inventory
    first = one.content["Response Data"]["PD LIST"][0]
    assert (first["EID:Slt"], first["DID"], first["State"], first["DG"], first["Size"]) == (
        "24:0",
        16,
        "Onln",
        0,
        "278.464 GB",
    )
    assert (first["Intf"], first["SeSz"], first["Model"]) == ("SAS", "512B", "AL13SEB300")
    assert one.content["Command Status"]["Detailed Status"] == [
        {"Ctrl": 0, "Status": "Failed", "ErrCd": 2, "ErrMsg": "command invalid"}
    ]
    (windows,) = parsed("storcli text", corpus_text("raid-storcli/inphobia-windows-c0-show.txt")).inventory
    drives = windows.content["Response Data"]["PD LIST"]
    assert (drives[0]["EID:Slt"], drives[0]["Size"], drives[0]["DG"]) == ("0:12", "13.972 TB", "-")
    assert (drives[1]["SeSz"], drives[-1]["Model"], drives[12]["Med"]) == ("4 KB", "BD-RE  BH10LS30", "Unknown")


MEGACLI = {  # virtual drives, their first's level, size, state; physical drives, their first's enclosure, slot, state, beginning of the inquiry
    "checkraid-3-pdlist.txt": (0, None, 12, (15, 1, "Online, Spun Up", "MK0311YHGXHPPAHitachi HDS723030ALA640")),
    "checkraid-issue45-MegaCli64-ldinfo.out.txt": (
        7,
        ("Primary-1, Secondary-0, RAID Level Qualifier-0", "837.258 GB", "Optimal"),
        0,
        None,
    ),
    "checkraid-issue41-ldinfo.txt": (
        3,
        ("Primary-1, Secondary-0, RAID Level Qualifier-0", "135.972 GB", "Optimal"),
        0,
        None,
    ),
    "checkraid-megacli.pdlist.jbod.txt": (0, None, 4, (32, 0, "JBOD", "9XF1922XST9500620NS")),
    "checkraid-issue123-pdlist.txt": (0, None, 8, (252, 0, "Online, Spun Up", "IBM-ESXSM")),
    "glpi-set2_PDlist.txt": (0, None, 10, (32, 0, "Online, Spun Up", "HGST    HUC101212CSS600 U5E0KZGLE2EE")),
    "glpi-set7_LDinfo.txt": (14, ("Primary-0, Secondary-0, RAID Level Qualifier-0", "10.692 TB", "Optimal"), 0, None),
    "netdata-phys-drives.txt": (
        1,
        ("Primary-1, Secondary-0, RAID Level Qualifier-0", "3.491 TB", "Optimal"),
        8,
        (32, 0, "Online, Spun Up", "S1YHNXAG804005      SAMSUNG MZ7LM960HCHP-00003"),
    ),
}


@pytest.mark.parametrize("file", MEGACLI)
def test_megacli(file: str) -> None:
    found = content("megacli", corpus_text(f"raid-megacli/{file}"))
    virtual, first_virtual, physical, first_physical = MEGACLI[file]
    assert (found["adapter"], len(found["virtual_drives"]), len(found["physical_drives"])) == (0, virtual, physical)
    if first_virtual:
        one = found["virtual_drives"][0]
        assert (one["RAID Level"], one["Size"], one["State"]) == first_virtual
    if first_physical:
        one = found["physical_drives"][0]
        *place, inquiry = first_physical
        assert [one["Enclosure Device ID"], one["Slot Number"], one["Firmware state"]] == place
        assert one["Inquiry Data"].startswith(str(inquiry))


TW_CLI = {  # kind of the tables → how many rows, what the first says
    "checkraid-2-c0.show.all.txt": {
        "Unit": (1, ["u0", "RAID-5", "VERIFYING", "-", "16%", "256K", "5587.9", "RiW", "ON"]),
        "VPort": (4, ["p0", "OK", "u0", "1.82 TB", "SAS", 0, "-", "SEAGATE ST32000444SS"]),
    },
    "checkraid-bootc-unitstatus.txt": {
        "Unit": (4, ["u0", "RAID-6", "VERIFYING", "-", "29%(A)", "256K", "16763.7", "RiW", "ON"])
    },
    "checkraid-tw_cli_info_c0_unitstatus.txt": {
        "Unit": (2, ["u0", "RAID-10", "INITIALIZING", "-", "63%", "64K", "1863.02", "W", "-"])
    },
    "checkraid-bohr-info.c0.unitstatus.txt": {
        "Unit": (3, ["u0", "RAID-10", "OK", "-", "-", "256K", "7450.56", "RiW", "ON"])
    },
    "checkraid-1-info.c.drivestatus.txt": {"Port": (16, ["p0", "OK", "u0", "931.51 GB", 1953525168, "S246JDWZ134931"])},
    "checkraid-black-drivestatus.txt": {"Port": (2, ["p0", "OK", "u0", "931.51 GB", 1953525168, "9VPD4HXW"])},
}


@pytest.mark.parametrize("file", TW_CLI)
def test_tw_cli(file: str) -> None:
    tables = {one["kind"]: one["rows"] for one in content("tw_cli", corpus_text(f"raid-tw_cli/{file}"))["tables"]}
    for kind, (count, first) in TW_CLI[file].items():
        assert len(tables[kind]) == count
        assert list(tables[kind][0].values()) == first


def _drives(node: Content, kind: str) -> set[str]:
    own = {str(node["name"])} if node.get("kind") == kind else set()
    return own.union(*(_drives(part, kind) for part in node["parts"]))


SSACLI = {  # title of the first controller, physical drives named, first logical drive in a sentence
    "checkraid-145-physicaldrive.slot1.txt": ("Smart Array P840 in Slot 1 (HBA Mode)", 68, 0),
    "checkraid-issue157-controller.slot0.logicaldrive.all.show.txt": ("Smart Array 6i in Slot 0 (Embedded)", 0, 1),
    "checkraid-hpacucli.interim_recovery_mode.show.txt": ("Smart Array E200i in Slot 0 (Embedded)", 0, 1),
    "netdata-ssacli-P408i-a.txt": ("HPE Smart Array P408i-a SR Gen10 in Slot 0 (Embedded)", 4, 0),
    "netdata-ssacli-P400i-unassigned.txt": ("Smart Array P400i in Slot 0 (Embedded)", 4, 0),
    "glpi-sample1-storage.txt": ("Smart Array E200 in Slot 2", 1, 0),
}


@pytest.mark.parametrize("file", SSACLI)
def test_ssacli(file: str) -> None:
    found = content("ssacli", corpus_text(f"raid-hp/{file}"))
    title, physical, logical = SSACLI[file]
    assert (found["title"], len(_drives(found, "physicaldrive")), len(_drives(found, "logicaldrive"))) == (
        title,
        physical,
        logical,
    )


def _nodes(node: Content) -> list[Content]:
    return [node, *(one for part in node["parts"] for one in _nodes(part))]


def test_ssacli_sentences_are_taken_apart() -> None:
    p840 = _nodes(content("ssacli", corpus_text("raid-hp/checkraid-145-physicaldrive.slot1.txt")))
    assert [one["words"] for one in p840 if one.get("name") == "1I:1:1"] == [
        ["port 1I:box 1:bay 1", "SAS", "6001.1 GB", "OK"]
    ]
    recovering = _nodes(content("ssacli", corpus_text("raid-hp/checkraid-hpacucli.interim_recovery_mode.show.txt")))
    assert [one["words"] for one in recovering if one.get("kind") == "logicaldrive"] == [
        ["136.7 GB", "RAID 5", "Interim Recovery Mode"]
    ]
    e200 = _nodes(content("ssacli", corpus_text("raid-hp/glpi-sample1-storage.txt")))
    assert [one["fields"]["Model"] for one in e200 if one.get("kind") == "physicaldrive"] == [
        "ATA     WDC WD740ADFD-00"
    ]
    p408 = _nodes(content("ssacli", corpus_text("raid-hp/netdata-ssacli-P408i-a.txt")))
    models = [one["fields"]["Model"] for one in p408 if "Model" in one["fields"]]
    assert (len(models), models[0]) == (5, "ATA     MTFDDAK960TCB")
    statuses = parsed("ssacli", corpus_text("raid-hp/checkraid-hpacucli.controller.all.show.status.txt")).inventory
    assert [one.content["title"] for one in statuses] == ["MSA1500 CS in MY STORAGE"] * 2 + [
        "Smart Array P400i in Slot 0 (Embedded)"
    ]


ARCCONF = {  # controller's model, status of the logical devices, drives with a model, the first's
    "checkraid-1-getconfig.txt": ("IBM ServeRAID 8k-l", ["Optimal"], 3, "ST373455SS"),
    "checkraid-issue31-getconfig.txt": ("Adaptec ASR7805Q", ["Optimal"] * 3, 12, "Samsung SSD 840"),
    "checkraid-issue155-getconfig.txt": ("Adaptec 6805E", ["Optimal", "Degraded"], 7, "WD20EFRX-68EUZN0"),
    "checkraid-3-getconfig.txt": ("Adaptec 6405", ["Optimal"], 4, "ST2000NM0011"),
    "netdata-getconfig-pd-current.txt": (None, [], 6, "X422_HCOBE600A10"),
    "netdata-getconfig-ld-old.txt": (None, ["Optimal"], 0, None),
}


@pytest.mark.parametrize("file", ARCCONF)
def test_arcconf(file: str) -> None:
    found = content("arcconf", corpus_text(f"raid-arcconf/{file}"))
    model, statuses, drives, first = ARCCONF[file]
    assert found["Controllers found"] == 1
    assert _at(found, "Controller information", "Controller Model") == model
    logical = found.get("Logical device information", {})
    assert [part["Status of logical device"] for part in logical.values() if isinstance(part, dict)] == statuses
    physical = found.get("Physical Device information", {})
    models = [part["Model"] for part in physical.values() if isinstance(part, dict) and part.get("Model")]
    assert (len(models), models[0] if models else None) == (drives, first)


def test_arcconf_getstatus_is_its_task() -> None:
    found = content("arcconf", corpus_text("raid-arcconf/checkraid-issue190-getstatus.txt"))
    assert found["Logical Device Task"]["Current operation"] == "Build/Verify with fix"
    assert found["Logical Device Task"]["Percentage complete"] == 90


OMREPORT = {  # title, rows, beginning of the first row with anything in it
    "dellhw-chassis-1.ssv.txt": ("Chassis Information", 0, []),
    "dellhw-memory-1.ssv.txt": (
        "Memory Information",
        2,
        [0, "Ok", "A1", "DDR4 - Synchronous Registered (Buffered)", "16384  MB"],
    ),
    "dellhw-batteries-1.ssv.txt": (
        "List of Batteries in the System",
        1,
        [0, "Ok", "Battery", "Ready", "Not Applicable"],
    ),
    "dellhw-controller-1.ssv.txt": (
        "Controller  PERC H730 Mini (Slot Embedded)",
        1,
        [0, "Ok", "PERC H730 Mini", "Embedded", "Ready", "25.5.0.0018"],
    ),
    "dellhw-controller-3.ssv.txt": ("Controller  PERC H730 Mini (Slot Embedded)", 0, []),
    "dellhw-enclosure-1.ssv.txt": (
        "List of Enclosures in the System",
        1,
        ["0:1", "Ok", "Backplane", "Ready", 0, "Not Applicable", "Not Applicable", "3.31"],
    ),
    "dellhw-pdisk-1.ssv.txt": (
        "List of Physical Disks on Controller PERC H730 Mini (Slot Embedded)",
        3,
        ["0:1:0", "Ok", "Physical Disk 0:1:0", "Ready", "Not Applicable", "SATA", "SSD"],
    ),
    "dellhw-vdisk-1.ssv.txt": (
        "List of Virtual Disks in the System",
        2,
        [0, "Ok", "GenericR5_0", "Ready", "Not Assigned", "No", "RAID-5", "743.00 GB (797790175232 bytes)"],
    ),
    "dellhw-vdisk-3.ssv.txt": (
        "List of Virtual Disks in the System",
        1,
        [0, "Ok", "Virtual Disk0", "Ready", "Not Assigned", "No", "RAID-1", "1,117.25 GB (1199638052864 bytes)"],
    ),
    "dellhw-vdisk-5.ssv.txt": (
        "List of Virtual Disks in the System",
        2,
        [0, "Ok", "Virtual Disk0", "Ready", "Not Assigned", "No", "Not Applicable", "RAID-6"],
    ),
    "dellhw-batteries-3.ssv.txt": ("Batteries", 1, [0, "Ok", "System Board CMOS Battery", "Good"]),
}


@for_each("file", OMREPORT)
def test_omreport(file: str) -> None:
    found = content("omreport", corpus_text(f"raid-omreport/{file}"))
    title, count, first = OMREPORT[file]
    rows = [row for section in found["sections"] for row in section["rows"]]
    assert (found["title"], len(rows)) == (title, count)
    assert list(rows[0].values())[: len(first)] == first if rows else first == []


def test_omreport_fields_stand_beside_its_tables() -> None:
    memory = content("omreport", corpus_text("raid-omreport/dellhw-memory-1.ssv.txt"))["sections"]
    assert {key: value for section in memory for key, value in section["fields"].items()}[
        "Installed Capacity"
    ] == "131072  MB"
    chassis = content("omreport", corpus_text("raid-omreport/dellhw-chassis-1.ssv.txt"))["sections"]
    assert chassis[0]["fields"]["Host Name"] == "hostname"
