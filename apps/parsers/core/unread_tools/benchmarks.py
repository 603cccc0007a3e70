"""Benchmarks of disks, file systems, databases and networks whose results are not read.

Each is known by words that only it prints near the top: its name with a version, or the heading of its results.
"""

from apps.parsers.core.unread_tools.tool import UnreadTool

_TABLE = "its figures as a table (CSV), whose columns are then named"
_FIO = "the output of fio itself (--output-format=json)"

TOOLS: tuple[UnreadTool, ...] = (
    # disks and file systems
    UnreadTool(
        "CrystalDiskMark",
        r"\s*(?:Shizuku Edition )?CrystalDiskMark \d|\s*(?:Sequential|Random) (?:Read|Write)[^:]{0,20} \(Q= *\d+,T= *\d+\) *:"
        r"|\s*(?:SEQ|RND) +\d+[KM]iB \(Q= *\d+, T= *\d+\): +[\d.]+ MB/s",
        instead=_TABLE,
    ),
    UnreadTool("KDiskMark", r"\s*KDiskMark \(\d", instead=_TABLE),
    UnreadTool(
        "DiskSpd",
        r"Command Line: \S*diskspd|Results for timespan \d+:|\s*timespan: +\d+\s*$|thread \| +bytes +\| +I/Os +\|",
        beside=r"^(?:Input parameters:|actual test time:|Total IO\b|Command Line: \S*diskspd|thread \| +bytes)",
        instead=_TABLE,
    ),
    UnreadTool(
        "DiskSpd",
        r"(?:<\?xml .{0,80}\?>)?\s*<Results>",
        beside=r"<(?:TestTimeSeconds|TimeSpan|Profile)>",
        instead=_TABLE,
    ),
    UnreadTool(
        "elbencho",
        r"OPERATION +RESULT TYPE +FIRST DONE +LAST DONE|ISO [Dd]ate,(?:[Ll]abel,)?(?:Phase,RuntimeMS|path type),|elbencho\b.{0,20}\d\.\d",
        instead=_TABLE,
    ),
    UnreadTool("fs_mark", r"#?\s*fs_mark +-|\s*FSUse%\s+Count\s+Size\s+Files/sec\s", instead=_TABLE),
    UnreadTool(
        "IOR",
        r"IOR-\d\.\d|Operation +Max\(MiB\) +Min\(MiB\)|access\s+bw\(MiB/s\)\s|Max (?:Write|Read): +[\d.]+ MiB/sec \(",
        instead=_TABLE,
    ),
    UnreadTool(
        "mdtest",
        r"mdtest-\d\.\d|-- started at .* --\s*$|SUMMARY(?: (?:rate|time))?.{0,20}: \(of \d+ iterations\)",
        beside=r"^(?:mdtest-\d|SUMMARY)",
        instead=_TABLE,
    ),
    UnreadTool(
        "tiobench",
        r"Unit information\s*$|Identifier +Size +Size +Thr +Rate +\(CPU%\)|Tiotest results for \d+ concurrent io threads:",
        beside=r"^(?:File size = megabytes|Tiotest results|Identifier +Size)",
        instead=_TABLE,
    ),
    UnreadTool(
        "dbench or tbench",
        r"[dt]bench version \d|\s*\d+ +\d+ +[\d.]+ MB/sec +(?:warmup|execute|cleanup) +\d+ sec|Throughput [\d.]+ MB/sec .*\b\d+ procs\b",
        instead=_TABLE,
    ),
    UnreadTool(
        "ddrescue", r"GNU ddrescue \d|# (?:Mapfile|Rescue Logfile)\. Created by GNU ddrescue|\s*ipos: +\d", instead=""
    ),
    UnreadTool(
        "Filebench",
        r"Filebench Version \d|\d+\.\d{3}: IO Summary: +\d|\d+\.\d{3}: Per-Operation Breakdown",
        instead=_TABLE,
    ),
    UnreadTool("Blogbench", r"Nb blogs\s+R articles\s+W articles|Final score for (?:writes|reads) *:", instead=_TABLE),
    UnreadTool("PostMark", r"PostMark v\d|pm>", beside=r"PostMark v\d|seconds of transactions", instead=_TABLE),
    UnreadTool("compilebench", r"(?:intial|initial) create total runs \d", instead=_TABLE),
    UnreadTool("f3write or f3read", r"F3 (?:write|read|probe) \d", instead=_TABLE),
    UnreadTool("HD Tune", r"HD Tune(?: Pro)?\b.{0,80}(?:Benchmark|File Benchmark|Random Access)", instead=_TABLE),
    UnreadTool("AS SSD Benchmark", r"\s*AS SSD Benchmark\b", instead=_TABLE),
    UnreadTool("ATTO Disk Benchmark", r"\s*ATTO Disk Benchmark\b", instead=_TABLE),
    UnreadTool(
        "WinSAT", r"Windows System Assessment Tool|> Disk +(?:Random|Sequential) +\d|\s*<WinSAT>", instead=_TABLE
    ),
    UnreadTool("SQLIO", r"sqlio v\d", instead=_TABLE),
    UnreadTool("Iometer", r"'Test Type,Test Description", instead=_TABLE),
    UnreadTool(
        "rados bench",
        r"hints = \d|Maintaining \d+ concurrent (?:writes|reads) of \d+ bytes|\s*sec Cur ops +started",
        instead=_TABLE,
    ),
    UnreadTool("rbd bench", r"bench +type \w+ io_size \d+ io_threads \d", instead=_TABLE),
    UnreadTool(
        "warp",
        r"warp: (?:Benchmark data written|Preparing|Starting|Cleanup|Clearing|Connect|Server|Throughput)"
        r"|(?:Operation|Report): (?:PUT|GET|DELETE|STAT|LIST|MULTIPART|Total)\b",
        beside=r"\bobj/s\b|^warp: Benchmark data written",
        instead=_TABLE,
    ),
    UnreadTool("pg_test_fsync", r"Compare file sync methods using (?:one|two) \d+kB write", instead=_TABLE),
    # collections of several benchmarks
    UnreadTool("yabs", r"#\s+Yet-Another-Bench-Script\s+#|fio Disk Speed Tests \(Mixed R/W 50/50\)", instead=_FIO),
    UnreadTool("yabs", r'.*"speed_r"\s*:\s*\d', beside=r'"iops_r"\s*:', instead=_FIO),
    UnreadTool(
        "Phoronix Test Suite",
        r"\s*<!--\s*Phoronix Test Suite v|\s*<PhoronixTestSuite>|Phoronix Test Suite v?\d",
        instead=_TABLE,
    ),
    UnreadTool("UnixBench", r"\s*(?:#.{0,80})?BYTE UNIX Benchmarks \(Version|\s*UnixBench \(\d", instead=_TABLE),
    UnreadTool("Geekbench", r"Geekbench \d", instead=""),
    UnreadTool("stress-ng", r"stress-ng: (?:info|metrc|debug|warn|fail|error): +\[\d", instead=_TABLE),
    # databases
    UnreadTool(
        "pgbench",
        r"pgbench \(|transaction type: ",
        beside=r"^(?:tps = |number of transactions actually processed: |pgbench \()",
        instead=_TABLE,
    ),
    UnreadTool("YCSB", r"\[OVERALL\], RunTime\(ms\), \d", instead=_TABLE),
    UnreadTool("HammerDB", r"HammerDB (?:CLI )?v\d", instead=_TABLE),
    # networks
    UnreadTool("nuttcp", r"\s*[\d.]+ MB / +[\d.]+ sec = +[\d.]+ Mbps", instead=_TABLE),
    UnreadTool("ttcp", r"ttcp-[tr]: ", beside=r"^ttcp-[tr]: \d+ (?:bytes in|buf)", instead=_TABLE),
    UnreadTool(
        "qperf",
        r"(?:tcp|udp|sctp|sdp|rds|rc|uc|ud|xrc)_\w*(?:bw|lat|mr):\s*$",
        beside=r"^\s+(?:bw|latency|msg_rate)\s+=",
        instead=_TABLE,
    ),
    UnreadTool("sockperf", r"sockperf: (?:== version|\[|Summary|Test)", instead=_TABLE),
    UnreadTool(
        "perftest (ib_send_bw and others)",
        r"\s*(?:RDMA_)?(?:Send|Write|Read|Atomic)\b.{0,40} (?:BW|Latency|Bidirectional) ?(?:BW )?Test",
        beside=r"#bytes\s+#iterations",
        instead=_TABLE,
    ),
    UnreadTool("Speedtest", r"\s*Speedtest by Ookla|Retrieving speedtest\.net configuration", instead=""),
)
