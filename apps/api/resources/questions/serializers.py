"""The shape of answers: ratios, intervals, strata with their facts and runs. Context: `address` of a selection's page."""

import math
from typing import Any

from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

from apps.api.fields import NumberField
from apps.api.resources.caveats import LookedAtSerializer, SetCaveatSerializer
from apps.comparison.like_for_like.answers import FactorAnswer, LevelContrast, MatchedFinding, StratumEffect
from apps.comparison.like_for_like.dependence import Dependence
from apps.comparison.like_for_like.missing_plan import MissingPlan
from apps.comparison.like_for_like.nearest import MissingRuns, NearestPair
from apps.comparison.like_for_like.sentences import missing_words, reason, sentence
from apps.comparison.questions import BY_NAME
from apps.plans.run_procedure import points_of_jobs
from apps.plans.value_lists import FileSize

FINDINGS = f"{', '.join(MatchedFinding)}"


class DependenceSerializer(serializers.Serializer[Dependence]):
    """What explains most of the spread between strata."""

    fact = serializers.CharField(help_text="empty where no held fact explains enough of it")
    share = NumberField(help_text="of the spread that it explains, 0 to 1")
    values = serializers.SerializerMethodField(help_text="its values, each with the ratio there")
    ranges = serializers.SerializerMethodField(
        help_text="of values whose strata disagree among themselves: the least and the greatest ratio"
    )

    @extend_schema_field(serializers.DictField(child=NumberField()))
    def get_values(self, dependence: Dependence) -> dict[str, float]:
        return dict(dependence.values)

    @extend_schema_field(serializers.DictField(child=serializers.ListField(child=NumberField())))
    def get_ranges(self, dependence: Dependence) -> dict[str, list[float]]:
        return {value: [low, high] for value, low, high in dependence.ranges}


class StratumSerializer(serializers.Serializer[StratumEffect]):
    """Runs with equal held facts: one level ÷ another."""

    facts = serializers.SerializerMethodField(help_text="those that are held equal, as plain text")
    unknown = serializers.ListField(
        source="stratum.unknown",
        child=serializers.CharField(),
        help_text="held facts that are not known, and equal only because all runs are on one target",
    )
    differs = serializers.ListField(
        source="stratum.differs", child=serializers.CharField(), help_text="facts that come with the factor and differ"
    )
    sizes = serializers.CharField(source="stratum.sizes", help_text="file_size, or file_size_over_ram")
    n = serializers.SerializerMethodField(help_text="runs of the level, and of the one that it is held against")
    ratio = NumberField(help_text="of geometric means")
    low = serializers.SerializerMethodField(help_text="95 % interval (Welch); null with too few runs")
    high = serializers.SerializerMethodField()
    log_ratio = serializers.SerializerMethodField()
    log_variance = serializers.SerializerMethodField(help_text="null with too few runs; then the set does not count")
    apart_in_time = serializers.BooleanField(
        source="is_apart_in_time", help_text="one level was measured before the other"
    )
    runs = serializers.SerializerMethodField(help_text="ids of the runs by level, at most 400 of each configuration")

    @extend_schema_field(serializers.DictField(child=serializers.CharField()))
    def get_facts(self, effect: StratumEffect) -> dict[str, str]:
        return dict(effect.stratum.facts)

    @extend_schema_field(serializers.ListField(child=serializers.IntegerField()))
    def get_n(self, effect: StratumEffect) -> list[int]:
        return list(effect.n)

    @extend_schema_field(NumberField(allow_null=True))
    def get_low(self, effect: StratumEffect) -> float | None:
        return effect.interval[0] if effect.interval else None

    @extend_schema_field(NumberField(allow_null=True))
    def get_high(self, effect: StratumEffect) -> float | None:
        return effect.interval[1] if effect.interval else None

    @extend_schema_field(NumberField)
    def get_log_ratio(self, effect: StratumEffect) -> float:
        return math.log(effect.ratio)

    @extend_schema_field(NumberField(allow_null=True))
    def get_log_variance(self, effect: StratumEffect) -> float | None:
        return effect.logs.variance if effect.logs else None

    @extend_schema_field(serializers.DictField(child=serializers.ListField(child=serializers.IntegerField())))
    def get_runs(self, effect: StratumEffect) -> dict[str, list[int]]:
        return {level: list(effect.stratum.sides[level].runs) for level in (effect.level, effect.against)}


