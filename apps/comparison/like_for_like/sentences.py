"""An answer in words: one sentence for the page, a label for each stratum, and what is missing."""

from collections.abc import Collection, Mapping, Sequence

from django.utils.text import capfirst
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, gettext_noop, ngettext, pgettext

from apps.comparison.labels import IN_BYTES, YES_OR_NO, label_of, operation_of, text_of
from apps.comparison.like_for_like.answers import FactorAnswer, LevelContrast, MatchedFinding, StratumEffect
from apps.comparison.like_for_like.mixtures import ENOUGH
from apps.comparison.like_for_like.nearest import MissingRuns, NearestPair
from apps.comparison.like_for_like.run_group import POINTS, RunGroup
from apps.comparison.questions.factor import Factor
from apps.comparison.questions.file_against_ram import multiple_of
from apps.core import units
from apps.runs.metrics import METRICS

METHOD = gettext_lazy(
    "Runs are held against each other only where all other known facts are equal. In each matched set: the ratio of "
    "geometric means with Welch's 95 % interval on logarithms, from 3 runs on each side. Several sets are combined by "
    "random effects (REML) with Hartung and Knapp's interval, fewer than 6 sets that agree by their inverse variances "
    "with Meier's standard error. Sets that disagree beyond noise (Welch's test, p < 0.01) give no common effect. A "
    "verdict needs p < 0.05 after Holm's correction for all effects that are shown together."
)
MOST_LEVELS = 4  # in one sentence
MOST_FACTS = 4  # in one sentence
WIDE = 1.25  # an interval that reaches beyond it, or below its inverse
MOST_IN_LABEL = 5  # facts in the label of a stratum
_IN_SUBTITLE = (
    "raid_level",
    "interface",
    "filesystem",
    "file_size",
    "block_size",
    "iodepth",
    "sync",
    "host",
    "machine",
)
_IN_LABEL = (
    "host", "machine", "raid_level", "raid_implementation", "filesystem", "interface", "disk_model", "controller",
    "file_size", "block_size", "iodepth", "threads",
)  # fmt: skip


_WITH_WORDS = {
    "file_size": gettext_noop("%(value)s file"), "block_size": gettext_noop("%(value)s blocks"),
    "iodepth": gettext_noop("depth %(value)s"), "threads": gettext_noop("%(value)s jobs"),
    "disk_count": gettext_noop("%(value)s disks"), "kernel": gettext_noop("kernel %(value)s"),
    "ram": gettext_noop("%(value)s RAM"), "controller_cache": gettext_noop("%(value)s cache"),
    "chunk_size": gettext_noop("%(value)s chunk"),
}  # fmt: skip


def finding_words(finding: MatchedFinding) -> str:
    """Return the finding in the reader's language."""
    words = {
        MatchedFinding.EFFECT: pgettext("what matched sets say", "effect"),
        MatchedFinding.NO_EFFECT: pgettext("what matched sets say", "no difference shown"),
        MatchedFinding.DEPENDS: pgettext("what matched sets say", "depends"),
        MatchedFinding.TOO_FEW: pgettext("what matched sets say", "too few runs"),
    }
    return words[finding]


def measure_words(answer: FactorAnswer) -> str:
    """Return `bandwidth of write`."""
    return words_of_measure(answer.operation, answer.metric)


def words_of_measure(operation: str, metric: str) -> str:
    """Return `bandwidth of write`."""
    words = {"metric": _(METRICS[metric].label), "operation": _(operation_of(operation))}
    return _("%(metric)s of %(operation)s") % words


