"""One object of every kind in a lab, so that tests can ask for each of them from another lab."""

from dataclasses import dataclass
from typing import Any

from django.utils import timezone

from apps.agents.models import Agent, Enrolment
from apps.comparison.claims.evaluation import evaluate
from apps.comparison.models import Claim, SavedComparison, StudyComparison
from apps.inventory.models import (
    Array,
    ArrayMember,
    Change,
    Controller,
    Difference,
    Disk,
    Enclosure,
    Filesystem,
    Host,
    InventoryImport,
    NetworkLink,
    Nic,
    PathSection,
    Snapshot,
    StoragePath,
    Switch,
    Target,
    ToolOutput,
)
from apps.labs.isolation import lab_scope
from apps.labs.links.invitations import invite
from apps.labs.links.one_use import Maker
from apps.labs.links.renewals import renew
from apps.labs.models import Lab, Member, Role, Token, User
from apps.notifications.models import Delivery, Destination
from apps.parsers.core.models import ParsedRun, ParsedSample
from apps.runs.artefacts.store import keep
from apps.runs.models import Attempt, Histogram, Run, RunArtefact, SavedWorkload, Workload
from apps.runs.samples import save_samples
from apps.runs.services import store_workload
from apps.runs.workload import checked, digest
from apps.studies.models import Configuration, PlannedRun, Study, StudyRun
from apps.studies.plans.plan_import import save_plan
from apps.studies.plans.schema import plan_of
from apps.trends.models import ChangePoint, Recipient, TrendMark, Watch
from apps.uploads.file_reader import FileReading, ReadRun
from apps.uploads.models import FoundInventory, FoundWorkload, TableMapping, Upload, UploadedFile, UploadedRun

SECRET_WORD = "xyzzy-secret"  # in every name: it must never be seen from outside
CONTENT = {"format": 1, "target": {}, "host": {"name": SECRET_WORD}, "filesystem": None, "storage": None}


@dataclass
class World:
    """Primary keys by the word that routes use."""

    keys: dict[str, int]


def build(lab: Lab, number: int = 0) -> World:
    """Make one of everything; a further number makes a further one of everything, in a study of its own."""
    word = f"{SECRET_WORD}-{number}" if number else SECRET_WORD
    study = f"study-{number}" if number else "their-study"
    with lab_scope(lab.pk):
        keys = {**_inventory(lab, word, number)}
        keys |= _runs(lab, keys, word, number)
        keys |= _people(lab, keys, word, number)
        keys |= _uploads(lab, keys, word, number)
        keys |= _comparisons(lab, word)
        keys |= _claims(lab, keys, word, study)
        keys |= _plans(lab, keys, word, study)
        keys |= _trends(lab, keys, word)
    return World(keys)


def _inventory(lab: Lab, word: str, number: int) -> dict[str, int]:
    name: dict[str, Any] = {"lab": lab, "name": word}
    host = Host.objects.create(**name)
    controller = Controller.objects.create(**name, host=host)
    disk = Disk.objects.create(lab=lab, host=host, controller=controller, serial=word)
    array = Array.objects.create(**name, host=host, level="0", implementation="software")
    ArrayMember.objects.create(array=array, position=0, disk=disk)
    fs = Filesystem.objects.create(lab=lab, host=host, array=array, type="ext4", mount_point=f"/{word}")
    target = Target.objects.create(**name, host=host, filesystem=fs, is_agents_own=True)
    snapshot = Snapshot.objects.create(lab=lab, sha256=f"{number:064x}", content=CONTENT, facts={"host": word})
    brought = InventoryImport.of(b"name\n" + word.encode(), lab=lab, name="hosts.csv", created_by=word)
    brought.save()
    output = ToolOutput.objects.create(lab=lab, host=host, tool="lsblk", stdout=word, sha256=f"{number:064x}")
    nic = Nic.objects.create(**name, host=host)
    switch = Switch.objects.create(**name)
    link = NetworkLink.objects.create(lab=lab, nic=nic, far_switch=switch)
    storage_path = StoragePath.objects.create(**name, host=host)
    PathSection.objects.create(path=storage_path, position=0, name=word)
    enclosure = Enclosure.objects.create(**name, host=host)
    difference = Difference.objects.create(
        lab=lab, host=host, part_kind="host", part_id=host.pk, part_name=word, field="board", typed=word
    )
    change = Change.objects.of_part("host", host.pk).first()
    return {
        "nic": nic.pk,
        "switch": switch.pk,
        "networklink": link.pk,
        "storagepath": storage_path.pk,
        "enclosure": enclosure.pk,
        "difference": difference.pk,
        "change": change.pk,
        "host": host.pk,
        "controller": controller.pk,
        "disk": disk.pk,
        "array": array.pk,
        "filesystem": fs.pk,
        "target": target.pk,
        "snapshot": snapshot.pk,
        "tool-output": output.pk,
        "inventory-import": brought.pk,
    }


