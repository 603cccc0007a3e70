"""A run whose host read another place from its open folder than its target has."""

import pytest

from apps.comparison.caveats.other_place import check
from apps.comparison.readings import MeasuredMachine
from apps.inventory.models import Snapshot, Target
from apps.inventory.snapshots.content import freeze
from apps.inventory.snapshots.differences import differences_of
from apps.inventory.target_identity import Place
from apps.labs.isolation import lab_scope
from tests.comparison.factories import target
from tests.conftest import Cast

EXT4 = {"type": "ext4", "uuid": "aa", "source": "/dev/sdb1", "mount_point": "/data"}


def freeze_at(place: Target, **found: str) -> Snapshot:
    place.path, place.lies_on = "/data/bench", EXT4
    place.save()
    return freeze(place, Place(**{"path": "/data/bench", **EXT4, **found}))


@pytest.mark.parametrize(
    ("found", "words"),
    [
        ({}, None),
        ({"mount_point": "/elsewhere"}, None),
        ({"type": "xfs", "uuid": "bb", "source": "/dev/sdc1"}, "/data/bench, xfs on /dev/sdc1 (UUID bb)"),
        ({"uuid": "bb"}, "/data/bench, ext4 on /dev/sdb1 (UUID bb)"),
        ({"path": "/etc"}, "/etc, ext4 on /dev/sdb1 (UUID aa)"),
    ],
    ids=["as it is", "mounted elsewhere", "another filesystem", "another of its kind", "another directory"],
)
@pytest.mark.django_db
def test_a_run_that_lay_elsewhere_says_so(cast: Cast, found: dict[str, str], words: str | None) -> None:
    with lab_scope(cast.lab.pk):
        place = target(cast.lab)
        snapshot, usual = freeze_at(place, **found), freeze_at(place)
    said = check(MeasuredMachine(snapshot.content))
    expected = "/data/bench, ext4 on /dev/sdb1 (UUID aa)"
    assert said == (f"the target is {expected}, the run lay in {words}" if words else None)
    told = [str(difference) for difference in differences_of(usual.content, snapshot.content)]
    assert any("found place" in one for one in told) is bool(words)