def sentence(answer: FactorAnswer, factor: Factor) -> str:
    """Return the answer as one sentence; for an open question what its levels are."""
    contrasts = answer.answered
    if not contrasts:
        return reason(answer, factor)
    sets = ngettext("%(n)s matched set", "%(n)s matched sets", answer.sets) % {"n": answer.sets}
    if answer.finding is MatchedFinding.DEPENDS:
        contrast = next(one for one in contrasts if one.finding is MatchedFinding.DEPENDS)
        return capfirst(f"{_dependence(contrast, factor)}, {pgettext('in 3 matched sets', 'in')} {sets}")
    parts = [_contrast(contrast, factor, contrasts[:place]) for place, contrast in enumerate(contrasts[:MOST_LEVELS])]
    if len(contrasts) > 1:  # what each of several says, where it is not an effect
        parts = [
            part if contrast.finding is MatchedFinding.EFFECT else f"{part}: {finding_words(contrast.finding)}"
            for part, contrast in zip(parts, contrasts, strict=False)
        ]
    more = len(contrasts) - len(parts)
    if more > 0:
        parts.append(ngettext("%(n)s more level", "%(n)s more levels", more) % {"n": more})
    told = f"{', '.join(parts)} {pgettext('in 3 matched sets', 'in')} {sets}"
    if len(contrasts) == 1:
        told = f"{told}: {finding_words(answer.finding)}{_doubt(contrasts[0])}"
    is_name = factor.level_name(contrasts[0].level) == contrasts[0].level  # `btrfs` stays as it is
    return told if is_name else capfirst(told)


def _doubt(contrast: LevelContrast) -> str:
    """Return what is to be added where no difference is shown and the interval is too wide to speak of none."""
    low, high = contrast.interval or (1.0, 1.0)
    if contrast.finding is not MatchedFinding.NO_EFFECT or (low >= 1 / WIDE and high <= WIDE):
        return ""
    return _("; the interval is wide, so there may be one")


def _contrast(contrast: LevelContrast, factor: Factor, before: Sequence[LevelContrast]) -> str:
    """Return `hardware RAID 1.02 × software RAID (0.98 to 1.06)`; what it is held against is not repeated."""
    level, against = factor.level_name(contrast.level), factor.level_name(contrast.against)
    if contrast.ratio is None:  # sets disagree
        words = {"level": level, "against": against}
        words |= dict(zip(("low", "high"), map(ratio_text, contrast.range), strict=True))
        return _("%(level)s %(low)s × to %(high)s × %(against)s") % words
    low, high = contrast.interval or (0.0, 0.0)
    interval = _("(%(low)s to %(high)s)") % {"low": ratio_text(low), "high": ratio_text(high)}
    is_repeated = bool(before) and before[-1].against == contrast.against
    against = "" if is_repeated else f" {against}"
    return f"{level} {ratio_text(contrast.ratio or 0.0)} ×{against} {interval}"


def _dependence(contrast: LevelContrast, factor: Factor) -> str:
    low, high = contrast.range
    words = {
        "level": factor.level_name(contrast.level), "against": factor.level_name(contrast.against),
        "low": ratio_text(low), "high": ratio_text(high),
    }  # fmt: skip
    if contrast.dependence and contrast.dependence.fact:
        words["fact"] = _(label_of(contrast.dependence.fact))
        if contrast.dependence.ranges:
            text = _("depends on %(fact)s, and on more: %(level)s is %(low)s × to %(high)s × %(against)s")
            return text % words
        return _("depends on %(fact)s: %(level)s is %(low)s × to %(high)s × %(against)s") % words
    return _("sets disagree and no fact alone explains it: %(level)s is %(low)s × to %(high)s × %(against)s") % words


def ratio_text(ratio: float) -> str:
    """Return a ratio with three significant digits."""
    return units.significant(ratio)


