"""A host with several directories: which targets it has, which of them take runs, and why the others do not."""

import json
import typing
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from django.test import Client

from apps.agents import poll
from apps.agents.identity import Caller, identify
from apps.agents.models import Agent
from apps.agents.obstacles import find_obstacle, with_targets
from apps.agents.tasks import look_at_targets, sweep
from apps.core import task_queue
from apps.inventory.models import Filesystem, Host, Target
from apps.labs.isolation import all_labs, lab_scope
from apps.runs.models import Run
from apps.runs.services import start_on_targets, start_runs
from apps.runs.states import State
from apps.runs.workload import WorkloadError
from tests.agents.conftest import WORKLOAD, FakeAgent
from tests.inventory.hosts import findmnt, machine, mount, output
from tests.page_text import page_text

pytestmark = pytest.mark.django_db
GIB = 1 << 30
EXT4 = {"type": "ext4", "uuid": "e-1", "source": "/dev/sdb1", "mount_point": "/data/ext4", "device": "8:17"}
XFS = {"type": "xfs", "uuid": "x-1", "source": "/dev/md0", "mount_point": "/data/xfs", "device": "9:0"}
ROOT = {"type": "ext4", "uuid": "r-1", "source": "/dev/sda2", "mount_point": "/", "device": "8:2"}
MEMORY = {"type": "tmpfs", "source": "tmpfs", "mount_point": "/dev/shm", "device": "0:23"}


