"""Texts of every tool that discovery reads: those of the corpus where it is here, and short ones of our own."""

from pathlib import Path

from tests.inventory import hosts, raid_hosts
from tests.parsers.corpus import CORPUS

FOLDERS = {
    "storcli": ("raid-storcli",), "megacli": ("raid-megacli",), "ssacli": ("raid-hp",), "arcconf": ("raid-arcconf",),
    "tw_cli": ("raid-tw_cli",), "omreport": ("raid-omreport",), "smartctl": ("smartctl-json", "smartctl-text"), "mdadm": ("mdadm",),
    "mdstat": ("mdstat",), "dmidecode": ("dmidecode",), "lspci": ("lspci",), "lsblk": ("lsblk",), "findmnt": ("findmnt",),
}  # fmt: skip
LVS = """{"report": [{"lv": [
 {"lv_name": "data", "vg_name": "vg", "lv_dm_path": "/dev/mapper/vg-data", "segtype": "raid5", "stripe_size": "65536", "lv_uuid": "a-b"},
 {"lv_name": "thin", "vg_name": "vg", "lv_dm_path": "/dev/mapper/vg-thin", "segtype": "thin", "pool_lv": "pool", "stripe_size": "0"},
 {"lv_name": "[pool_tdata]", "vg_name": "vg", "segtype": "striped", "stripe_size": "131072"}]}]}"""
DMSETUP = "vg-fast: 0 41943040 striped 2 128 8:16 2048 8:32 2048\nvg-safe: 0 8388608 raid raid6_zr 3 64 region_size 1024 3 253:1\n"
ZPOOL = """  pool: tank
 state: DEGRADED
  scan: scrub repaired 0B in 00:00:01 with 0 errors on Sun Jan  1 00:00:01 2023
config:

\tNAME                STATE     READ WRITE CKSUM
\ttank                DEGRADED     0     0     0
\t  raidz2-0          ONLINE       0     0     0
\t    /dev/sda1       ONLINE       0     0     0
\t    /dev/sdb1       ONLINE       0     0     0
\t    /dev/sdc1       ONLINE       0     0     0
\t    /dev/sdd1       ONLINE       0     0     0
\t  raidz2-1          DEGRADED     0     0     0
\t    /dev/sde1       ONLINE       0     0     0
\t    /dev/sdf1       FAULTED      0     0     0
\t    /dev/sdg1       ONLINE       0     0     0
\t    /dev/sdh1       ONLINE       0     0     0
\tlogs
\t  mirror-2          ONLINE       0     0     0
\t    /dev/nvme0n1p1  ONLINE       0     0     0
\t    /dev/nvme1n1p1  ONLINE       0     0     0
\tspares
\t  /dev/sdi1         AVAIL

errors: No known data errors
"""
ZFS = "tank\tfilesystem\t128K\tlz4\ton\tstandard\tall\ton\ntank/db\tfilesystem\t16K\toff\ton\talways\tmetadata\toff\n"
TUNE2FS = """$ tune2fs -l /dev/sda1
tune2fs 1.47.0 (5-Feb-2023)
Filesystem features:      has_journal ext_attr dir_index needs_recovery extent 64bit
Inode size:               256
Block size:               4096
RAID stride:              128
RAID stripe width:        384
"""
XFS_INFO = """$ xfs_info /data
meta-data=/dev/md2               isize=512    agcount=32, agsize=36626304 blks
         =                       sectsz=512   attr=2, projid32bit=1
         =                       crc=1        finobt=1, sparse=1, rmapbt=0
         =                       reflink=1    bigtime=1
data     =                       bsize=4096   blocks=1172006912, imaxpct=5
         =                       sunit=64     swidth=128 blks
naming   =version 2              bsize=4096   ascii-ci=0, ftype=1
log      =internal log           bsize=4096   blocks=521728, version=2
realtime =none                   extsz=4096   blocks=0, rtextents=0
"""
NVME = """{"Devices": [{"DevicePath": "/dev/nvme0n1", "Firmware": "VDV10131", "ModelNumber": "INTEL SSDPE2KX010T8",
 "SerialNumber": "PHLJ0001", "PhysicalSize": 1000204886016, "SectorSize": 512}]}"""
IP = """[{"ifname": "lo", "mtu": 65536, "link_type": "loopback"},
 {"ifname": "eth0", "mtu": 9000, "link_type": "ether", "address": "0c:c4:7a:00:00:01", "parentbus": "pci", "parentdev": "0000:05:00.0"},
 {"ifname": "br0", "mtu": 1500, "link_type": "ether", "address": "0c:c4:7a:00:00:02", "linkinfo": {"info_kind": "bridge"}}]"""
SYSCTL = "net.core.rmem_max = 16777216\nnet.ipv4.tcp_rmem = 4096\t87380\t16777216\nvm.dirty_ratio = 20\nkernel.hostname = secret\n"
OWN = {
    "storcli": raid_hosts.storcli(), "lspci": raid_hosts.LSPCI, "ethtool": raid_hosts.ETHTOOL, "sysfs": raid_hosts.sysfs(), "lvs": LVS,
    "dmsetup": DMSETUP, "zpool": ZPOOL, "zfs": ZFS, "tune2fs": TUNE2FS, "xfs_info": XFS_INFO, "nvme": NVME, "ip": IP, "sysctl": SYSCTL,
    "mdstat": hosts.RAID50_MDSTAT, "machine": hosts.machine(),
    **{one["tool"]: one["stdout"] for one in hosts.guest() if one["stdout"]},
}  # fmt: skip


def texts(tool: str) -> tuple[bytes, ...]:
    """At least one of each tool with the corpus, and of most without."""
    found = [OWN[tool].encode()] if tool in OWN else []
    folders: list[Path] = [CORPUS / name for name in FOLDERS.get(tool, ())]
    return tuple(
        found + [path.read_bytes() for folder in folders if folder.is_dir() for path in sorted(folder.iterdir())]
    )