def _runs(lab: Lab, keys: dict[str, int], word: str, number: int) -> dict[str, int]:
    spec = checked({"jobs": [{"rw": "read", "block_size": 4096, "file_size": 1048576}]})
    workload = Workload.objects.get_or_create(lab=lab, sha256=digest(spec), defaults={"tool": "fio", "spec": spec})[0]
    run = Run.objects.create(
        lab=lab,
        tool="fio",
        origin="dispatched",
        workload=workload,
        host_id=keys["host"],
        target_id=keys["target"],
        snapshot_id=keys["snapshot"],
        state="running",
        facts={"host": word},
        labels={"word": word},
    )
    save_samples(run, [ParsedSample("read", "bandwidth", 1e6, file_size=1048576, printed=word)], None)
    Histogram.objects.create(run=run, operation="read", kind="clat", bins=[[1000, 1]])
    RunArtefact.objects.create(run=run, artefact=keep(lab.pk, word.encode()), name="result.json", kind="result")
    attempt = Attempt.objects.create(
        lab=lab, run=run, host_id=keys["host"], number=1, token=number + 1, state="running", offered_at=timezone.now()
    )
    return {"run": run.pk, "attempt": attempt.pk, "workload": workload.pk}


def _uploads(lab: Lab, keys: dict[str, int], word: str, number: int) -> dict[str, int]:
    upload = Upload.objects.create(
        lab=lab, name=word, door="page", state="parsed", host_id=keys["host"], labels={"word": word}
    )
    artefact = keep(lab.pk, f"{word} 1\n".encode())
    file = UploadedFile.objects.create(
        upload=upload, name=f"{word}.txt", artefact=artefact, size=artefact.size, state="parsed", run_count=1
    )
    run = ReadRun(ParsedRun("fio", "3.36", caption=word), "fio json", 1.0)
    file.reading = FileReading(format="fio json", runs=(run,))
    file.save()
    kept = UploadedFile.objects.create(upload=upload, name=word, state="parsed", kept_at=timezone.now())
    UploadedRun.objects.create(run_id=keys["run"], file=kept, format="fio json", number=0, digest=f"{number:064x}")
    found = FoundInventory.objects.create(file=file, tool="lsblk", summary=word, content={})
    FoundWorkload.objects.create(file=file, name=word, jobs=[{"rw": "read"}])
    TableMapping.objects.create(lab=lab, signature=f"{number:064x}", mapping={})
    return {"upload": upload.pk, "file": file.pk, "found-inventory": found.pk}


def _comparisons(lab: Lab, word: str) -> dict[str, int]:
    saved = SavedComparison.objects.create(lab=lab, name=word, query="host=secret", created_by="who")
    workload = store_workload(lab, checked({"jobs": [{"rw": "read", "block_size": 4096, "file_size": 1 << 20}]}))
    named = SavedWorkload.objects.create(lab=lab, name=word, workload=workload, created_by="who")
    return {"saved-comparison": saved.pk, "saved-workload": named.pk}


