"""The scheduler's own Celery app: it sends tasks by their names, so it loads neither Django's models nor any task."""

from worker.celery import configured

app = configured(fixups=set())  # Django's would set up all of it
