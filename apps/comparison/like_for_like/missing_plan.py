"""The plan that would measure what an answer lacks: targets that hosts offer, a run whose jobs are repeated, and rounds.

A target fits where its facts, as the inventory and its newest run tell them, make the missing level and are in all that is
held as those of the runs beside it. What the jobs decide (direct I/O, the size of the file) is changed in the jobs.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any
from urllib.parse import urlencode

from django.db.models import QuerySet
from django.urls import reverse
from django.utils.translation import gettext as _

from apps.comparison.like_for_like.answers import FactorAnswer
from apps.comparison.like_for_like.fact_codes import matches
from apps.comparison.like_for_like.nearest import MissingRuns, runs_beside, runs_for
from apps.comparison.like_for_like.run_group import MACHINE_FACTS, NONE, WORKLOAD_FACTS, RunGroup, facts_of_run
from apps.comparison.like_for_like.selection import FactorSelection, QuestionReference
from apps.comparison.like_for_like.sentences import missing_words
from apps.comparison.questions.factor import Factor
from apps.comparison.readings import POINT
from apps.core.quantities import spell_size
from apps.inventory.models import Target
from apps.inventory.snapshots.content import content_in, facts_of
from apps.inventory.topology.host_parts import parts_of
from apps.runs.fio_options import BY_NAME
from apps.runs.models import Run
from apps.runs.start.repeat import template_of
from apps.runs.states import State
from apps.studies.models import Plan

MOST_TARGETS = 4  # of one missing side
_OF_JOBS = frozenset({*WORKLOAD_FACTS, *POINT, *BY_NAME, "points", "tool"})
Json = dict[str, Any]


@dataclass(frozen=True)
class MissingPlan:
    """What is missing, in words, and the plan for it: `problem` says why there is none.

    `run` is the one whose job is repeated, `jobs` that job with what the missing levels change in it, once for each.
    """

    texts: tuple[str, ...]
    title: str
    rounds: int
    targets: tuple[Target, ...] = ()
    run: int | None = None
    jobs: tuple[Json, ...] = ()
    changed: tuple[str, ...] = ()  # the options of the job that differ from those of the run
    problem: str = ""
    beside: int | None = None  # a run beside which they are missing, that the start form can begin with
    question: str = ""  # for which it is made, as `QuestionReference` is as text
    made: Plan | None = None  # the newest that was made of it already

    @property
    def address(self) -> str:
        """Return the address of the form of a new plan, filled in; empty where there is no plan."""
        if self.problem:
            return ""
        pairs = [("title", self.title), *(("target", str(target.pk)) for target in self.targets)]
        pairs += [("procedure", f"run-{self.run}"), ("kind", "fixed"), ("rounds", str(self.rounds))]
        if "file_size" in self.changed:
            pairs.append(("file_sizes", ", ".join(spell_size(job["file_size"]) for job in self.jobs)))
        if "direct" in self.changed:
            ways = {"direct" if job["direct"] else "buffered" for job in self.jobs}
            pairs.append(("direct", "both" if len(ways) > 1 else ways.pop()))
        pairs += [("notes", "; ".join(self.texts)), *([("question", self.question)] if self.question else [])]
        return f"{reverse('plan-make')}?{urlencode(pairs)}"


@dataclass(frozen=True)
class _Offer:
    """A target that a host's agent offers, with its facts."""

    target: Target
    facts: Mapping[str, str]


def plans_for(
    answer: FactorAnswer, factor: Factor, lab_id: int, selection: FactorSelection | None = None
) -> list[MissingPlan]:
    """Return a plan for the runs that would settle an answer, or make a matched set; a constant number of statements.

    Called inside the scope of the lab. Each says which plan was made of it already, for the same question.
    """
    offers = _offers(lab_id)
    choices = _find_choices(answer)
    newest = {pk for choice in choices for missing in choice for pk in missing[0].like.runs[-1:]}
    runs = Run.objects.select_related("workload").in_bulk(newest)
    question = str(QuestionReference(factor, selection or FactorSelection()))
    plans = [replace(_plan_of_first(answer, factor, choice, runs, offers), question=question) for choice in choices]
    titles = [plan.title for plan in plans if plan.address]
    made = Plan.objects.filter(study__lab=lab_id, question=question, title__in=titles).order_by("pk") if titles else []
    made_of = {plan.title: plan for plan in made}  # the newest of each
    return [replace(plan, made=made_of.get(plan.title)) for plan in plans]


def _find_choices(answer: FactorAnswer) -> list[list[Sequence[MissingRuns]]]:
    """Return for each plan the missing runs that it may be for, the preferred first.

    For a pair these are the runs beside the side with most runs, else beside the one or the other side.
    """
    if answer.settling:
        return [[answer.settling]]
    if answer.missing and not answer.nearest:
        return [[answer.missing, *answer.other_missing]]
    return [[runs_for(pair), runs_beside(pair, 0), runs_beside(pair, 1)] for pair in answer.nearest]


def _plan_of_first(
    answer: FactorAnswer,
    factor: Factor,
    choice: Sequence[Sequence[MissingRuns]],
    runs: Mapping[int, Run],
    offers: Sequence[_Offer],
) -> MissingPlan:
    """Return the plan of the first choice for which a target fits, else the first one's with its problem."""
    plans = (_plan(answer, factor, missing, runs, offers) for missing in choice)
    usual = next(plans)
    return usual if not usual.problem else next((plan for plan in plans if not plan.problem), usual)