def _claims(lab: Lab, keys: dict[str, int], word: str, slug: str) -> dict[str, int]:
    study = Study.objects.create(lab=lab, slug=slug, title=word)
    configuration = Configuration.objects.create(study=study, name="one", label=word)
    StudyRun.objects.create(run_id=keys["run"], configuration=configuration)
    check = {"kind": "threshold", "of": {"is": "samples"}, "above": {"is": "stated", "value": 1, "name": word}}
    claim = Claim.objects.create(
        study=study, code="C1", statement=word, kind="threshold", definition={"checks": [check]}
    )
    evaluate(claim)
    shown = StudyComparison.objects.create(
        study=study,
        name="their-comparison",
        title=word,
        query="metric=bandwidth&operation=read",
        created_by="who",
    )
    return {"claim": claim.pk, "configuration": configuration.pk, "study-comparison": shown.pk}


def _plans(lab: Lab, keys: dict[str, int], word: str, slug: str) -> dict[str, int]:
    point = {
        "name": "p", "label": word, "tool": "fio", "file_size": 1 << 20, "block_size": 4096, "job": {"rw": "read"},
    }  # fmt: skip
    data = {
        "name": "their-plan", "title": word, "stopping": {"kind": "fixed", "rounds": 2},
        "configurations": [{"configuration": "one"}], "points": [point],
        "guards": [{"kind": "idle", "note": word}], "cells": [{"row": "one", "point": "p", "note": word}],
    }  # fmt: skip
    plan, _ = save_plan(Study.objects.get(lab=lab, slug=slug), plan_of(data), actor="who", position=0)
    PlannedRun.objects.create(run_id=keys["run"], row=plan.rows.get(), point=plan.points.get(), round=1)
    return {"plan": plan.pk}


def _trends(lab: Lab, keys: dict[str, int], word: str) -> dict[str, int]:
    name: dict[str, Any] = {"lab": lab, "name": word, "created_by": "who"}
    watch = Watch.objects.create(**name, query="metric=bandwidth&operation=read")
    now = timezone.now()
    change = ChangePoint.objects.create(
        lab=lab, watch=watch, run_id=keys["run"], at=now, direction="worse", ratio=0.9, before=1e6, after=9e5,
        n_before=9, n_after=9, facts=[{"fact": "kernel", "label": "kernel", "before": "1", "after": word}],
    )  # fmt: skip
    mark = TrendMark.objects.create(lab=lab, watch=watch, at=now, text=word, created_by="who")
    to = Destination.objects.create(**name, kind="webhook", address=f"https://{word}.example/", secret=word)
    Recipient.objects.create(lab=lab, watch=watch, destination=to)
    delivery = Delivery.objects.create(
        lab=lab,
        destination=to,
        watch=watch,
        change_point=change,
        payload={"event": "change-point", "text": word},
        state="dead",
    )
    return {
        "watch": watch.pk,
        "change-point": change.pk,
        "trend-mark": mark.pk,
        "destination": to.pk,
        "delivery": delivery.pk,
    }


def _people(lab: Lab, keys: dict[str, int], word: str, number: int) -> dict[str, int]:
    user = User.objects.create_user(f"{word}@example.org")
    member = Member.objects.create(lab=lab, user=user, role=Role.VIEWER)
    token, _ = Token.objects.issue(lab, "read", word)
    enrolment, _ = Enrolment.objects.issue(lab, word)
    agent = Agent.objects.create(
        lab=lab, host_id=keys["host"], secret_sha256=f"1{number:063x}", machine=f"2{number:063x}"
    )
    maker = Maker(word)
    invitation, _ = invite(lab, f"{word}-too@example.org", Role.OWNER, maker)
    renewal, _ = renew(member, maker)
    links = {"invitation": invitation.pk, "renewal": renewal.pk, "lab": lab.pk}
    return links | {"member": member.pk, "token": token.pk, "enrolment": enrolment.pk, "agent": agent.pk}
