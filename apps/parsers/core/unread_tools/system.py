"""Tools that say what a host was doing (vmstat, sar, df, top …): their outputs look like tables of figures.

They lie beside results in every old folder. They are known by the headings that the tools print in the first lines
(procps-ng, sysstat, coreutils, files of the kernel below /proc, tests of sysbench other than fileio).
"""

from apps.parsers.core.unread_tools.tool import UnreadTool

TOOLS = (
    UnreadTool("vmstat", r"procs -+ ?memory|\s*r\s+b\s+(?:w\s+)?(?:swpd|avm)\s+fre"),
    UnreadTool(
        "sysstat (iostat, sar, mpstat)",
        r"Linux \S+ \(\S+\)\s+\d+[-/.]\d+[-/.]\d+\b|avg-cpu:\s+%user|Device:?\s.*(?:%util|svctm|rrqm/s|_read/s)"
        r"|(?:\d\d:\d\d:\d\d(?: [AP]M)?|Average:)\s+(?:CPU|DEV|IFACE|tps|kbmemfree|runq-sz|proc/s|pgpgin/s)\b",
    ),
    UnreadTool("df", r"\S.*\s(?:I?Use|Verw|Uti|Uso|Исп\w*)%\s|Filesystem\s.*\s(?:Capacity|Mounted on)"),
    UnreadTool("free", r"\s+total\s+used\s+free\s+(?:shared|buff)"),
    UnreadTool("top", r"top - \d\d:\d\d:\d\d up |last pid:\s+\d+;|\s*PID\s+USER(?:NAME)?\s+(?:PR|PRI|THR)\b"),
    UnreadTool("ps", r"(?:USER|UID|F S UID|F\s+UID)\s+PID\s+(?:%CPU|PPID|C)\b|\s*PID\s+TTY\s+(?:STAT\s+)?TIME\b"),
    UnreadTool("/proc/meminfo", r"MemTotal:\s+\d+ kB"),
    UnreadTool("/proc/diskstats", r"\s*\d+\s+\d+ (?:loop|ram|sr|sd|hd|vd|xvd|nvme|dm-|md|mmcblk)\w*(?: \d+){11}"),
    UnreadTool("/proc/partitions", r"major\s+minor\s+#blocks\s+name"),
    UnreadTool("/proc/net/dev", r"Inter-\|\s+Receive\b"),
    UnreadTool("/proc/slabinfo", r"slabinfo - version"),
    UnreadTool("/proc/interrupts", r"\s+CPU0(?:\s+CPU\d+)*\s*$"),
    UnreadTool("netstat", r"Kernel Interface table|Active Internet connections"),
    UnreadTool("du", r"\d+(?:[.,]\d+)?[KMGTP]?\t(?!/dev/)\.{0,2}/[^\t]*$"),
    UnreadTool("sysctl", r"(?:abi|crypto|debug|dev|fs|kern|kernel|net|vm)\.[\w.\-/]+ = "),
    UnreadTool("a test of sysbench other than fileio", r"Running the test with following options:|sysbench \d\.\d"),
    UnreadTool("zpool iostat", r"\s+capacity\s+operations\s+bandwidth\s*$"),
    UnreadTool("gstat", r"dT: \d+\.\d+s\s+w: \d"),
    UnreadTool("lsmod", r"Module\s+Size\s+Used by\s*$"),
)