def reason(answer: FactorAnswer, factor: Factor) -> str:
    """Return why a question has no answer yet."""
    levels = list((answer.candidates or {}).items())
    if not levels:
        return _("No run says which it has.")
    if len(levels) == 1:
        words = {"level": factor.level_name(levels[0][0])}
        return _("All runs have one level only: %(level)s.") % words
    if answer.strata:
        return _("Matched sets exist, but none has %(n)s runs on each side.") % {"n": ENOUGH}
    if answer.nearest:
        pair = answer.nearest[0]
        ours, theirs = (factor.level_name(level) for level in pair.levels)
        words = {"ours": ours, "theirs": theirs, "facts": facts_in_words(pair.differs)}
        unknown = _("Not known of both: %(facts)s.") % {"facts": facts_in_words(pair.unknown)} if pair.unknown else ""
        told = (
            _("No two runs are equal in everything else. Nearest: %(ours)s and %(theirs)s, which differ in %(facts)s.")
            if pair.differs
            else _("No two runs are known to be equal in everything else. Nearest: %(ours)s and %(theirs)s.")
        ) % words
        return f"{told} {unknown}".strip()
    return _("No two runs are equal in everything else.")


def all_missing_words(answer: FactorAnswer, factor: Factor) -> list[str]:
    """Return what an answer lacks, each in words once: several pairs may lack the same runs."""
    return list(dict.fromkeys(missing_words(missing, factor) for missing in answer.missing))


def missing_words(missing: MissingRuns, factor: Factor) -> str:
    """Return which runs would make a matched set."""
    words = {"n": missing.n, "level": factor.level_name(missing.level), "place": place_words(missing.like)}
    if not missing.changed:
        return (
            ngettext("%(n)s more run of %(level)s on %(place)s", "%(n)s more runs of %(level)s on %(place)s", missing.n)
            % words
        )
    as_there = [
        f"{_(label_of(name))} {fact_text(name, missing.like)}"
        if name in missing.like.facts
        else _("%(fact)s recorded") % {"fact": _(label_of(name))}
        for name in missing.changed[:MOST_FACTS]
    ]
    words["facts"] = ", ".join(as_there)
    return _("%(n)s runs of %(level)s with %(facts)s, as measured on %(place)s") % words


def unjudged_text(answer: FactorAnswer, factor: Factor) -> str:
    """Return the ratios of matched sets that have too few runs for a verdict; empty where there are none."""
    parts = []
    for contrast in answer.contrasts[:MOST_LEVELS] if not answer.is_answered else ():
        low, high = contrast.range
        ratios = ratio_text(low) if len(contrast.effects) == 1 else _("%(low)s to %(high)s") % {
            "low": ratio_text(low), "high": ratio_text(high),
        }  # fmt: skip
        n = len(contrast.effects)
        sets = ngettext("%(n)s matched set", "%(n)s matched sets", n) % {"n": n}
        level, against = factor.level_name(contrast.level), factor.level_name(contrast.against)
        parts.append(f"{level} {ratios} × {against} ({sets})")
    return _("Ratios without a verdict: %(ratios)s.") % {"ratios": "; ".join(parts)} if parts else ""


def nearest_words(pair: NearestPair) -> str:
    """Return what else differs between the levels of a pair, in the order in which it matters."""
    ours, theirs = pair.groups
    known = [f"{_(label_of(name))} {fact_text(name, ours)} / {fact_text(name, theirs)}" for name in pair.differs]
    unknown = [_("%(fact)s not known of both") % {"fact": _(label_of(name))} for name in pair.unknown]
    return ", ".join([*known, *unknown])


def place_words(group: RunGroup) -> str:
    """Return the host of a group, or its target, as far as they are known."""
    names = (group.facts.get(name) for name in ("host", "machine"))
    return next((name for name in names if name), None) or str(group.texts.get("target") or _("an unknown host"))


def fact_text(name: str, group: RunGroup) -> str:
    """Return a group's value of a fact for people."""
    return value_text(name, group.facts.get(name))


def value_text(name: str, value: str | None) -> str:
    """Return a fact's plain text for people: sizes with their unit."""
    if value is None:
        return pgettext("why a field is empty", "unknown")
    if name in IN_BYTES and value.isdigit():
        return units.size(int(value))
    if name == "raid_level" and value.isdigit():
        return f"RAID {value}"
    if name in YES_OR_NO and value in ("0", "1"):
        return _("yes") if value == "1" else _("no")
    return text_of(name, value)


