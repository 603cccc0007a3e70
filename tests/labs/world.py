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


def build(lab: Lab) -> World:
    with lab_scope(lab.pk):
        keys = {**_inventory(lab)}
        keys |= _runs(lab, keys)
        keys |= _people(lab, keys)
        keys |= _uploads(lab, keys)
        keys |= _comparisons(lab)
        keys |= _claims(lab, keys)
        keys |= _plans(lab, keys)
        keys |= _trends(lab, keys)
    return World(keys)


def _inventory(lab: Lab) -> dict[str, int]:
    name: dict[str, Any] = {"lab": lab, "name": SECRET_WORD}
    host = Host.objects.create(**name)
    controller = Controller.objects.create(**name, host=host)
    disk = Disk.objects.create(lab=lab, host=host, controller=controller, serial=SECRET_WORD)
    array = Array.objects.create(**name, host=host, level="0", implementation="software")
    ArrayMember.objects.create(array=array, position=0, disk=disk)
    fs = Filesystem.objects.create(lab=lab, host=host, array=array, type="ext4", mount_point=f"/{SECRET_WORD}")
    target = Target.objects.create(**name, host=host, filesystem=fs, is_agents_own=True)
    snapshot = Snapshot.objects.create(lab=lab, sha256="0" * 64, content=CONTENT, facts={"host": SECRET_WORD})
    brought = InventoryImport.of(b"name\n" + SECRET_WORD.encode(), lab=lab, name="hosts.csv", created_by=SECRET_WORD)
    brought.save()
    output = ToolOutput.objects.create(lab=lab, host=host, tool="lsblk", stdout=SECRET_WORD, sha256="0" * 64)
    nic = Nic.objects.create(**name, host=host)
    switch = Switch.objects.create(**name)
    link = NetworkLink.objects.create(lab=lab, nic=nic, far_switch=switch)
    storage_path = StoragePath.objects.create(**name, host=host)
    PathSection.objects.create(path=storage_path, position=0, name=SECRET_WORD)
    enclosure = Enclosure.objects.create(**name, host=host)
    difference = Difference.objects.create(
        lab=lab, host=host, part_kind="host", part_id=host.pk, part_name=SECRET_WORD, field="board", typed=SECRET_WORD
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


def _runs(lab: Lab, keys: dict[str, int]) -> dict[str, int]:
    spec = checked({"jobs": [{"rw": "read", "block_size": 4096, "file_size": 1048576}]})
    workload = Workload.objects.create(lab=lab, tool="fio", sha256=digest(spec), spec=spec)
    run = Run.objects.create(
        lab=lab,
        tool="fio",
        origin="dispatched",
        workload=workload,
        host_id=keys["host"],
        target_id=keys["target"],
        snapshot_id=keys["snapshot"],
        state="running",
        facts={"host": SECRET_WORD},
        labels={"word": SECRET_WORD},
    )
    save_samples(run, [ParsedSample("read", "bandwidth", 1e6, file_size=1048576, printed=SECRET_WORD)], None)
    Histogram.objects.create(run=run, operation="read", kind="clat", bins=[[1000, 1]])
    RunArtefact.objects.create(run=run, artefact=keep(lab.pk, SECRET_WORD.encode()), name="result.json", kind="result")
    attempt = Attempt.objects.create(
        lab=lab, run=run, host_id=keys["host"], number=1, token=1, state="running", offered_at=timezone.now()
    )
    return {"run": run.pk, "attempt": attempt.pk, "workload": workload.pk}


def _uploads(lab: Lab, keys: dict[str, int]) -> dict[str, int]:
    upload = Upload.objects.create(
        lab=lab, name=SECRET_WORD, door="page", state="parsed", host_id=keys["host"], labels={"word": SECRET_WORD}
    )
    artefact = keep(lab.pk, f"{SECRET_WORD} 1\n".encode())
    file = UploadedFile.objects.create(
        upload=upload, name=f"{SECRET_WORD}.txt", artefact=artefact, size=artefact.size, state="parsed", run_count=1
    )
    run = ReadRun(ParsedRun("fio", "3.36", caption=SECRET_WORD), "fio json", 1.0)
    file.reading = FileReading(format="fio json", runs=(run,))
    file.save()
    kept = UploadedFile.objects.create(upload=upload, name=SECRET_WORD, state="parsed", kept_at=timezone.now())
    UploadedRun.objects.create(run_id=keys["run"], file=kept, format="fio json", number=0, digest="0" * 64)
    found = FoundInventory.objects.create(file=file, tool="lsblk", summary=SECRET_WORD, content={})
    FoundWorkload.objects.create(file=file, name=SECRET_WORD, jobs=[{"rw": "read"}])
    TableMapping.objects.create(lab=lab, signature="0" * 64, mapping={})
    return {"upload": upload.pk, "file": file.pk, "found-inventory": found.pk}


def _comparisons(lab: Lab) -> dict[str, int]:
    saved = SavedComparison.objects.create(lab=lab, name=SECRET_WORD, query="host=secret", created_by="who")
    workload = store_workload(lab, checked({"jobs": [{"rw": "read", "block_size": 4096, "file_size": 1 << 20}]}))
    named = SavedWorkload.objects.create(lab=lab, name=SECRET_WORD, workload=workload, created_by="who")
    return {"saved-comparison": saved.pk, "saved-workload": named.pk}


def _claims(lab: Lab, keys: dict[str, int]) -> dict[str, int]:
    study = Study.objects.create(lab=lab, slug="their-study", title=SECRET_WORD)
    configuration = Configuration.objects.create(study=study, name="one", label=SECRET_WORD)
    StudyRun.objects.create(run_id=keys["run"], configuration=configuration)
    check = {"kind": "threshold", "of": {"is": "samples"}, "above": {"is": "stated", "value": 1, "name": SECRET_WORD}}
    claim = Claim.objects.create(
        study=study, code="C1", statement=SECRET_WORD, kind="threshold", definition={"checks": [check]}
    )
    evaluate(claim)
    shown = StudyComparison.objects.create(
        study=study,
        name="their-comparison",
        title=SECRET_WORD,
        query="metric=bandwidth&operation=read",
        created_by="who",
    )
    return {"claim": claim.pk, "configuration": configuration.pk, "study-comparison": shown.pk}


def _plans(lab: Lab, keys: dict[str, int]) -> dict[str, int]:
    point = {
        "name": "p", "label": SECRET_WORD, "tool": "fio", "file_size": 1 << 20, "block_size": 4096, "job": {"rw": "read"},
    }  # fmt: skip
    data = {
        "name": "their-plan", "title": SECRET_WORD, "stopping": {"kind": "fixed", "rounds": 2},
        "configurations": [{"configuration": "one"}], "points": [point],
        "guards": [{"kind": "idle", "note": SECRET_WORD}], "cells": [{"row": "one", "point": "p", "note": SECRET_WORD}],
    }  # fmt: skip
    plan, _ = save_plan(Study.objects.get(lab=lab, slug="their-study"), plan_of(data), actor="who", position=0)
    PlannedRun.objects.create(run_id=keys["run"], row=plan.rows.get(), point=plan.points.get(), round=1)
    return {"plan": plan.pk}


def _trends(lab: Lab, keys: dict[str, int]) -> dict[str, int]:
    name: dict[str, Any] = {"lab": lab, "name": SECRET_WORD, "created_by": "who"}
    watch = Watch.objects.create(**name, query="metric=bandwidth&operation=read")
    now = timezone.now()
    change = ChangePoint.objects.create(
        lab=lab, watch=watch, run_id=keys["run"], at=now, direction="worse", ratio=0.9, before=1e6, after=9e5,
        n_before=9, n_after=9, facts=[{"fact": "kernel", "label": "kernel", "before": "1", "after": SECRET_WORD}],
    )  # fmt: skip
    mark = TrendMark.objects.create(lab=lab, watch=watch, at=now, text=SECRET_WORD, created_by="who")
    to = Destination.objects.create(
        **name, kind="webhook", address=f"https://{SECRET_WORD}.example/", secret=SECRET_WORD
    )
    Recipient.objects.create(lab=lab, watch=watch, destination=to)
    delivery = Delivery.objects.create(
        lab=lab,
        destination=to,
        watch=watch,
        change_point=change,
        payload={"event": "change-point", "text": SECRET_WORD},
        state="dead",
    )
    return {
        "watch": watch.pk,
        "change-point": change.pk,
        "trend-mark": mark.pk,
        "destination": to.pk,
        "delivery": delivery.pk,
    }


def _people(lab: Lab, keys: dict[str, int]) -> dict[str, int]:
    user = User.objects.create_user(f"{SECRET_WORD}@example.org")
    member = Member.objects.create(lab=lab, user=user, role=Role.VIEWER)
    token, _ = Token.objects.issue(lab, "read", SECRET_WORD)
    enrolment, _ = Enrolment.objects.issue(lab, SECRET_WORD)
    agent = Agent.objects.create(lab=lab, host_id=keys["host"], secret_sha256="1" * 64, machine="2" * 64)
    maker = Maker(SECRET_WORD)
    invitation, _ = invite(lab, f"{SECRET_WORD}-too@example.org", Role.OWNER, maker)
    renewal, _ = renew(member, maker)
    links = {"invitation": invitation.pk, "renewal": renewal.pk, "lab": lab.pk}
    return links | {"member": member.pk, "token": token.pk, "enrolment": enrolment.pk, "agent": agent.pk}
