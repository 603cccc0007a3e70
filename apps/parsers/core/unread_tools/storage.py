"""Tools that say what a machine's storage is made of, of which the inventory reads others.

The headings are those of the tools' own sources: util-linux, OpenZFS, nvme-cli, LVM2, multipath-tools, hdparm, btrfs-progs,
lshw, inxi, FreeBSD's and macOS' base systems, PowerShell's storage module.
"""

from apps.parsers.core.unread_tools.tool import UnreadTool

_DISKS = "lsblk -J -O -b and smartctl -j -x of each disk"
_AGENT = "or the agent, which reads it itself"
_LSBLK = "lsblk -J -O -b"
_NO_LINUX = "smartctl -j -x of each disk, which other systems than Linux have too"

TOOLS = (
    UnreadTool("zpool import", r"\s*pool: \S", beside=r"^\s*id: \d{5,}$", instead=f"{_LSBLK}, {_AGENT}"),
    UnreadTool(
        "zpool status", r"\s+NAME\s+STATE\s+READ\s+WRITE\s+CKSUM\b", instead="all of zpool status, which is read"
    ),
    UnreadTool("zpool list", r"NAME\s+SIZE\s+ALLOC\s+FREE\s.*\bHEALTH\b", instead=f"{_LSBLK}, {_AGENT}"),
    UnreadTool("zfs list", r"NAME\s+USED\s+AVAIL\s+REFER\s+MOUNTPOINT\b", instead=f"findmnt -J, {_AGENT}"),
    UnreadTool(
        "nvme list -v",
        r"NVM Express (?:Subsystems|Controllers|Namespaces)\s*$",
        instead="nvme list -o json, which is read",
    ),
    UnreadTool("nvme list-subsys", r"nvme-subsys\d+ - NQN=", instead=_DISKS),
    UnreadTool("nvme smart-log", r"Smart Log for NVME device:", instead="smartctl -j -x of the disk"),
    UnreadTool("nvme id-ctrl", r"NVME Identify Controller:", instead="smartctl -j -x of the disk"),
    UnreadTool("nvme id-ns", r"NVME Identify Namespace \d+:", instead="smartctl -j -x of the disk"),
    UnreadTool(
        "lvs, vgs or pvs",
        r"\s*LV\s+VG\s+(?:#Seg\s+)?Attr\b|\s*VG\s+#PV\s+#LV\b|\s*PV\s+VG\s+Fmt\s+Attr\b",
        instead=f"{_LSBLK}, {_AGENT}",
    ),
    UnreadTool(
        "lvs, vgs or pvs",
        r'.*"(?:lv|vg|pv)"\s*:\s*\[',
        beside=r'"(?:lv|vg|pv)_name"\s*:',
        instead=f"{_LSBLK}, {_AGENT}",
    ),
    UnreadTool(
        "lvdisplay, vgdisplay or pvdisplay",
        r"\s*--- (?:Logical volume|Volume group|(?:NEW )?Physical volume)s? ---",
        instead=f"{_LSBLK}, or the agent, which reads lvs itself",
    ),
    UnreadTool(
        "multipath -ll",
        r"(?:\w+: )?\S+ (?:\([\w.-]{8,}\) )?dm-\d+ \S",
        beside=r"^\s*(?:\[)?size=\S+\s?\]?\s?\[?features=",
        instead=f"{_LSBLK}, which shows the multipath devices above their paths",
    ),
    UnreadTool(
        "multipathd show maps json",
        r'.*"(?:maps|path_groups)"\s*:',
        beside=r'"path_groups"\s*:',
        instead=f"{_LSBLK}, which shows the multipath devices above their paths",
    ),
    UnreadTool(
        "sas2ircu or sas3ircu display",
        r".{0,40}\bSAS[23] IR Configuration Utility",
        instead=f"{_DISKS}, or lspci -vmm -nn -k for the controller",
    ),
    UnreadTool(
        "hdparm -I",
        r"(?:CompactFlash )?ATA(?:PI)? .{0,60}device, with (?:non-)?removable media",
        instead="smartctl -j -x of the disk",
    ),
    UnreadTool("hdparm -i", r" ?Model=.{1,60}, FwRev=.{0,20}, SerialNo=", instead="smartctl -j -x of the disk"),
    UnreadTool("fdisk -l", r"\w+ /dev/\S{1,80}?\s?: [\d.,]+ \w+,? \d{4,} \w+(?:,|$)", instead=_DISKS),
    UnreadTool("sfdisk -d", r"label: (?:gpt|dos)\s*$", beside=r"^(?:device: /dev/|/dev/\S+ : start=)", instead=_DISKS),
    UnreadTool("gdisk -l", r"GPT fdisk \(gdisk\) version", instead=_DISKS),
    UnreadTool("parted -l", r"Model: .{1,80} \(\w[\w-]{1,20}\)\s*$", beside=r"^Partition Table: \S", instead=_DISKS),
    UnreadTool(
        "diskutil list",
        r"/dev/disk\d{1,3} \((?:internal|external|synthesized|disk image|virtual)|\s*#:\s+TYPE NAME\s+SIZE\s+IDENTIFIER",
        instead=_NO_LINUX,
    ),
    UnreadTool(
        "diskutil info", r"\s*Device Identifier:\s+disk\d", beside=r"^\s*Device Node:\s+/dev/disk", instead=_NO_LINUX
    ),
    UnreadTool(
        "system_profiler",
        r"(?:NVMExpress|SATA/SATA Express|Serial-ATA|Storage):\s*$",
        beside=r"^\s+(?:BSD Name|Capacity|Device Name): ",
        instead=_NO_LINUX,
    ),
    UnreadTool("gpart list", r"Geom name: \S", beside=r"^(?:state: \w+|scheme: \w+)$", instead=_NO_LINUX),
    UnreadTool("geom disk list", r"Geom name: \S", instead=_NO_LINUX),
    UnreadTool("gpart show", r"=>\s+\d+\s+\d+\s+\S+\s+(?:GPT|MBR|BSD|APM)\b", instead=_NO_LINUX),
    UnreadTool("camcontrol devlist", r"<[^<>]{3,80}>\s+at scbus\d+ target \d+ lun \d+", instead=_NO_LINUX),
    UnreadTool("diskinfo -v", r"\s+\d+\s+# sectorsize\s*$", instead=_NO_LINUX),
    UnreadTool("mfiutil", r"mfi\d+ (?:Physical Drives|Volumes|Configuration|Adapter):", instead="MegaCli or storcli"),
    UnreadTool("iostat -En", r"c\d+t\w+d\d+\s+Soft Errors: \d", instead=_NO_LINUX),
    UnreadTool("format", r"AVAILABLE DISK SELECTIONS:", instead=_NO_LINUX),
    UnreadTool("diskinfo", r"TYPE\s+DISK\s+VID\s+PID\s+SIZE\b", instead=_NO_LINUX),
    UnreadTool(
        "lshw",
        r"\s*\*-(?:disk|volume|cdrom|storage|sata|ide|raid|scsi|sas|nvme|namespace|core|cpu|memory|network)\b(?::\d+)?(?:\s|$)"
        r"|H/W path\s+Device\s+Class\s+Description",
        instead=_DISKS,
    ),
    UnreadTool(
        "lshw -json", r'.*"class"\s*:\s*"(?:disk|system|storage|volume)"', beside=r'"claimed"\s*:', instead=_DISKS
    ),
    UnreadTool("hwinfo --disk", r"\d{1,3}: \w+ \S+: 10600 Disk", instead=_DISKS),
    UnreadTool(
        "inxi",
        r"\s*(?:(?:Drives|Disk):\s+)?(?:Local Storage: total|HDD Total Size|Total Size): ?\S"
        r"|System:\s+(?:Host|Kernel): ?\S",
        instead=_DISKS,
    ),
    UnreadTool("inxi", r"System:\s*$", beside=r"^\s+(?:Host: \S+ )?Kernel: \S", instead=_DISKS),
    UnreadTool(
        "Get-PhysicalDisk or Get-Disk",
        r"(?:Number|DeviceId)\s+Friendly ?Name\s|FriendlyName\s.*\b(?:CanPool|MediaType|OperationalStatus)\b"
        r"|(?:FriendlyName|MediaType|BusType|OperationalStatus)\s+: ",
        beside=r"\b(?:OperationalStatus|Operational Status|HealthStatus|MediaType|CanPool)\b",
        instead=_NO_LINUX,
    ),
    UnreadTool(
        "wmic diskdrive",
        r"(?=.*\b(?:Model|Caption|SerialNumber)\b)(?=.*\b(?:InterfaceType|DeviceID|MediaType)\b)[\w ]+$",
        beside=r"\\\\\.\\PHYSICALDRIVE\d|PHYSICALDRIVE",
        instead=_NO_LINUX,
    ),
    UnreadTool("diskpart", r"\s*Disk ###\s+Status\s+Size\b|DISKPART>", instead=_NO_LINUX),
    UnreadTool(
        "btrfs filesystem show", r"Label: (?:none|'.{0,200}')\s+uuid: [0-9a-f-]{36}", instead=f"{_LSBLK} and findmnt -J"
    ),
    UnreadTool(
        "btrfs filesystem usage or df",
        r"Overall:\s*$|(?:Data|Metadata|System), ?(?:single|DUP|RAID\w+): ?(?:total|Size)[=:]",
        beside=r"^\s+Device (?:size|allocated):|total=\S+, used=",
        instead=f"{_LSBLK} and findmnt -J",
    ),
    UnreadTool("btrfs device stats", r"\[/dev/\S+\]\.write_io_errs\s", instead=f"{_LSBLK} and findmnt -J"),
    UnreadTool("blkid", r"DEVNAME=/dev/\S", beside=r"^(?:TYPE|UUID|ID_FS_TYPE)=", instead=_LSBLK),
    UnreadTool("blkid", r"device\s+fs_type\s+label\s+mount point\s+UUID", instead=_LSBLK),
    UnreadTool("blkid", r'/dev/\S+: (?:[\w-]{1,30}="[^"]{0,200}" ?){1,30}\s*$', instead=_LSBLK),
    UnreadTool(
        "lscpu",
        r"\w+:\s+(?:x86_64|aarch64|i\d86|arm\w*|ppc\w*|s390x|riscv\w*|loongarch\w*)\s*$|CPU\(s\):\s+\d",
        beside=r"^\s*CPU\(s\):\s+\d",
        instead="dmidecode, or the agent",
    ),
    UnreadTool("lscpu", r'.*"lscpu"\s*:\s*\[', instead="dmidecode, or the agent"),
    UnreadTool(
        "megaclisas-status",
        r"-- (?:Controller|Array|Disk|Unconfigured Disk) informations? --",
        instead="MegaCli -AdpAllInfo, -LDPDInfo and -PDList -aALL, or storcli /call show all J",
    ),
    UnreadTool(
        "lsscsi", r"\[(?:\d+:){3}\w+\]\s+(?:disk|cd/dvd|enclosu|storage|tape|mediumx|process)\s", instead=_DISKS
    ),
    UnreadTool("smartctl --scan", r"/dev/\S+ -d \S+ # /dev/\S", instead="smartctl -j -x of each disk"),
    UnreadTool("mount", r"\S+ on /\S* type \w[\w.]* \(r[wo]\b", instead="findmnt -J"),
    UnreadTool("/proc/mounts", r"\S+ /\S* [a-z][\w.]* r[wo](?:,\S*)? \d \d\s*$", instead="findmnt -J"),
    UnreadTool(
        "/etc/fstab",
        r"(?:UUID=|LABEL=|/dev/)\S+\s+(?:/\S*|none|swap)\s+\w+\s+\S+(?:\s+\d\s+\d)?\s*$",
        instead="findmnt -J",
    ),
    UnreadTool(
        "esxcli storage core device list", r"\s+Display Name: .", beside=r"^\s+Multipath Plugin: ", instead=_NO_LINUX
    ),
    UnreadTool("xfs_info", r"meta-data=\S+\s+isize=\d", instead="the agent, which asks for it itself"),
    UnreadTool(
        "tune2fs -l or dumpe2fs",
        r"Filesystem volume name:\s+\S",
        beside=r"^Filesystem magic number:",
        instead="the agent, which asks for it itself",
    ),
    UnreadTool(
        "/proc/cpuinfo",
        r"processor\s*: \d+\s*$",
        beside=r"^(?:model name|vendor_id|BogoMIPS)\s*:",
        instead="dmidecode, or the agent",
    ),
    UnreadTool("/etc/os-release", r"(?:PRETTY_NAME|NAME)=\S", beside=r"^(?:VERSION_ID|ID)=\S", instead="the agent"),
    UnreadTool("ethtool", r"Settings for [\w.@-]{1,20}:\s*$", instead="the agent, which asks for it itself"),
    UnreadTool(
        "ip link or ip address",
        r"\d{1,4}: [\w.@-]{1,30}: <[A-Z_,-]{2,200}> mtu \d",
        instead="the agent, which asks for it itself",
    ),
    UnreadTool(
        "dmsetup table",
        r"[\w.+-]{1,100}: \d{1,18} \d{1,18} (?:linear|striped|raid|crypt|mirror|thin|thin-pool|multipath) ",
        instead=_LSBLK,
    ),
    UnreadTool(
        "dmesg",
        r"\[\s*\d{1,9}\.\d{6}\] \S",
        beside=r"^\[\s*\d{1,9}\.\d{6}\] (?:Linux version|(?:sd|scsi|ata|nvme|pci|usb|md|mpt\d?sas|megaraid)[\w /:.-]{0,40}:)",
        instead=f"{_DISKS}, which tell what the kernel found",
    ),
    UnreadTool("cryptsetup luksDump", r"LUKS header information\b", instead=_LSBLK),
    UnreadTool("udevadm info", r"P: /devices/\S", beside=r"^E: \w+=", instead=_LSBLK),
)
