"""Where Celery finds this app's tasks."""

from apps.comparison.claims.tasks import evaluate_claims, sweep_claims

__all__ = ["evaluate_claims", "sweep_claims"]
