"""Celery tasks of runs."""

import logging

from celery import shared_task

from apps.runs.integrity import broken_references

log = logging.getLogger(__name__)


@shared_task(name="runs.check_samples")
def check_samples() -> int:
    """Every night: what the database does not check with each row. Says how many kinds of references are broken."""
    broken = list(broken_references())
    for sentence in broken:
        log.error("%s", sentence)
    return len(broken)
