"""Large texts of the older tools, as their sources print them, with random figures; and the same texts damaged.

What the readers' speed is measured on: see `test_bonnie_size` and the benchmark of legacy text.
"""

import random
from collections.abc import Callable


def bonniepp_text(runs: int, *, with_tables: bool = True) -> bytes:
    """Output of bonnie++ 1.97, its layout from its source: a table and a CSV line a run."""
    number = random.Random(197).randrange
    return "".join(_bonniepp_run(run, number, with_tables) for run in range(runs)).encode()


def _bonniepp_run(run: int, number: Callable[[int, int], int], with_tables: bool) -> str:
    name, seeks = f"host{run % 97}", number(1000, 9999) / 10
    rates = [number(500, 2000), number(10000, 900000), number(5000, 400000), number(1000, 4000), number(10000, 900000)]
    cpus = [number(0, 100) for _ in range(12)]
    small = [str(number(100, 99999)) if test not in (1, 4) else "+++++" for test in range(6)]
    small_cpus = [str(cpu) if rate[0] != "+" else "+++" for rate, cpu in zip(small, cpus[6:], strict=True)]
    late = [f"{number(10, 99999)}us" if number(0, 2) else f"{number(100, 9999)}ms" for _ in range(12)]
    large = [*map(str, rates), str(seeks)]
    table = "".join([
        "Version  1.97       ------Sequential Output------ --Sequential Input- --Random-\n",
        "Concurrency   1     -Per Chr- --Block-- -Rewrite- -Per Chr- --Block-- --Seeks--\n",
        "Machine        Size K/sec %CP K/sec %CP K/sec %CP K/sec %CP K/sec %CP  /sec %CP\n",
        f"{name:<15} 64G", *(f" {rate:>5} {cpu:>3}" for rate, cpu in zip(large, cpus, strict=False)), "\n",
        "Latency          ", *(f" {one:>9}" for one in late[:6]), "\n",
        "Version  1.97       ------Sequential Create------ --------Random Create--------\n",
        f"{name:<19} -Create-- --Read--- -Delete-- -Create-- --Read--- -Delete--\n",
        "              files  /sec %CP  /sec %CP  /sec %CP  /sec %CP  /sec %CP  /sec %CP\n",
        f"{'16':>19}", *(f" {rate:>5} {cpu:>3}" for rate, cpu in zip(small, small_cpus, strict=True)), "\n",
        "Latency          ", *(f" {one:>9}" for one in late[6:]), "\n",
    ])  # fmt: skip
    first = ",".join(f"{rate},{cpu}" for rate, cpu in zip(large, cpus, strict=False))
    second = ",".join(f"{rate},{cpu}" for rate, cpu in zip(small, small_cpus, strict=True))
    line = f"1.97,1.97,{name},1,{1400000000 + run},64G,,{first},16,,,,,{second},{','.join(late)}\n"
    return table + line if with_tables else line


def bonnie_text(runs: int) -> bytes:
    number = random.Random(1).random
    head = (
        "              -------Sequential Output-------- ---Sequential Input-- --Random--\n"
        "              -Per Char- --Block--- -Rewrite-- -Per Char- --Block--- --Seeks---\n"
        "Machine    MB K/sec %CPU K/sec %CPU K/sec %CPU K/sec %CPU K/sec %CPU  /sec %CPU\n"
    )
    row = "".join(" {:5.0f} {:4.1f}" for _ in range(5)) + " {:5.1f} {:4.1f}\n"
    return "".join(
        f"== host-{run % 7} : run {run} ==\n{head}host-{run % 7}   2047"
        + row.format(*(number() * (90000 if not place % 2 else 100) for place in range(12)))
        for run in range(runs)
    ).encode()


_BANNER = """\tIozone: Performance Test of File I/O
\t        Version $Revision: 3.471 $
\t\tCompiled for 64 bit mode.
\t\tBuild: linux-AMD64

\tRun began: Tue Mar  3 10:11:12 2015

"""
_TESTS = ("initial writers", "rewriters", "readers", "re-readers", "reverse readers", "stride readers", "random readers",
          "mixed workload", "random writers", "pwrite writers", "pread readers", "fwriters", "freaders")  # fmt: skip