class LevelContrastSerializer(serializers.Serializer[LevelContrast]):
    """One level against another, over all strata that have both."""

    level = serializers.CharField()
    against = serializers.CharField()
    finding = serializers.CharField(help_text=FINDINGS)
    ratio = NumberField(allow_null=True, help_text="null where no stratum has enough runs, or strata disagree")
    low = serializers.SerializerMethodField(help_text="95 % interval")
    high = serializers.SerializerMethodField()
    p = serializers.SerializerMethodField()
    p_adjusted = NumberField(allow_null=True, help_text="Holm's, for all contrasts of the answer together")
    method = serializers.SerializerMethodField(help_text="welch, common or hartung-knapp; null without an effect")
    sets = serializers.SerializerMethodField(help_text="strata that count")
    tau = NumberField(allow_null=True, help_text="spread between strata as a ratio: 1.1 is ± 10 %")
    tau2 = serializers.SerializerMethodField(help_text="variance between strata, of logarithms")
    i2 = serializers.SerializerMethodField(help_text="share of the spread that lies between strata, 0 to 1")
    q_p = serializers.SerializerMethodField(help_text="p of the test that all strata have one effect")
    prediction = serializers.SerializerMethodField(help_text="95 % interval for a further stratum; null for few")
    dependence = DependenceSerializer(allow_null=True)
    strata = StratumSerializer(source="effects", many=True)

    @extend_schema_field(NumberField(allow_null=True))
    def get_low(self, contrast: LevelContrast) -> float | None:
        return contrast.interval[0] if contrast.interval else None

    @extend_schema_field(NumberField(allow_null=True))
    def get_high(self, contrast: LevelContrast) -> float | None:
        return contrast.interval[1] if contrast.interval else None

    @extend_schema_field(NumberField(allow_null=True))
    def get_p(self, contrast: LevelContrast) -> float | None:
        return contrast.combination.p if contrast.combination else None

    def get_method(self, contrast: LevelContrast) -> str | None:
        return contrast.combination.method if contrast.combination else None

    def get_sets(self, contrast: LevelContrast) -> int:
        return contrast.combination.sets if contrast.combination else 0

    @extend_schema_field(NumberField(allow_null=True))
    def get_tau2(self, contrast: LevelContrast) -> float | None:
        return contrast.combination.tau2 if contrast.combination else None

    @extend_schema_field(NumberField(allow_null=True))
    def get_i2(self, contrast: LevelContrast) -> float | None:
        return contrast.combination.i2 if contrast.combination else None

    @extend_schema_field(NumberField(allow_null=True))
    def get_q_p(self, contrast: LevelContrast) -> float | None:
        return contrast.combination.q_p if contrast.combination else None

    @extend_schema_field(serializers.ListField(child=NumberField(), allow_null=True))
    def get_prediction(self, contrast: LevelContrast) -> list[float] | None:
        return list(contrast.prediction) if contrast.prediction else None


class NearestPairSerializer(serializers.Serializer[NearestPair]):
    """Two levels that differ in the fewest other facts; there is no verdict between them."""

    levels = serializers.ListField(child=serializers.CharField())
    differs = serializers.ListField(child=serializers.CharField(), help_text="other facts, the most telling first")
    unknown = serializers.ListField(child=serializers.CharField(), help_text="facts that one of them does not know")
    means = serializers.SerializerMethodField(help_text="geometric means of both, side by side, in base units")

    @extend_schema_field(serializers.ListField(child=NumberField()))
    def get_means(self, pair: NearestPair) -> list[float]:
        return [math.exp(group.logs.mean) for group in pair.groups]


class MissingRunsSerializer(serializers.Serializer[MissingRuns]):
    """Runs that would make a stratum. The context has the factor."""

    n = serializers.IntegerField()
    level = serializers.CharField()
    facts = serializers.SerializerMethodField(help_text="that the runs would have to have")
    text = serializers.SerializerMethodField()

    @extend_schema_field(serializers.DictField(child=serializers.CharField()))
    def get_facts(self, missing: MissingRuns) -> dict[str, str]:
        return {name: missing.like.facts[name] for name in missing.changed if name in missing.like.facts}

    def get_text(self, missing: MissingRuns) -> str:
        return missing_words(missing, self.context["factor"])


class MissingPlanSerializer(serializers.Serializer[MissingPlan]):
    """A plan for runs that are missing, or why there is none."""

    texts = serializers.ListField(child=serializers.CharField(), help_text="the runs in words")
    rounds = serializers.IntegerField()
    targets = serializers.SerializerMethodField(help_text="ids of the targets that fit")
    run = serializers.IntegerField(allow_null=True, help_text="whose job is repeated")
    problem = serializers.CharField(help_text="why no plan can be made; empty where one can")
    page = serializers.SerializerMethodField(help_text="the form of a new plan, filled in; null where none can be made")
    body = serializers.SerializerMethodField(help_text="for `POST plans/`; null where none can be made")
    made = serializers.IntegerField(
        source="made.pk", allow_null=True, default=None,
        help_text="the newest plan that was made of it for this question; null where there is none",
    )  # fmt: skip

    @extend_schema_field(serializers.ListField(child=serializers.IntegerField()))
    def get_targets(self, plan: MissingPlan) -> list[int]:
        return [target.pk for target in plan.targets]

    @extend_schema_field(serializers.URLField(allow_null=True))
    def get_page(self, plan: MissingPlan) -> str | None:
        return str(self.context["request"].build_absolute_uri(plan.address)) if plan.address else None

    @extend_schema_field(serializers.DictField(allow_null=True))
    def get_body(self, plan: MissingPlan) -> dict[str, Any] | None:
        if plan.problem:
            return None
        points = points_of_jobs((FileSize(bytes=job["file_size"]), job) for job in plan.jobs)
        return {
            "title": plan.title, "targets": self.get_targets(plan), "points": points,
            "stopping": {"kind": "fixed", "rounds": plan.rounds}, "notes": "; ".join(plan.texts),
            "question": plan.question,
        }  # fmt: skip