def property_text(name: str, value: str) -> str:
    """Return a fact's value so that it says what it is of, without its name: `1 MiB blocks`, `depth 16`."""
    if name == "controller_cache" and value == "none":
        return _("no cache")
    text = value_text(name, value)
    return _(_WITH_WORDS[name]) % {"value": text} if name in _WITH_WORDS else text


def sizes_text(effect: StratumEffect) -> str:
    """Return the file sizes of both sides, as `100 MiB / 4 × 8 GiB`, with what all files together are of RAM."""
    texts = []
    for level in (effect.level, effect.against):
        group = effect.stratum.sides[level].groups[0]
        size = value_text("file_size", group.facts.get("file_size"))
        threads = group.facts.get("threads", "1")
        multiple = multiple_of(group.facts)
        files = size if threads == "1" else f"{threads} × {size}"  # each thread has a file of its own
        texts.append(f"{files} ({multiple:.2g} × RAM)" if multiple else files)
    return " / ".join(texts)


def facts_in_words(names: Sequence[str]) -> str:
    """Return names of facts for a sentence, the first of many."""
    labels = [_(label_of(name)) for name in names[:MOST_FACTS]]
    more = len(names) - len(labels)
    return ", ".join([*labels, *([_("%(n)s more") % {"n": more}] if more > 0 else [])])


def labels_of_strata(effects: Sequence[StratumEffect], most: int | None = None) -> list[str]:
    """Return a label for each stratum: the few held facts that tell it from the others, else its host.

    `most`: for the first of them alone.
    """
    of_parts = {name for effect in effects for name in effect.stratum.part}
    facts = [{**_facts_of_level(effect, of_parts), **effect.stratum.facts, **effect.stratum.part} for effect in effects]
    known = {name for some in facts for name in some} - {POINTS}
    differing = {name for name in known if len({one.get(name) for one in facts}) > 1}
    names = [name for name in _IN_LABEL if name in differing]
    chosen: list[str] = []
    parts = [0] * len(facts)
    for name in [*names, *sorted(differing - {*names})]:
        if len(chosen) == MOST_IN_LABEL:
            break
        finer = _divided(facts, parts, name)
        if max(finer) > max(parts):
            chosen.append(name)
            parts = finer
    labels = []
    for number, some in enumerate(facts[:most], start=1):
        words = [property_text(name, some[name]) for name in chosen if name in some]
        own = words or [text for name in ("host", "machine") if (text := some.get(name))]
        labels.append(", ".join(own) or _("set %(n)s") % {"n": number})
    return labels


def _facts_of_level(effect: StratumEffect, names: Collection[str]) -> dict[str, str]:
    """Return those of these facts that all runs of the level share: what other sets have parts of."""
    groups = effect.stratum.sides[effect.level].groups
    values = {name: {group.facts.get(name) for group in groups} for name in names}
    return {name: value for name, some in values.items() if len(some) == 1 and (value := next(iter(some)))}


def _divided(facts: Sequence[Mapping[str, str]], parts: Sequence[int], name: str) -> list[int]:
    """Return the part of each stratum when the parts are divided by one more fact, numbered from 0."""
    numbers: dict[tuple[int, str | None], int] = {}
    return [numbers.setdefault((part, some.get(name)), len(numbers)) for part, some in zip(parts, facts, strict=True)]


def subtitle(answer: FactorAnswer) -> str:
    """Return what all strata of an answer have in common: the measure, then the facts that are equal in all of them."""
    facts = [effect.stratum.facts for contrast in answer.answered for effect in contrast.usable]
    common = [
        property_text(name, facts[0][name])
        for name in _IN_SUBTITLE
        if facts and name in facts[0] and len({some.get(name) for some in facts}) == 1 and facts[0][name] != "none"
    ]
    return " · ".join([measure_words(answer), *common])
