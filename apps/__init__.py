from worker.celery import app as celery_app

__all__ = ["celery_app"]  # so that tasks sent from pages know their broker