def root(path: str, filesystem: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {"path": path, "root": path, "quota_bytes": GIB, **filesystem, **more}


BOTH = (root("/data/ext4", EXT4), root("/data/xfs", XFS))


@pytest.fixture
def host(agent: FakeAgent) -> Iterator[FakeAgent]:
    """An agent whose inventory is known: ext4, xfs and the root filesystem on disks of their own."""
    with lab_scope(agent.lab.pk):
        Target.objects.all().delete()
        Filesystem.objects.all().delete()
        mounts = [mount(one["mount_point"], one["source"], one["type"], uuid=one["uuid"]) for one in (ROOT, EXT4, XFS)]
        mounts.append(mount("/dev/shm", "tmpfs", "tmpfs"))
        found = output("findmnt", findmnt(*mounts)), output("machine", machine("/data/ext4"))
    report(agent, *BOTH)
    assert agent.post("inventory/", outputs=list(found)).status_code == 202
    with lab_scope(agent.lab.pk):
        yield agent


def report(agent: FakeAgent, *directories: dict[str, Any], **body: Any) -> dict[str, Any]:
    """What a poll is answered that reports these directories."""
    known = identify(Caller.from_headers({key.lower(): value for key, value in agent.headers.items()}))
    said = {"boot_id": "b", "agent_version": "1.1", "fio_version": "fio-3.33", "directories": list(directories)}
    read = poll.Report.from_json(json.loads(json.dumps({**said, **body})))
    with lab_scope(known.lab_id):
        poll.note(known, read)
        return poll.answer(known, read) or poll.message([], [], [], known.wanted_directories)


def offered() -> dict[str, str]:
    """Path and filesystem of the targets that take runs."""
    return {target.path: target.lies_on["type"] for target in Target.objects.filter(is_agents_own=True)}


def at(path: str, **more: Any) -> Target:
    return Target.objects.get(path=path, **more)


def test_each_directory_is_a_target_with_its_stack(host: FakeAgent) -> None:
    assert offered() == {"/data/ext4": "ext4", "/data/xfs": "xfs"}
    for path, filesystem in (("/data/ext4", "ext4"), ("/data/xfs", "xfs")):
        found = at(path).filesystem
        assert found is not None
        assert (found.type, found.mount_point) == (filesystem, path)
    assert len({target.name for target in Target.objects.all()}) == 2
    assert report(host, *BOTH) == poll.message([], [], [])
    assert Target.objects.count() == 2


def test_targets_come_and_go_one_by_one(host: FakeAgent) -> None:
    ext4, xfs = at("/data/ext4"), at("/data/xfs")
    report(host, BOTH[0], {"path": "/data/xfs", "root": "/data/xfs", "problem": "No such file or directory"})
    assert offered() == {"/data/ext4": "ext4"}
    assert at("/data/xfs").gone_reason == "/data/xfs: No such file or directory"
    report(host, BOTH[0], root("/data/xfs", ROOT))
    assert offered() == {"/data/ext4": "ext4"}, "the folder above is no array"
    assert at("/data/xfs").gone_reason.startswith("/data/xfs is not mounted; /data/xfs lies on ext4 on /dev/sda2")
    report(host, *BOTH)
    assert at("/data/xfs").gone_reason == ""
    assert offered() == {"/data/ext4": "ext4", "/data/xfs": "xfs"}
    report(host, BOTH[0], root("/data/xfs", ROOT))
    assert at("/data/xfs").gone_reason.startswith("/data/xfs is not mounted; /data/xfs lies on ext4 on /dev/sda2")
    report(host, *BOTH)
    assert (at("/data/ext4").pk, at("/data/xfs").pk) == (ext4.pk, xfs.pk)
    report(host, BOTH[1])
    assert at("/data/ext4").gone_reason == "the agent offers /data/xfs now"


def test_the_reason_is_that_of_now_and_whole(host: FakeAgent) -> None:
    since = None
    for problem in ("No such file or directory", "another account may write in it: " + "its group, " * 60):
        report(host, BOTH[0], {"path": "/data/xfs", "root": "/data/xfs", "problem": problem})
        gone = at("/data/xfs")
        assert since in (None, gone.gone_at), "since when it is gone stays"
        since = gone.gone_at
    assert gone.gone_reason.strip().endswith("its group,"), "it is whole"
    report(host, BOTH[0], root("/data/xfs", XFS | {"type": "btrfs", "uuid": "b-1"}))
    assert "lies on btrfs" in at("/data/xfs", is_agents_own=False).gone_reason


def test_what_lay_there_before_the_array_is_not_offered_in_its_place(host: FakeAgent) -> None:
    """The agent first saw the folder before anything was mounted on it."""
    report(host, *BOTH, root("/mnt/md0", ROOT))
    early = at("/mnt/md0")
    report(host, *BOTH, root("/mnt/md0", XFS | {"uuid": "x-2", "mount_point": "/mnt/md0"}))
    assert offered()["/mnt/md0"] == "xfs"
    report(host, *BOTH, root("/mnt/md0", ROOT))
    assert "/mnt/md0" not in offered()
    reasons = {target.pk: target.gone_reason for target in Target.objects.filter(path="/mnt/md0")}
    assert len(reasons) == 2
    assert "ext4 now" not in reasons.pop(early.pk)
    assert next(iter(reasons.values())).startswith("/mnt/md0 is not mounted")


def test_another_filesystem_at_one_path_is_another_target_beside_the_others(host: FakeAgent) -> None:
    before = at("/data/xfs")
    report(host, BOTH[0], root("/data/xfs", XFS | {"type": "btrfs", "uuid": "b-1"}))
    assert offered() == {"/data/ext4": "ext4", "/data/xfs": "btrfs"}
    assert at("/data/xfs", is_agents_own=True).pk != before.pk
    assert "lies on btrfs" in at("/data/xfs", is_agents_own=False).gone_reason


def test_two_filesystems_of_one_host_share_neither_target_nor_cell(
    host: FakeAgent, sign_in: Callable[[str], Client]
) -> None:
    from apps.comparison.likeness import Likeness
    from apps.comparison.queries.samples import of_run
    from tests.comparison.factories import sample

    readings = []
    for target in Target.objects.order_by("path"):
        (run,) = start_runs(lab=host.lab, target=target, spec=WORKLOAD)
        attempt = host.take()
        place = {"path": target.path, **target.lies_on}
        running = {"token": attempt.token, "boot_id": "b", "argv": [], "job_file": "", "started_at": 1.0}
        assert host.post(f"attempts/{attempt.pk}/running/", **running, place=place).status_code == 200
        assert attempt.move(State.FINISHED)
        Run.objects.filter(pk=run.pk).update(state=State.FINISHED)
        stored = Run.objects.get(pk=run.pk)
        assert stored.facts["filesystem"] == target.lies_on["type"]
        page = page_text(sign_in("viewer").get(stored.get_absolute_url()).content.decode())
        assert (
            f"It lay in {target.path} on {place['source']}, {place['type']} mounted at {place['mount_point']}" in page
        )
        sample(stored, 1.0)
        readings += of_run(stored)
    assert len({reading.run for reading in readings}) == 2
    assert len({reading.facts["target"] for reading in readings}) == 2
    assert len(Likeness().members(readings)) == 2


def test_results_that_were_uploaded_for_one_filesystem_stay_with_it(host: FakeAgent) -> None:
    """A person entered the target when it lay on xfs; since then the directory has been made anew on ext4."""
    held = Filesystem.objects.get(mount_point="/data/xfs")
    entered = Target.objects.create(lab=host.lab, host=host.row.host, name="old", path="/data/old", filesystem=held)
    Run.objects.create(lab=host.lab, tool="fio", host=host.row.host, target=entered, state=State.FINISHED)
    report(host, *BOTH, root("/data/old", EXT4))
    entered.refresh_from_db()
    assert not entered.is_agents_own
    assert at("/data/old", is_agents_own=True).pk != entered.pk
    report(host, *BOTH, root("/data/old", XFS | {"uuid": ""}))
    entered.refresh_from_db()
    assert entered.is_agents_own


def test_an_agent_before_1_1_is_served_with_its_one_directory(host: FakeAgent) -> None:
    report(host, directories=None, directory={"path": "/data/xfs", **XFS}, agent_version="1.0")
    assert offered() == {"/data/xfs": "xfs"}
    assert at("/data/ext4").gone_reason == "the agent offers /data/xfs now"
    add = Target.objects.create(lab=host.lab, host=host.row.host, name="deep", path="/data/xfs/deep")
    assert not look_at_targets(host.row.host_id)
    with pytest.raises(WorkloadError, match=r"version 1\.0, offers one directory only: /data/xfs"):
        start_runs(lab=host.lab, target=add, spec=WORKLOAD)


class TestBelowARoot:
    @pytest.fixture
    def added(self, host: FakeAgent, sign_in: Callable[[str], Client], monkeypatch: pytest.MonkeyPatch) -> Target:
        """A target that an engineer adds on the host's page below an allowed directory."""
        monkeypatch.setattr(task_queue, "send", lambda *_, **__: None)
        form = {"host": host.row.host_id, "name": "bench", "kind": "directory", "path": "/data/xfs/bench"}
        answer = sign_in("engineer").post(f"/targets/new/?host={host.row.host_id}", form)
        assert answer.status_code == 302, answer.content.decode()
        return at("/data/xfs/bench")

    def place(self, **more: Any) -> dict[str, Any]:
        return {"path": "/data/xfs/bench", "root": "/data/xfs", **XFS, **more}

    def test_its_host_is_asked_to_look_at_it_and_then_it_takes_runs(self, host: FakeAgent, added: Target) -> None:
        with pytest.raises(WorkloadError, match="looks at it with its next poll"):
            start_runs(lab=host.lab, target=added, spec=WORKLOAD)
        assert look_at_targets(host.row.host_id)
        assert not look_at_targets(host.row.host_id)
        assert report(host, *BOTH)["look_at"] == ["/data/xfs/bench"]
        assert set(offered()) == {"/data/ext4", "/data/xfs"}
        report(host, *BOTH, self.place())
        added.refresh_from_db()
        assert (added.is_agents_own, added.lies_on["uuid"], added.name) == (True, "x-1", "bench")
        assert added.filesystem == Filesystem.objects.get(mount_point="/data/xfs")
        (run,) = start_runs(lab=host.lab, target=added, spec=WORKLOAD)
        (offer,) = host.poll()["offers"]
        assert (offer["run"], offer["target"]["path"], offer["target"]["uuid"]) == (run.pk, "/data/xfs/bench", "x-1")

    def test_a_held_poll_is_answered_when_a_directory_is_wanted(self, host: FakeAgent, added: Target) -> None:
        stale, read = host.row, poll.Report.from_json({})
        assert poll.answer_again(stale, read) is None
        look_at_targets(host.row.host_id)
        answer = poll.answer_again(stale, read)
        assert answer is not None
        assert answer["look_at"] == ["/data/xfs/bench"]
        assert poll.answer_again(stale, read) is None

    def test_the_sweeper_finds_it_where_the_task_was_lost(self, host: FakeAgent, added: Target) -> None:
        sweep()
        assert host.row.wanted_directories == ["/data/xfs/bench"]

    def test_a_restarted_agent_that_has_not_been_asked_yet_takes_nothing_away(
        self, host: FakeAgent, added: Target
    ) -> None:
        report(host, *BOTH, self.place())
        assert report(host, *BOTH)["look_at"] == ["/data/xfs/bench"]
        added.refresh_from_db()
        assert (added.is_agents_own, added.gone_at) == (True, None)

    def test_one_that_is_not_there_says_so_and_the_host_has_no_obstacle(
        self, host: FakeAgent, added: Target, sign_in: Callable[[str], Client]
    ) -> None:
        look_at_targets(host.row.host_id)
        report(host, *BOTH, {"path": "/data/xfs/bench", "root": "/data/xfs", "problem": "No such file or directory"})
        with pytest.raises(WorkloadError, match="on its host: No such file or directory"):
            start_runs(lab=host.lab, target=added, spec=WORKLOAD)
        assert find_obstacle(with_targets(Agent.objects.all()).get()) == ""
        for address in (added.get_absolute_url(), host.row.host.get_absolute_url(), "/runs/new/"):
            assert "No such file or directory" in sign_in("engineer").get(address).content.decode(), address

    def test_it_goes_with_its_root(self, host: FakeAgent, added: Target) -> None:
        report(host, *BOTH, self.place())
        report(host, BOTH[0])
        added.refresh_from_db()
        assert (added.is_agents_own, added.gone_reason) == (False, "the agent offers /data/ext4 now")
        assert host.row.wanted_directories == []

    @pytest.mark.parametrize(
        ("path", "words"),
        [
            ("/etc", "agent.conf on its host allows /data/ext4, /data/xfs only"),
            ("/data", "allows /data/ext4, /data/xfs only"),
            ("/data/xfsx", "allows /data/ext4, /data/xfs only"),
            ("/data/xfs/", "its path cannot be taken: expected it written plainly: /data/xfs"),
            ("/data/xfs/../ext4", "expected a path without .. in it"),
            ("/data/xfs//bench", "expected it written plainly: /data/xfs/bench"),
        ],
    )
    def test_other_paths_are_never_asked_for_and_the_page_says_why(
        self, host: FakeAgent, sign_in: Callable[[str], Client], path: str, words: str
    ) -> None:
        other = Target.objects.create(lab=host.lab, host=host.row.host, name="other", path=path)
        look_at_targets(host.row.host_id)
        assert host.row.wanted_directories == []
        with pytest.raises(WorkloadError, match="a directory that the host's own agent offers") as refused:
            start_runs(lab=host.lab, target=other, spec=WORKLOAD)
        assert words in str(refused.value)
        assert words in sign_in("viewer").get(other.get_absolute_url()).content.decode()
        assert words in sign_in("engineer").get("/runs/new/").content.decode()

    def test_a_host_is_asked_for_so_many_at_most(self, host: FakeAgent) -> None:
        every = [
            Target(lab=host.lab, host=host.row.host, name=f"t{number}", path=f"/data/xfs/{number:03}")
            for number in range(80)
        ]
        Target.objects.bulk_create(every)
        look_at_targets(host.row.host_id)
        assert host.row.wanted_directories == [f"/data/xfs/{number:03}" for number in range(64)]


def test_a_queued_run_fails_with_its_directory_and_the_others_go_on(host: FakeAgent) -> None:
    runs = start_on_targets(list(Target.objects.order_by("path")), lab=host.lab, spec=WORKLOAD)
    report(host, BOTH[0], root("/data/xfs", ROOT))
    first, second = (Run.objects.get(pk=run.pk) for run in runs)
    assert first.state in (State.QUEUED, State.OFFERED)
    assert (second.state, "/data/xfs is not mounted" in second.problem) == (State.FAILED, True)


def test_runs_start_on_all_targets_or_on_none(host: FakeAgent) -> None:
    targets = list(Target.objects.order_by("path"))
    runs = start_on_targets(targets, lab=host.lab, spec=WORKLOAD, repetitions=2, who="me")
    assert [(run.target_id, run.repetition) for run in runs] == [
        (target.pk, repetition) for target in targets for repetition in (1, 2)
    ]
    Target.objects.filter(pk=targets[1].pk).update(is_agents_own=False)
    with pytest.raises(WorkloadError):
        start_on_targets(targets, lab=host.lab, spec=WORKLOAD)
    assert Run.objects.count() == 4


def test_the_quota_is_the_directorys_own(host: FakeAgent) -> None:
    report(host, BOTH[0], root("/data/xfs", XFS, quota_bytes=2**20), policy={"quota_bytes": GIB})
    big = {"tool": "fio", "jobs": [{"rw": "write", "block_size": 4096, "file_size": 2**21}]}
    assert start_runs(lab=host.lab, target=at("/data/ext4"), spec=big)
    with pytest.raises(WorkloadError, match="this host's quota"):
        start_runs(lab=host.lab, target=at("/data/xfs"), spec=big)


def test_the_hosts_page_names_each_directory_and_what_is_wrong_with_one(
    host: FakeAgent, sign_in: Callable[[str], Client]
) -> None:
    report(host, BOTH[0], root("/data/xfs", ROOT), root("/data/third", {}, problem="Permission denied"))
    page = sign_in("viewer").get(host.row.host.get_absolute_url()).content.decode()
    assert "takes runs" in page
    assert "/data/xfs is not mounted" in page
    assert "cannot be used: Permission denied" in page
    form = sign_in("engineer").get("/runs/new/").content.decode()
    assert "Its directory for test files, /data/xfs, takes no runs: /data/xfs is not mounted" in form
    assert "Its directory for test files, /data/third, cannot be used" in form
    (agent,) = with_targets(Agent.objects.all())
    assert find_obstacle(agent) == "", "runs can start in the first one"
    report(host, root("/data/xfs", ROOT), root("/data/third", {}, problem="Permission denied"))
    (agent,) = with_targets(Agent.objects.all())
    assert "Permission denied" in find_obstacle(agent)
    assert "/data/xfs is not mounted" in find_obstacle(agent)


def test_a_filesystem_in_memory_is_in_the_inventory_once_a_target_lies_on_it(host: FakeAgent) -> None:
    assert not Filesystem.objects.filter(type="tmpfs").exists()
    report(host, *BOTH, root("/dev/shm/bench", MEMORY))
    found = at("/dev/shm/bench").filesystem
    assert found is not None
    assert found.type == "tmpfs"


@pytest.mark.parametrize(
    "directories",
    [
        {}, "", 5, [1], [[]], [{"path": 5}], [{"path": "/" + "x" * 600}], [{"path": "/a", "root": []}],
        [{"path": "/a", "quota_bytes": "1"}], [{"path": "/a", "quota_bytes": -1}], [{"path": "/a", "holds_spool": 1}],
        [{"path": "/a"}] * 129,
    ],
)  # fmt: skip
def test_directories_are_checked_by_type_and_size(directories: Any) -> None:
    with pytest.raises(ValueError, match="directories"):
        poll.Report.from_json({"directories": directories})


def test_one_path_that_is_named_twice_counts_once(host: FakeAgent) -> None:
    report(host, BOTH[0], BOTH[0] | XFS, BOTH[1])
    assert offered() == {"/data/ext4": "ext4", "/data/xfs": "xfs"}


def test_another_labs_targets_are_not_looked_at(host: FakeAgent, cast: Any) -> None:
    with lab_scope(cast.other_lab.pk):
        from apps.inventory.models import Host

        theirs = Host.objects.create(lab=cast.other_lab, name="theirs")
        Target.objects.create(lab=cast.other_lab, host=theirs, name="x", path="/data/xfs/x")
    with all_labs():
        sweep()
    assert host.row.wanted_directories == []


def test_an_unmounted_root_takes_runs_again_by_itself_and_its_reason_is_true_at_each_step(
    host: FakeAgent, sign_in: Callable[[str], Client], token: Callable[[str], str]
) -> None:
    xfs = at("/data/xfs")
    refused = (
        "other accounts can write in /data/xfs (mode 0777) and could place links there. " + "Say what to do. " * 40
    )
    steps = [
        (root("/data/xfs", ROOT), "/data/xfs is not mounted; /data/xfs lies on ext4 on /dev/sda2 (UUID r-1) now"),
        ({"path": "/data/xfs", "root": "/data/xfs", "problem": refused}, f"/data/xfs: {refused}".strip()),
        (root("/data/xfs", XFS | {"uuid": "x-2"}), "/data/xfs lies on xfs on /dev/md0 (UUID x-2) now"),
        (root("/data/xfs", ROOT), "/data/xfs is not mounted; /data/xfs lies on ext4 on /dev/sda2 (UUID r-1) now"),
    ]
    since = None
    for place, reason in steps:
        report(host, BOTH[0], place)
        xfs.refresh_from_db()
        assert (xfs.is_agents_own, xfs.gone_reason.strip()) == (False, reason)
        since = since or xfs.gone_at
        assert xfs.gone_at == since, "it is gone since then, whatever became of it after"
        for address in (xfs.get_absolute_url(), host.row.host.get_absolute_url()):
            assert reason in page_text(sign_in("viewer").get(address).content.decode()), address
        told = Client().get(f"/api/v1/targets/{xfs.pk}/", headers={"Authorization": f"Bearer {token('read')}"}).json()
        assert told["gone_reason"].strip() == reason
        with pytest.raises(WorkloadError, match="this one is gone"):
            start_runs(lab=host.lab, target=xfs, spec=WORKLOAD)
    report(host, *BOTH)
    xfs.refresh_from_db()
    assert (xfs.is_agents_own, xfs.gone_at, xfs.gone_reason) == (True, None, "")
    (run,) = start_runs(lab=host.lab, target=xfs, spec=WORKLOAD)
    assert [offer["run"] for offer in host.poll()["offers"]] == [run.pk]


def test_a_very_long_reason_ends_after_a_whole_word(host: FakeAgent) -> None:
    report(host, BOTH[0], {"path": "/data/xfs", "root": "/data/xfs", "problem": "wörter und " * 200})
    reason = at("/data/xfs").gone_reason
    assert reason.endswith(("wörter…", "und…"))
    assert len(reason) > 1000


class TestPathsThatPeopleType:
    """The one rule for pages, REST and files: written plainly, and below a directory that the host's agent allows."""

    FORM: typing.ClassVar[dict[str, str]] = {"version": "0", "act": "save", "kind": "directory"}

    def rest(self, token: Callable[[str], str], address: str, body: dict[str, Any], method: str = "post") -> Any:
        headers = {"Authorization": f"Bearer {token('admin')}"}
        return getattr(Client(), method)(f"/api/v1/{address}", body, content_type="application/json", headers=headers)

    @pytest.mark.parametrize(
        ("path", "words"),
        [
            ("x", "expected an absolute path such as /data/ext4"),
            ("data/ext4/x", "expected an absolute path"),
            ("/data/ext4/../../etc", "expected a path without .. in it"),
            ("/data/ext4/..", "expected a path without .. in it"),
            ("/data/ext4/./x", "expected it written plainly: /data/ext4/x"),
            ("/data//ext4", "expected it written plainly: /data/ext4"),
            ("//data/ext4/x", "expected it written plainly: /data/ext4/x"),
            ("/data/ext4/x/", "expected it written plainly: /data/ext4/x"),
            ("/etc", "agent.conf on its host allows /data/ext4, /data/xfs only"),
            ("/data", "agent.conf on its host allows /data/ext4, /data/xfs only"),
            ("/data/ext4x", "agent.conf on its host allows /data/ext4, /data/xfs only"),
        ],
    )
    def test_a_path_where_no_run_can_go_is_refused_by_page_and_rest(
        self, host: FakeAgent, token: Callable[[str], str], sign_in: Callable[[str], Client], path: str, words: str
    ) -> None:
        count = Target.objects.count()
        body = {"host": host.row.host_id, "name": "new", "kind": "directory", "path": path}
        answer = self.rest(token, "targets/", body)
        assert answer.status_code == 400, answer.content
        assert words in answer.json()["detail"]
        form = self.FORM | {"host": str(host.row.host_id), "name": "new", "path": path}
        page = sign_in("engineer").post(f"/targets/new/?host={host.row.host_id}", form)
        assert page.status_code == 422
        assert words in page_text(page.content.decode())
        assert Target.objects.count() == count
        typed = Target.objects.create(lab=host.lab, host=host.row.host, name="typed", path="/data/ext4/typed")
        answer = self.rest(token, f"targets/{typed.pk}/", {"path": path}, "patch")
        assert answer.status_code == 400, answer.content
        typed.refresh_from_db()
        assert typed.path == "/data/ext4/typed"

    def test_what_was_measured_elsewhere_stays_editable_and_nowhere_else_is_it_refused(
        self, host: FakeAgent, token: Callable[[str], str]
    ) -> None:
        typed = Target.objects.create(lab=host.lab, host=host.row.host, name="by hand", path="/mnt/old/")
        assert self.rest(token, f"targets/{typed.pk}/", {"notes": "by hand"}, "patch").status_code == 200
        for more in ({"kind": "device", "path": "/dev/sdb"}, {"kind": "network", "path": "two hops"}):
            body = {"host": host.row.host_id, "name": more["kind"], **more}
            assert self.rest(token, "targets/", body).status_code == 201, more

    def test_without_an_agent_a_path_is_taken_and_shown_as_not_confirmed(
        self, host: FakeAgent, token: Callable[[str], str], sign_in: Callable[[str], Client]
    ) -> None:
        bare = Host.objects.create(lab=host.lab, name="bare")
        body = {"host": bare.pk, "name": "new", "kind": "directory", "path": "/srv/new"}
        made = self.rest(token, "targets/", body)
        assert made.status_code == 201
        assert made.json()["path_unconfirmed_because"] == "the path is not yet confirmed by the host: bare has no agent"
        page = page_text(sign_in("viewer").get(f"/targets/{made.json()['id']}/").content.decode())
        assert "Not confirmed: the path is not yet confirmed by the host: bare has no agent." in page
        assert self.rest(token, "targets/", body | {"name": "n", "path": "srv"}).status_code == 400
        own = Client().get(
            f"/api/v1/targets/{at('/data/ext4').pk}/", headers={"Authorization": f"Bearer {token('read')}"}
        )
        assert own.json()["path_unconfirmed_because"] == ""

    def test_a_directory_that_is_missing_is_made_by_a_command_that_the_page_shows(
        self, host: FakeAgent, sign_in: Callable[[str], Client]
    ) -> None:
        typed = Target.objects.create(lab=host.lab, host=host.row.host, name="typed", path="/data/xfs/a b;c")
        place = {"path": typed.path, "root": "/data/xfs", "problem": "No such file or directory"}
        command = "Make it there, as root: install -d -m 0700 -o spindle-agent '/data/xfs/a b;c'"
        report(host, *BOTH, place)
        for address in (typed.get_absolute_url(), host.row.host.get_absolute_url(), "/runs/new/"):
            assert command in page_text(sign_in("engineer").get(address).content.decode()), address
        report(host, *BOTH, {"path": typed.path, "root": "/data/xfs", **XFS})
        typed.refresh_from_db()
        assert typed.is_agents_own
        report(host, *BOTH, place)
        typed.refresh_from_db()
        assert command in typed.gone_reason
        report(host, BOTH[0], {"path": "/data/xfs", "root": "/data/xfs", "problem": "No such file or directory"})
        assert "install" not in at("/data/xfs").gone_reason, "a root that is missing is the administrator's own"


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("relative/..", "an absolute path"),
        ("/data/../etc", "without .."),
        ("/data/\n[global]\nexec_prerun=id", "without control characters"),
        ("/data/\u202etxt", "without control characters"),
        ("//data", "written plainly: /data"),
    ],
)
def test_a_path_that_no_person_could_type_is_no_target(host: FakeAgent, path: str, expected: str) -> None:
    """An agent that lies, or a directory of a strange name: it would be on pages, in exports and in commands to paste."""
    report(host, *BOTH, root(path, {**EXT4, "uuid": "e-2"}))
    assert offered() == {"/data/ext4": "ext4", "/data/xfs": "xfs"}
    assert not Target.objects.filter(path=path).exists()
    assert any(expected in problem for problem in host.row.directory_problems)
    report(host, root("/data/ext4", {**EXT4, "type": "ext4\x1b[2J\n", "uuid": "e-3"}))
    assert all(kind.isprintable() for kind in offered().values())
