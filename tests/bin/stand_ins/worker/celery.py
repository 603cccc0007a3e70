"""Stand-in for the Celery app."""

import os
from urllib.parse import urlsplit

from celery import Celery

redis = urlsplit(os.environ["REDIS_URL"])
broker = f"redis+socket://{redis.path}?virtual_host=0" if redis.scheme == "unix" else os.environ["REDIS_URL"]
app = Celery("stand-in", broker=broker)
