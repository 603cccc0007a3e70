"""One text or more of every format, to be bent: written here after each tool's own layout, and the fixtures."""

from functools import cache
from pathlib import Path

from apps.parsers.core.registry import LEAST, RECOGNISED, Format
from apps.parsers.core.source_text import SourceText
from tests.parsers.wrappings import MARKS, PAGES, STRINGS, marked

_FIXTURES = Path(__file__).parent / "fixtures"
_MOST_BYTES = 20_000
_MOST_FIXTURES = 3

TEXTS = {
    "bonnie": """\
              -------Sequential Output-------- ---Sequential Input-- --Random--
              -Per Char- --Block--- -Rewrite-- -Per Char- --Block--- --Seeks---
Machine    MB K/sec %CPU K/sec %CPU K/sec %CPU K/sec %CPU K/sec %CPU  /sec %CPU
host3    2000 24317 98.1 61822 33.0 22408 12.5 21980 87.2 70713  9.1 389.2  1.0
""",
    "dd": """\
$ dd if=/dev/zero of=/mnt/t/x bs=1M count=1024 oflag=direct
1024+0 records in
1024+0 records out
1073741824 bytes (1.1 GB, 1.0 GiB) copied, 5.94312 s, 181 MB/s
""",
    "dd in scripts": """\
 I/O Speed(1st run) : 252 MB/s
 I/O Speed(2nd run) : 1.1 GB/s
dd: sequential write speed
    1st run:    858.31 MiB/s
""",
    "hdparm": """\
/dev/sda:
 Timing cached reads:   3402 MB in  2.00 seconds = 1701.33 MB/sec
 Timing buffered disk reads: 546 MB in  3.01 seconds = 181.40 MB/sec
""",
    "ioping": """\
4 KiB <<< /mnt/t (ext4 /dev/sda1 931.5 GiB): request=1 time=211.3 us (warmup)
4 KiB <<< /mnt/t (ext4 /dev/sda1 931.5 GiB): request=2 time=301.0 us

--- /mnt/t (ext4 /dev/sda1 931.5 GiB) ioping statistics ---
9 requests completed in 2.71 ms, 36 KiB read, 3.32 k iops, 13.0 MiB/s
generated 10 requests in 9.00 s, 40 KiB, 1 iops, 4.44 KiB/s
min/avg/max/mdev = 211.3 us / 301.0 us / 402.9 us / 51.2 us
""",
    "iperf2": """\
------------------------------------------------------------
Client connecting to 10.0.0.8, TCP port 5001
TCP window size: 85.0 KByte (default)
------------------------------------------------------------
[  3] local 10.0.0.7 port 41212 connected with 10.0.0.8 port 5001
[ ID] Interval       Transfer     Bandwidth
[  3]  0.0- 1.0 sec   112 MBytes   941 Mbits/sec
[  3]  0.0-10.0 sec  1.10 GBytes   941 Mbits/sec
""",
    "iperf2 csv": "20240102030405,10.0.0.7,41212,10.0.0.8,5001,3,0.0-10.0,1176502272,941197312\n",
    "iperf3": """\
iperf 3.12
Connecting to host 10.0.0.8, port 5201
[  5] local 10.0.0.7 port 41212 connected to 10.0.0.8 port 5201
[ ID] Interval           Transfer     Bitrate         Retr  Cwnd
[  5]   0.00-1.00   sec   112 MBytes   941 Mbits/sec    0    341 KBytes
- - - - - - - - - - - - - - - - - - - - - - - - -
[ ID] Interval           Transfer     Bitrate         Retr
[  5]   0.00-10.00  sec  1.10 GBytes   942 Mbits/sec    3             sender
[  5]   0.00-10.04  sec  1.09 GBytes   938 Mbits/sec                  receiver

iperf Done.
""",
    "iperf3 json": """\
{"start": {"connected": [{"socket": 5, "local_host": "10.0.0.7", "remote_host": "10.0.0.8", "remote_port": 5201}],
 "version": "iperf 3.12", "timestamp": {"timesecs": 1700000000}, "connecting_to": {"host": "10.0.0.8", "port": 5201},
 "test_start": {"protocol": "TCP", "num_streams": 1, "blksize": 131072, "duration": 10, "reverse": 0}},
 "intervals": [{"streams": [{"socket": 5, "start": 0, "end": 1.0, "seconds": 1.0, "bytes": 117440512,
   "bits_per_second": 939524096.0, "retransmits": 0}], "sum": {"start": 0, "end": 1.0, "seconds": 1.0,
   "bytes": 117440512, "bits_per_second": 939524096.0, "sender": true}}],
 "end": {"streams": [{"sender": {"socket": 5, "seconds": 10.0, "bytes": 1176502272, "bits_per_second": 941201817.6},
   "receiver": {"socket": 5, "seconds": 10.0, "bytes": 1174405120, "bits_per_second": 939524096.0}}],
  "sum_sent": {"start": 0, "end": 10.0, "seconds": 10.0, "bytes": 1176502272, "bits_per_second": 941201817.6, "retransmits": 3},
  "sum_received": {"start": 0, "end": 10.0, "seconds": 10.0, "bytes": 1174405120, "bits_per_second": 939524096.0},
  "cpu_utilization_percent": {"host_total": 4.1, "remote_total": 11.2}}}
""",
    "netperf": """\
MIGRATED TCP STREAM TEST from 0.0.0.0 () port 0 AF_INET to 10.0.0.8 () port 0 AF_INET
Recv   Send    Send
Socket Socket  Message  Elapsed
Size   Size    Size     Time     Throughput
bytes  bytes   bytes    secs.    10^6bits/sec

 87380  16384  16384    10.03     941.28
""",
    "sysbench": """\
sysbench 1.0.20 (using system LuaJIT 2.1.0-beta3)

Running the test with following options:
Number of threads: 4

Extra file open flags: (none)
128 files, 16MiB each
2GiB total file size
Block size 16KiB
Number of IO requests: 0
Read/Write ratio for combined random IO test: 1.50
Doing random r/w test

File operations:
    reads/s:                      1203.11
    writes/s:                     802.07
    fsyncs/s:                     2566.50

Throughput:
    read, MiB/s:                  18.80
    written, MiB/s:               12.53

General statistics:
    total time:                          10.0312s
    total number of events:              45731

Latency (ms):
         min:                                    0.00
         avg:                                    0.87
         max:                                   31.90
         95th percentile:                        3.02
         sum:                                39812.05
""",
    "vdbench summary": """\
Copyright (c) 2000, 2018, Oracle and/or its affiliates. All rights reserved.
Vdbench summary report, created 10:11:12 Jan 02 2024 CET

Jan 02, 2024    interval        i/o   MB/sec   bytes   read     resp     read    write     read    write     resp  queue  cpu%  cpu%
                               rate  1024**2     i/o    pct     time     resp     resp      max      max   stddev  depth sys+u   sys
10:11:14.050           1    1203.00     4.70    4096 100.00    0.811    0.811    0.000    9.102    0.000    0.420    1.0   3.1   1.2
10:11:15.050           2    1190.00     4.65    4096 100.00    0.820    0.820    0.000    8.002    0.000    0.410    1.0   3.0   1.1
10:11:15.051     avg_2-2    1190.00     4.65    4096 100.00    0.820    0.820    0.000    8.002    0.000    0.410    1.0   3.0   1.1
""",
    "vdbench flatfile": """\
* Vdbench flatfile
tod timestamp Run Interval reqrate rate MB/sec bytes/io read% resp read_resp write_resp resp_max read_max write_max resp_std
10:11:14.050 01/02/2024-10:11:14-CET rd1 1 max 1203.0000 4.6992 4096 100.00 0.8110 0.8110 0.0000 9.1020 9.1020 0.0000 0.4200
10:11:15.051 01/02/2024-10:11:15-CET rd1 avg_2-2 max 1190.0000 4.6484 4096 100.00 0.8200 0.8200 0.0000 8.0020 8.0020 0.0 0.41
""",
    "vdbench histogram": """\
  min(ms) <    max(ms)        count      %%  cumulative%%  '+': Individual%; '+-': Cumulative%

reads:
    0.000 <       0.020          11   0.1000       0.1000
    0.020 <       0.040         311   2.8000       2.9000 +
    0.040 <         max       10000  97.1000     100.0000 ++++++++++
""",
    "time cp": """\
$ time cp /mnt/a/big.iso /mnt/b/

real\t1m3.410s
user\t0m0.050s
sys\t0m4.122s
""",
    "mdadm": """\
/dev/md0:
           Version : 1.2
     Creation Time : Tue Jan  2 03:04:05 2024
        Raid Level : raid5
        Array Size : 2929894400 (2794.17 GiB 3000.21 GB)
     Used Dev Size : 976631466 (931.39 GiB 1000.07 GB)
      Raid Devices : 4
     Total Devices : 4
             State : clean
        Chunk Size : 512K
              Name : host3:0
    Number   Major   Minor   RaidDevice State
       0       8       17        0      active sync   /dev/sdb1
       1       8       33        1      active sync   /dev/sdc1
       2       8       49        2      active sync   /dev/sdd1
       3       8       65        3      active sync   /dev/sde1
""",
    "mdstat": """\
Personalities : [raid1] [raid6] [raid5] [raid4]
md0 : active raid5 sde1[4] sdd1[2] sdc1[1] sdb1[0]
      2929894400 blocks super 1.2 level 5, 512k chunk, algorithm 2 [4/4] [UUUU]
      [==>..................]  resync = 12.6% (37043392/292945152) finish=127.5min speed=33440K/sec
      bitmap: 0/8 pages [0KB], 65536KB chunk

unused devices: <none>
""",
    "lsblk": """\
{"blockdevices": [{"name": "sda", "maj:min": "8:0", "rm": false, "size": "931.5G", "ro": false, "type": "disk",
 "mountpoint": null, "children": [{"name": "sda1", "maj:min": "8:1", "size": "931.5G", "type": "part", "mountpoint": "/"}]}]}
NAME   MAJ:MIN RM   SIZE RO TYPE  MOUNTPOINT
sda      8:0    0 931.5G  0 disk
`-sda1   8:1    0 931.5G  0 part  /
""",
    "findmnt": """\
{"filesystems": [{"target": "/", "source": "/dev/sda1", "fstype": "ext4", "options": "rw,relatime", "children": [
 {"target": "/proc", "source": "proc", "fstype": "proc", "options": "rw,nosuid"}]}]}
TARGET SOURCE    FSTYPE OPTIONS
/      /dev/sda1 ext4   rw,relatime
`-/proc proc     proc   rw,nosuid
""",
    "smartctl json": """\
{"json_format_version": [1, 0], "smartctl": {"version": [7, 2], "argv": ["smartctl", "-j", "-a", "/dev/sda"], "exit_status": 0},
 "device": {"name": "/dev/sda", "info_name": "/dev/sda [SAT]", "type": "sat", "protocol": "ATA"},
 "model_name": "EXAMPLE DISK", "serial_number": "X1", "firmware_version": "0001", "user_capacity": {"blocks": 1953525168, "bytes": 1000204886016},
 "rotation_rate": 7200, "smart_status": {"passed": true}, "power_on_time": {"hours": 12345}, "temperature": {"current": 31}}
""",
    "smartctl": """\
smartctl 7.2 2020-12-30 r5155 [x86_64-linux-5.10.0] (local build)
Copyright (C) 2002-20, Bruce Allen, Christian Franke, www.smartmontools.org

=== START OF INFORMATION SECTION ===
Device Model:     EXAMPLE DISK
Serial Number:    X1
Firmware Version: 0001
User Capacity:    1,000,204,886,016 bytes [1.00 TB]
Sector Size:      512 bytes logical/physical
Rotation Rate:    7200 rpm

=== START OF READ SMART DATA SECTION ===
SMART overall-health self-assessment test result: PASSED
ID# ATTRIBUTE_NAME          FLAG     VALUE WORST THRESH TYPE      UPDATED  WHEN_FAILED RAW_VALUE
  9 Power_On_Hours          0x0032   091   091   000    Old_age   Always       -       12345
""",
    "zpool": "  pool: depot\n state: ONLINE\nconfig:\n\n\tNAME    STATE     READ WRITE CKSUM\n\tdepot   ONLINE       0     0     0\n"
    "\t  sdj1  ONLINE       0     0     0\n\nerrors: No known data errors\n",
    "nvme": """\
Node             SN                   Model            Namespace Usage                      Format           FW Rev
---------------- -------------------- ---------------- --------- -------------------------- ---------------- --------
/dev/nvme2n1     QQ20001              OWN FLASH 2TB    1           1.02  TB /   2.00  TB    512   B +  0 B   7B1
""",
    "lspci": """\
00:1f.2 SATA controller [0106]: Example Corporation 6 Series SATA AHCI Controller [8086:1c02] (rev 05) (prog-if 01 [AHCI 1.0])
\tSubsystem: Example Inc. Device [1043:844d]
\tKernel driver in use: ahci

03:00.0 RAID bus controller [0104]: Example Logic MegaRAID SAS 2208 [Thunderbolt] [1000:005b] (rev 01)
\tKernel driver in use: megaraid_sas
""",
    "dmidecode": """\
# dmidecode 3.3
SMBIOS 2.8 present.

Handle 0x0001, DMI type 1, 27 bytes
System Information
\tManufacturer: Example
\tProduct Name: Server 1
\tSerial Number: Not Specified

Handle 0x0011, DMI type 17, 40 bytes
Memory Device
\tSize: 16384 MB
\tType: DDR4
\tSpeed: 2400 MT/s
""",
    "storcli json": """\
{"Controllers": [{"Command Status": {"CLI Version": "007.1211", "Controller": 0, "Status": "Success", "Description": "None"},
 "Response Data": {"Product Name": "Example RAID 9361", "Serial Number": "S1", "FW Version": "4.680", "VD LIST": [{"DG/VD": "0/0", "TYPE": "RAID5",
  "State": "Optl", "Access": "RW", "Consist": "Yes", "Cache": "RWBD", "Size": "13.972 TB", "Name": ""}],
  "PD LIST": [{"EID:Slt": "252:0", "DID": 8, "State": "Onln", "DG": 0, "Size": "3.637 TB", "Intf": "SATA", "Med": "HDD", "Model": "EXAMPLE"}]}}]}
""",
    "storcli text": """\
CLI Version = 007.1211.0000.0000 Nov 07, 2019
Controller = 0
Status = Success
Description = Show Virtual Drives Success

Virtual Drives :
==============

--------------------------------------------------------------
DG/VD TYPE  State Access Consist Cache Cac sCC      Size Name
--------------------------------------------------------------
0/0   RAID5 Optl  RW     Yes     RWBD  -   ON  13.972 TB
--------------------------------------------------------------
""",
    "megacli": """\
Adapter 0 -- Virtual Drive Information:
Virtual Drive: 0 (Target Id: 0)
Name                :
RAID Level          : Primary-5, Secondary-0, RAID Level Qualifier-3
Size                : 13.972 TB
State               : Optimal
Strip Size          : 256 KB
Number Of Drives    : 5
Default Cache Policy: WriteBack, ReadAheadNone, Direct, No Write Cache if Bad BBU

Exit Code: 0x00
""",
    "omreport": """\
Controller
ID;Status;Name;Slot ID;State;Firmware Version
0;Ok;EXAMPLE H700 Integrated;Embedded;Ready;12.10.1-0001

Virtual Disks
ID;Status;Name;State;Layout;Size;Device Name;Bus Protocol;Media;Read Policy;Write Policy;Stripe Element Size
0;Ok;Virtual Disk0;Ready;RAID-5;1,862.50 GB (1999844147200 bytes);/dev/sda;SAS;HDD;Adaptive Read Ahead;Write Back;64 KB
""",
    "tw_cli": """\
Unit  UnitType  Status         %RCmpl  %V/I/M  Stripe  Size(GB)  Cache  AVrfy
------------------------------------------------------------------------------
u0    RAID-5    OK             -       -       64K     1396.95   ON     OFF

Port   Status           Unit   Size        Blocks        Serial
---------------------------------------------------------------
p0     OK               u0     465.76 GB   976773168     X1
p1     OK               u0     465.76 GB   976773168     X2
""",
    "ssacli": """\
Smart Array P410i in Slot 0 (Embedded)    (sn: 5001438000000000)

   array A (SAS, Unused Space: 0  MB)

      logicaldrive 1 (136.7 GB, RAID 1, OK)

      physicaldrive 1I:1:1 (port 1I:box 1:bay 1, SAS, 146 GB, OK)
      physicaldrive 1I:1:2 (port 1I:box 1:bay 2, SAS, 146 GB, OK)

Smart Array P400 in Slot 2

   array A (SAS, Unused Space: 0 MB)

      logicaldrive 1 (136.7 GB, RAID 1, OK)
""",
    "arcconf": """\
Controllers found: 1
----------------------------------------------------------------------
Controller information
----------------------------------------------------------------------
   Controller Status                        : Optimal
   Controller Model                         : Example 5805
   Controller Serial Number                 : S1
----------------------------------------------------------------------
Logical device information
----------------------------------------------------------------------
Logical device number 0
   Logical device name                      : data
   RAID level                               : 5
   Status of logical device                 : Optimal
   Size                                     : 2859000 MB
   Stripe-unit size                         : 256 KB
----------------------------------------------------------------------
Physical Device information
----------------------------------------------------------------------
      Device #0
         Device is a Hard drive
         State                              : Online
         Model                              : EXAMPLE
""",
    "ioping json": """\
[{"timestamp": 1700000000.1, "target": {"path": "/mnt/t", "fstype": "ext4", "device": "/dev/sda1", "device_size": 1000204886016},
 "stat": {"count": 10, "size": 40960, "time": 3010000, "iops": 3322.2, "bps": 13607940.2,
  "min": 211300, "avg": 301000.5, "max": 402900, "mdev": 51200.1},
 "load": {"count": 10, "size": 40960, "time": 10000000000, "iops": 1, "bps": 4096}}]
""",
    "table": """\
size\twrite MB/s\tread MB/s
64\t181.4\t190.2
128\t180.9\t189.7
256\t178.0\t188.1
""",
}


