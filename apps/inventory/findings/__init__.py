"""What is wrong or doubtful about how a host is put together: a registry of rules, each one small file.

    findings_of(topology(host))    # list[Finding], the most serious first

Pure: computed from the topology each time, so they are never older than the inventory.
"""

from apps.inventory.findings import (
    array_in_itself,
    capacity,
    degraded,
    disk_health,
    failed_members,
    member_count,
    member_in_two_arrays,
    mixed_members,
    mtu_mismatch,
    one_controller,
    one_path,
    redundant_path_missing,
    resync,
    slow_link,
    system_disk_member,
    unprotected_cache,
)
from apps.inventory.findings.machine import MachineFacts, Thing
from apps.inventory.findings.rule import SEVERITIES, Finding, FindingRule

RULES: tuple[FindingRule, ...] = (
    array_in_itself.RULE, member_in_two_arrays.RULE, degraded.RULE, failed_members.RULE, disk_health.RULE,
    unprotected_cache.RULE, member_count.RULE, capacity.RULE, system_disk_member.RULE, one_controller.RULE,
    redundant_path_missing.RULE, one_path.RULE, resync.RULE, slow_link.RULE, mtu_mismatch.RULE, mixed_members.RULE,
)  # fmt: skip

__all__ = ["RULES", "Finding", "findings_of"]


def findings_of(topology: Thing) -> list[Finding]:
    """Return what the rules find in a topology (from `apps.inventory.topology.tree`), most severe first."""
    machine = MachineFacts(topology)
    results = [
        Finding(rule.name, rule.title, rule.text, hit.severity or rule.severity, hit.line, hit.parts)
        for rule in RULES
        for hit in rule.check(machine)
    ]
    return sorted(results, key=lambda result: SEVERITIES.index(result.severity))
