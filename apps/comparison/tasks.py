"""Where Celery looks for this app's tasks."""

from apps.comparison.claiming.tasks import evaluate_claims, sweep_claims
from apps.comparison.trends.tasks import evaluate_watch, look_at_all, send_delivery, sweep_trends

__all__ = ["evaluate_claims", "evaluate_watch", "look_at_all", "send_delivery", "sweep_claims", "sweep_trends"]