class FactorAnswerSerializer(serializers.Serializer[FactorAnswer]):
    """The answer to one question. The context has `addresses`: question → address of its page."""

    question = serializers.CharField(source="factor")
    title = serializers.SerializerMethodField()
    operation = serializers.CharField()
    metric = serializers.CharField()
    answered = serializers.BooleanField(source="is_answered")
    finding = serializers.CharField(help_text=FINDINGS)
    sentence = serializers.SerializerMethodField(help_text="the answer, or why there is none")
    sets = serializers.IntegerField(help_text="strata that count")
    runs = serializers.IntegerField(help_text="in the strata that count")
    runs_left_out = serializers.IntegerField(help_text="that have a level and are in no stratum that counts")
    levels = serializers.SerializerMethodField(help_text="runs by level, matched or not")
    levels_left_out = serializers.IntegerField(help_text="of very many levels, those with the fewest runs")
    held = serializers.ListField(child=serializers.CharField(), help_text="facts that are held equal")
    implied = serializers.ListField(
        child=serializers.CharField(), help_text="facts that come with the factor and differ"
    )
    ignored = serializers.ListField(child=serializers.CharField(), help_text="facts that the address leaves out")
    nowhere = serializers.ListField(
        child=serializers.CharField(), help_text="facts that every run has and none tells: they could not be held"
    )
    contrasts = LevelContrastSerializer(many=True)
    nearest = NearestPairSerializer(many=True)
    missing = serializers.SerializerMethodField(help_text="runs that would make a stratum")
    settling = serializers.SerializerMethodField(
        help_text="runs that would probably settle an answer that shows no difference"
    )
    plans = serializers.SerializerMethodField(
        help_text="for the runs that are missing: a plan each, of one question of the own lab's runs alone"
    )
    caveats = serializers.SerializerMethodField(
        help_text="of the runs in the matched sets; null where they were not looked for, as in a list of questions"
    )
    caveats_looked_at = serializers.SerializerMethodField(
        help_text="runs in which they were looked for, and runs in the sets; null where they were not looked for"
    )
    tests = serializers.IntegerField(help_text="contrasts whose p were adjusted together")
    permalink = serializers.SerializerMethodField()

    def get_title(self, answer: FactorAnswer) -> str:
        return str(BY_NAME[answer.factor].title)

    def get_sentence(self, answer: FactorAnswer) -> str:
        factor = BY_NAME[answer.factor]
        return sentence(answer, factor) if answer.is_answered else reason(answer, factor)

    @extend_schema_field(serializers.DictField(child=serializers.IntegerField()))
    def get_levels(self, answer: FactorAnswer) -> dict[str, int]:
        return dict(answer.candidates or {})

    @extend_schema_field(MissingRunsSerializer(many=True))
    def get_missing(self, answer: FactorAnswer) -> Any:
        context = {**self.context, "factor": BY_NAME[answer.factor]}
        return [MissingRunsSerializer(missing, context=context).data for missing in answer.missing]

    @extend_schema_field(MissingRunsSerializer(many=True))
    def get_settling(self, answer: FactorAnswer) -> Any:
        context = {**self.context, "factor": BY_NAME[answer.factor]}
        return [MissingRunsSerializer(missing, context=context).data for missing in answer.settling]

    @extend_schema_field(MissingPlanSerializer(many=True))
    def get_plans(self, answer: FactorAnswer) -> Any:
        return MissingPlanSerializer(self.context.get("plans", ()), many=True, context=self.context).data

    @extend_schema_field(SetCaveatSerializer(many=True, allow_null=True))
    def get_caveats(self, answer: FactorAnswer) -> Any:
        caveats = self.context.get("caveats")
        return SetCaveatSerializer(caveats.found, many=True).data if caveats else None

    @extend_schema_field(LookedAtSerializer(allow_null=True))
    def get_caveats_looked_at(self, answer: FactorAnswer) -> Any:
        caveats = self.context.get("caveats")
        return LookedAtSerializer(caveats).data if caveats else None

    @extend_schema_field(serializers.URLField)
    def get_permalink(self, answer: FactorAnswer) -> str:
        return str(self.context["addresses"][answer.factor])


class QuestionReportSerializer(serializers.Serializer[Any]):
    """All questions of a lab, judged together."""

    runs = serializers.IntegerField(help_text="that were looked at")
    tests = serializers.IntegerField(help_text="contrasts whose p were adjusted together")
    results = FactorAnswerSerializer(
        source="answers",
        many=True,
        help_text="those with an answer first, then those that these runs cannot answer yet",
    )
    permalink = serializers.SerializerMethodField()

    @extend_schema_field(serializers.URLField)
    def get_permalink(self, report: Any) -> str:
        return str(self.context["permalink"])
