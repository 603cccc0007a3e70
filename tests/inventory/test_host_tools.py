"""cpuinfo, meminfo, os-release, uname and the agent's own facts."""

import pytest

from apps.inventory.discovery.tool_values import UnreadableError
from apps.inventory.discovery.tools import cpuinfo, machine, meminfo, os_release, uname
from tests.inventory import hosts


def test_a_real_guest_tells_its_cpus_and_that_it_is_one() -> None:
    cpu = cpuinfo.discover(hosts.fixture("guest/cpuinfo"))
    assert cpu == cpuinfo.Cpu("AMD EPYC", 2, 1, 1024 * 1024, has_hypervisor=True)


@pytest.mark.parametrize(
    ("printed", "model", "count"),
    [
        ("processor\t: 0\nCPU implementer\t: 0x41\nCPU part\t: 0xd0c\n\nprocessor\t: 1\n", "Neoverse-N1", 2),
        ("processor\t: 0\nCPU implementer\t: 0x61\nCPU part\t: 0x022\n", "ARM implementer 0x61 part 0x022", 1),
        ("processor\t: 0\ncpu\t\t: POWER9, altivec supported\n", "POWER9, altivec supported", 1),
        (
            "vendor_id       : IBM/S390\n# processors    : 2\nprocessor 0: version = 00\nprocessor 1: version = 00\n",
            "IBM/S390",
            2,
        ),
        ("processor : 0\nmodel name : Intel(R)  Xeon(R)   CPU\n", "Intel(R) Xeon(R) CPU", 1),
    ],
)
def test_other_architectures_name_their_cpu_otherwise(printed: str, model: str, count: int) -> None:
    cpu = cpuinfo.discover(printed)
    assert (cpu.model, cpu.count, cpu.has_hypervisor) == (model, count, None)


def test_memory_is_counted_in_1024() -> None:
    assert meminfo.discover(hosts.fixture("guest/meminfo")).total_bytes == 24684096 * 1024


def test_os_release_is_read_as_text_with_both_kinds_of_quotes() -> None:
    assert os_release.discover(hosts.fixture("guest/os-release")).pretty_name == "Debian GNU/Linux 12 (bookworm)"
    assert (
        os_release.discover('NAME=\'Rocky Linux\'\nVERSION="9.3 (Blue \\"Onyx\\")"\n').pretty_name
        == 'Rocky Linux 9.3 (Blue "Onyx")'
    )
    assert os_release.discover('PRETTY_NAME="$(reboot)"').pretty_name == "$(reboot)"


def test_uname_has_a_version_with_blanks_in_the_middle() -> None:
    read = uname.discover("Linux 6.1.0-18-amd64 #1 SMP PREEMPT_DYNAMIC Debian 6.1.76-1 (2024-02-01) x86_64\n")
    assert (read.system, read.release, read.machine) == ("Linux", "6.1.0-18-amd64", "x86_64")
    assert uname.discover(hosts.fixture("guest/uname")).version == "#1 SMP PREEMPT_DYNAMIC @0"


@pytest.mark.parametrize(
    ("virt", "flag", "environment", "hypervisor"),
    [
        ("none", False, "native", ""),
        ("kvm", True, "guest", "KVM"),
        ("microsoft", None, "guest", "Hyper-V"),
        ("docker", True, "guest", ""),
        ("docker", False, "native", ""),
        ("docker", None, "", ""),
        (None, True, "guest", ""),
        (None, None, "", ""),
        ("newvisor", None, "guest", "newvisor"),
    ],
)
def test_native_or_guest_and_under_what(virt: str | None, flag: bool | None, environment: str, hypervisor: str) -> None:
    read = machine.discover(hosts.machine(virt=virt))
    assert (read.environment(flag), read.hypervisor) == (environment, hypervisor)


def test_the_agents_directory_is_absolute_or_nothing() -> None:
    assert machine.discover(hosts.machine("/srv//spindle/../bench/")).directory == "/srv/bench"
    assert machine.discover(hosts.machine("srv")).directory == ""
    assert machine.discover(
        '{"directory": ["/srv"], "fqdn": 7, "virt": {}, "hostname": null}'
    ) == machine.ReportedMachine(fqdn="7")
    assert machine.discover(hosts.machine()).board == "Supermicro X11DPi-N"


@pytest.mark.parametrize("tool", [cpuinfo, meminfo, os_release, uname, machine])
def test_a_shells_complaint_is_not_read_as_an_output(tool: object) -> None:
    with pytest.raises(UnreadableError) as error:
        tool.discover("not found")  # type: ignore[attr-defined]
    assert "found 'not found', expected" in str(error.value)
