"""Seed 004: 100 MiB written to a controller with 256 MiB of cache, and to the same model without any."""

from apps.comparison.caveats.controller_cache import check
from tests.comparison.caveats.machines import plain
from tests.comparison.factories import GIB, MIB, reading


def test_tristans_100_mib_fit_into_the_controllers_256() -> None:
    found = check(reading(1, 281_514_434.0, file_size=104_857_600, facts={"controller_cache": 268_435_456}))
    assert plain(found) == (
        "file size 100 MiB ≤ controller cache 256 MiB (104 857 600 B ≤ 268 435 456 B; 0.39 × controller cache)"
    )


def test_o_direct_does_not_go_past_it() -> None:
    assert check(reading(1, 1.0, file_size=MIB, facts={"controller_cache": 256 * MIB, "sync": "direct"}))


def test_tristans_1000_mib_do_not_fit() -> None:
    assert check(reading(1, 167_854_882.0, file_size=1_048_576_000, facts={"controller_cache": 256 * MIB})) is None


def test_a_controller_without_cache_or_of_unknown_cache_is_silent() -> None:
    for cache in ("none", "unknown", 0, None):
        assert check(reading(1, 46_489_592.0, file_size=100 * MIB, facts={"controller_cache": cache})) is None


def test_dtns_10_gib_are_not_held_by_512_mib() -> None:
    assert check(reading(1, 1.4e9, file_size=10 * GIB, facts={"controller_cache": 512 * MIB})) is None


def test_a_network_test_touches_no_file() -> None:
    assert check(reading(1, 1e9, operation="net_send", file_size=MIB, facts={"controller_cache": 256 * MIB})) is None
