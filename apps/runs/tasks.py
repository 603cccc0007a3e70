"""Celery tasks of runs."""

import logging

from celery import shared_task

from apps.runs.artefacts.integrity import broken_references

log = logging.getLogger(__name__)


@shared_task(name="runs.check_samples")
def check_samples() -> int:
    """Log references of samples that lead nowhere, every night, because the database does not check them.

    Returns:
        How many kinds of references are broken.
    """
    broken = list(broken_references())
    for sentence in broken:
        log.error("%s", sentence)
    return len(broken)