@cache
def seeds(one: Format) -> tuple[bytes, ...]:
    """What the format says is its own: the texts above, and some small fixtures."""
    written = [text.encode() for text in TEXTS.values()]
    sure = RECOGNISED if one.kind != "table" else LEAST
    mine = [data for data in written if one.looks_like(SourceText(data)) >= sure]
    fixtures = [data for data in _fixtures() if one.looks_like(SourceText(data)) >= sure]
    return (*mine, *fixtures[:_MOST_FIXTURES])


@cache
def wrapped() -> tuple[bytes, ...]:
    """One of those texts in each wrapping, and one behind the times of a log."""
    texts = list(TEXTS.values())
    pages = tuple(wrap(texts[number % len(texts)]).encode() for number, wrap in enumerate([*PAGES, *STRINGS]))
    pages += tuple(marked(text, mark).encode() for text, mark in zip(texts, MARKS, strict=False))
    return (*pages, "".join(f"2023-05-04T10:11:12Z {line}\n" for line in texts[0].splitlines()).encode())


@cache
def _fixtures() -> tuple[bytes, ...]:
    paths = [path for path in _FIXTURES.rglob("*") if path.is_file() and not path.name.endswith(".expected.json")]
    texts = sorted(
        (path.read_bytes() for path in paths if path.stat().st_size <= _MOST_BYTES), key=lambda data: (len(data), data)
    )
    return tuple(texts)