def iozone_text(runs: int) -> bytes:
    """`iozone -a` of 3.471, all columns, for files of 64 KiB to 512 MiB."""
    number = random.Random(3471).randrange
    head = (
        f"{_BANNER}\tAuto Mode\n\tCommand line used: ./iozone -a\n\tOutput is in kBytes/sec\n"
        "\tTime Resolution = 0.000001 seconds.\n\tProcessor cache size set to 1024 kBytes.\n"
        + "random    random      bkwd     record     stride                                    \n".rjust(160)
        + "              kB  reclen    write  rewrite     read    reread     read     write     read   rewrite      "
        "read   fwrite frewrite    fread  freread\n"
    )
    widths = (9, 9, 9, 9, 9, 9, 9, 10, 10, 9, 9, 9, 9)
    points = [(size, 4 << step) for size in (64 << n for n in range(14)) for step in range(13) if 4 << step <= size]
    rows = [
        f"{size:>16}{record:>8}" + "".join(f"{number(10_000, 9_999_999):>{width}}" for width in widths) + "\n"
        for _ in range(runs)
        for size, record in points
    ]
    share = len(points)
    return "".join(
        head + "".join(rows[at : at + share]) + "\niozone test complete.\n" for at in range(0, len(rows), share)
    ).encode()


def iozone_processes_text(runs: int) -> bytes:
    """`iozone -t` of 3.471: each of its tests with 4 processes."""
    number = random.Random(4).random
    head = (
        f"{_BANNER}\tRecord Size 4 kB\n\tFile size set to 65536 kB\n"
        "\tCommand line used: ./iozone -t 4 -r 4k -s 64m\n\tOutput is in kBytes/sec\n"
        "\tThroughput test with 4 processes\n\tEach process writes a 65536 kByte file in 4 kByte records\n\n"
    )
    block = (
        "\tChildren see throughput for  4 {} \t= {:>10.2f} kB/sec\n\tParent sees throughput for  4 {} \t= {:>10.2f} kB/sec\n"
        "\tMin throughput per process \t\t\t= {:>10.2f} kB/sec \n\tMax throughput per process \t\t\t= {:>10.2f} kB/sec\n"
        "\tAvg throughput per process \t\t\t= {:>10.2f} kB/sec\n\tMin xfer \t\t\t\t\t= {:>10.2f} kB\n\n"
    )
    return "".join(
        head
        + "".join(block.format(test, number() * 1e6, test, *(number() * 1e6 for _ in range(5))) for test in _TESTS)
        + "\niozone test complete.\n"
        for _ in range(runs)
    ).encode()


def dd_text(runs: int) -> bytes:
    """What GNU's dd of coreutils 8.32 prints below the command that was typed."""
    chance = random.Random(832)
    found = []
    for run in range(runs):
        count, seconds = chance.randrange(1, 9999), chance.random() * 100 + 0.01
        size = count << 20
        found.append(
            f"root@host-{run % 31}:/data# dd if=/dev/zero of=/data/file{run % 7} bs=1M count={count} oflag=direct\n"
            f"{count}+0 records in\n{count}+0 records out\n{size} bytes ({_human(size, 1000, 'B')}, {_human(size, 1024, 'iB')}) "
            f"copied, {seconds:.6g} s, {_human(size / seconds, 1000, 'B')}/s\n"
        )
    return "".join(found).encode()


def _human(value: float, base: int, unit: str) -> str:
    power = 0
    while value >= base:
        value, power = value / base, power + 1
    return f"{value:.{0 if value >= 10 else 1}f} {' kMGT'[power]}{unit}"


def damaged(text: bytes) -> bytes:
    """About one line in ten cut, glued to the next, or with a figure that is none."""
    chance = random.Random(13)
    lines = text.decode().split("\n")
    for place in range(0, len(lines), 10):
        line, kind = lines[place], chance.randrange(4)
        middle = len(line) // 2
        lines[place] = (line[:middle], line[middle:], f"{line[:middle]}#{line[middle:]}", f"{line} {line}")[kind]
    return "\n".join(lines).encode()


def plain_floats(data: bytes) -> float:
    """The floor: every line split by commas or blanks, every word that is a number converted."""
    total = 0.0
    for line in data.decode().split("\n"):
        for word in line.split(",") if "," in line else line.split():
            try:
                total += float(word)
            except ValueError:
                continue
    return total