def _plan(
    answer: FactorAnswer,
    factor: Factor,
    missing: Sequence[MissingRuns],
    runs: Mapping[int, Run],
    offers: Sequence[_Offer],
) -> MissingPlan:
    """Return the plan for missing runs; `runs` has the newest of the runs beside which they are missing."""
    first = missing[0]
    draft = MissingPlan(
        texts=tuple(missing_words(one, factor) for one in missing),
        title=f"{factor.title}: {factor.level_name(first.level)} / {factor.level_name(first.against)}"[:200],
        rounds=max(one.n for one in missing),
        beside=first.like.runs[-1] if first.like.runs else None,
    )
    run = runs.get(first.like.runs[-1]) if first.like.runs else None
    job, problem = _job_of(run)
    if run is None or job is None:
        return replace(draft, problem=problem)
    targets: list[Target] = []
    jobs: list[Json] = []
    for one in missing:
        changed = dict(factor.jobs_of(one.level, one.like.facts)) if factor.jobs_of else {}
        if factor.jobs_of and factor.level_of(one.like.facts) == one.level:
            changed = {name: int(one.like.facts.get(name, value)) for name, value in changed.items()}  # as they were
        fitting = [offer.target for offer in offers if _fits(offer, one, changed, answer, factor)][:MOST_TARGETS]
        if not fitting:
            words = {"level": factor.level_name(one.level)}
            problem = _("No enrolled host offers a target for %(level)s that is as those runs in everything held.")
            return replace(draft, problem=problem % words)
        targets += [target for target in fitting if target not in targets]
        changed = {name: bool(value) if name == "direct" else value for name, value in changed.items()}
        if {**job, **changed} not in jobs:
            jobs.append({**job, **changed})
    names = tuple(name for name in job if any(other[name] != job[name] for other in jobs))
    return replace(draft, targets=tuple(targets), run=run.pk, jobs=tuple(jobs), changed=names)


def _job_of(run: Run | None) -> tuple[Json | None, str]:
    """Return the one job of a run as a new run would have it, else why there is none."""
    if run is None:
        return None, _("The runs beside which they are missing are not to be seen here.")
    template = template_of(run)
    cannot = _("Run %(run)s cannot be repeated whole: %(why)s.")
    if template.problem:
        return None, cannot % {"run": run.pk, "why": template.problem.rstrip(".")}
    if len(template.jobs) != 1:
        return None, _("Run %(run)s has several jobs, and the plan of a question repeats one.") % {"run": run.pk}
    if template.differences:
        return None, cannot % {"run": run.pk, "why": "; ".join(template.differences)}
    return dict(template.jobs[0]), ""


def _fits(
    offer: _Offer, missing: MissingRuns, changed: Mapping[str, Any], answer: FactorAnswer, factor: Factor
) -> bool:
    like: RunGroup = missing.like
    is_same = str(offer.target.pk) == like.target
    known = {name: value for name, value in like.facts.items() if name in _OF_JOBS or is_same} | dict(offer.facts)
    known |= {name: str(int(value)) for name, value in changed.items()}
    if "direct" in changed and "sync" in known:
        known["sync"] = "direct" if changed["direct"] else "none"
    if factor.level_of(known) != missing.level:
        return False
    free = (*factor.facts, *factor.implied, *factor.implied_between(*sorted((missing.level, missing.against))))
    for name in answer.held:
        ours, theirs = known.get(name), like.facts.get(name)
        if name in _OF_JOBS or matches(name, free) or (name == "tool_version" and ours is None):  # no run there yet
            continue
        if ours != theirs or (ours is None and name in MACHINE_FACTS and not is_same):
            return False
    return True


def _offers(lab_id: int) -> list[_Offer]:
    """Return the targets that the lab's agents offer, with what is known of them: now, else at their newest run."""
    found: QuerySet[Target] = Target.objects.filter(lab=lab_id, is_agents_own=True, gone_at=None)
    found = found.select_related("host", "disk", "array", "filesystem__disk", "filesystem__array")
    targets = list(found.order_by("host__name", "name"))
    parts = parts_of({target.host_id: target.host for target in targets}.values())
    newest = Run.objects.filter(target__in=targets, state=State.FINISHED).order_by("target", "-pk").distinct("target")
    runs = {
        target: (facts, labels, tool)
        for target, facts, labels, tool in newest.values_list("target", "facts", "labels", "tool")
    }
    return [
        _Offer(target, _facts(target, facts_of(content_in(parts[target.host_id], target)), runs.get(target.pk)))
        for target in targets
    ]


def _facts(target: Target, now: Json, newest: tuple[Json, Json, str] | None) -> dict[str, str]:
    measured, labels, tool = newest or ({}, {}, "")
    left_out = {*labels, *_OF_JOBS, *(() if tool == "fio" else ("tool_version",))}
    before = {name: value for name, value in measured.items() if name not in left_out}
    facts = facts_of_run({**before, **now, "host": target.host.name}, {})
    if facts.get("raid_level", "").lower() in NONE or facts.get("disk_count") == "1":
        facts["place"] = target.name
    return facts
