"""The Celery app: queues, beat schedule, and the rules that keep duplicate delivery harmless."""

import logging.config
import os
from typing import Any

from celery import Celery
from celery.schedules import crontab
from celery.signals import setup_logging

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "apps.settings")

# The worker would import every page to check addresses that it never serves; `bin/test` checks them.
os.environ.setdefault("CELERY_SKIP_CHECKS", "1")


def configured(**options: Any) -> Celery:
    """Return the Celery application with the settings that worker and beat share, without tasks."""
    made = Celery("spindle", task_cls="apps.core.task_queue:PatientTask", **options)
    made.config_from_object("django.conf:settings", namespace="CELERY")
    made.conf.update(
        task_default_queue="spindle",
        # Short tasks that a person waits for: a process of their own takes them, never behind a result that is being read.
        task_routes={
            "agents.dispatch_host": {"queue": "dispatch"},
            "agents.dispatch_waiting": {"queue": "dispatch"},
            "plans.run_ended": {"queue": "dispatch"},
            "plans.advance_host": {"queue": "dispatch"},
            "plans.sweep": {"queue": "dispatch"},
            "plans.fire_schedules": {"queue": "dispatch"},
        },
        task_ignore_result=True,  # the database holds state, there is no result backend
        task_acks_late=True,
        worker_prefetch_multiplier=1,
        task_time_limit=600,  # below the broker's visibility timeout of an hour, so a task never runs beside its own redelivery
        broker_connection_retry_on_startup=True,
        task_publish_retry_policy={"max_retries": 1, "interval_start": 0},  # a person waits; sweepers try for longer
        beat_schedule={
            "dispatch": {"task": "agents.dispatch_waiting", "schedule": 10.0, "options": {"expires": 10}},
            "advance-plans": {"task": "plans.sweep", "schedule": 10.0, "options": {"expires": 10}},
            "fire-schedules": {"task": "plans.fire_schedules", "schedule": 20.0, "options": {"expires": 20}},
            "sweep": {"task": "agents.sweep", "schedule": 30.0, "options": {"expires": 25}},
            "sweep-uploads": {"task": "uploads.sweep", "schedule": 30.0, "options": {"expires": 25}},
            "sweep-claims": {"task": "claims.sweep", "schedule": 120.0, "options": {"expires": 110}},
            "sweep-trends": {"task": "trends.sweep", "schedule": 30.0, "options": {"expires": 25}},
            "sweep-deliveries": {"task": "notifications.sweep", "schedule": 30.0, "options": {"expires": 25}},
            "delete-old": {"task": "labs.delete_old", "schedule": 3600.0, "options": {"expires": 3000}},
            "check-samples": {"task": "runs.check_samples", "schedule": crontab(hour=4, minute=50)},
            "look-at-trends": {"task": "trends.nightly", "schedule": crontab(hour=4, minute=20)},
        },
    )
    return made


@setup_logging.connect  # type: ignore[untyped-decorator]
def set_up_logging(**_: Any) -> None:
    """Format the log lines of workers and scheduler like those of the web process."""
    from django.conf import settings

    logging.config.dictConfig(settings.LOGGING)


app = configured()
app.autodiscover_tasks()
