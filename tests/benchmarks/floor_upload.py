"""The floor of P7: Django with nothing but one view, which reads the uploaded report and COPYs 46 rows. `floor_upload.py PORT`"""

import os
import sys

import django
import orjson
import uvicorn
from a2wsgi import WSGIMiddleware
from django.conf import settings
from django.core.wsgi import get_wsgi_application
from django.http import HttpRequest, HttpResponse
from django.urls import path
from django.views.decorators.csrf import csrf_exempt

from apps.lib.env import database_from_url

ROWS = 46
settings.configure(
    ROOT_URLCONF=__name__,
    SECRET_KEY="floor",
    ALLOWED_HOSTS=["127.0.0.1"],
    DATABASES={"default": {**database_from_url(os.environ["DATABASE_URL"]), "CONN_MAX_AGE": 60}},
)
django.setup()
from django.db import connection, transaction  # noqa: E402


@csrf_exempt
def view(request: HttpRequest) -> HttpResponse:
    if request.method == "POST":
        report = orjson.loads(request.FILES["file"].read())  # type: ignore[union-attr]
        value = float(report["jobs"][0]["read"]["iops"])
        with transaction.atomic(), connection.cursor() as cursor:
            cursor.execute("CREATE TABLE IF NOT EXISTS floor_upload (number int, value float8)")
            with cursor.copy("COPY floor_upload FROM STDIN (FORMAT BINARY)") as copy:
                copy.set_types(("int4", "float8"))
                for number in range(ROWS):
                    copy.write_row((number, value))
    return HttpResponse("ok")


urlpatterns = [path("", view)]

if __name__ == "__main__":
    uvicorn.run(WSGIMiddleware(get_wsgi_application()), port=int(sys.argv[1]), log_level="error")
