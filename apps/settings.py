"""Spindle's settings: one file, from the environment (see docs/how-to/administration.md for every name)."""

import os
from pathlib import Path

from csp.constants import NONCE, NONE, SELF

from apps.core.broker import connection_options
from apps.core.env import (
    celery_broker_url,
    contacts_from,
    database_from_url,
    envbool,
    envchoice,
    envint,
    envlist,
    envsecret,
    mail_from_url,
)
from apps.core.server.proxies import parse_proxies

BASE_DIR = Path(__file__).resolve().parent.parent
DATA_DIR = Path(os.environ.get("SPINDLE_DATA", BASE_DIR / "var"))
VERSION = "0.1.0"

DEBUG = envbool("SPINDLE_DEBUG", False)
SECRET_KEY = envsecret("SPINDLE_SECRET_KEY")
SITE_URL = os.environ.get("SPINDLE_URL", "http://127.0.0.1:8000").rstrip("/")
ALLOWED_HOSTS = envlist("SPINDLE_ALLOWED_HOSTS", "127.0.0.1,localhost,[::1]")
CSRF_TRUSTED_ORIGINS = [SITE_URL]
HTTPS = SITE_URL.startswith("https://")

INSTALLED_APPS = [
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.humanize",
    "django.contrib.messages",
    "django.contrib.postgres",
    "django.contrib.sessions",
    "django.contrib.staticfiles",
    "allauth",
    "allauth.account",
    "csp",
    "django_filters",
    "django_htmx",
    "drf_spectacular",
    "drf_spectacular_sidecar",
    "pghistory",
    "pgtrigger",
    "rest_framework",
    "apps.labs",
    "apps.inventory",
    "apps.runs",
    "apps.studies",
    "apps.plans",
    "apps.agents",
    "apps.uploads",
    "apps.comparison",
    "apps.notifications",
    "apps.trends",
    "apps.search",
    "apps.wiki",
    "apps.api",
    "apps.dashboard",
]

MIDDLEWARE = [
    "django.middleware.security.SecurityMiddleware",
    "whitenoise.middleware.WhiteNoiseMiddleware",
    "csp.middleware.CSPMiddleware",
    "django.contrib.sessions.middleware.SessionMiddleware",
    "apps.core.middleware.LanguageMiddleware",
    "django.middleware.common.CommonMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "django.contrib.messages.middleware.MessageMiddleware",
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
    "django_htmx.middleware.HtmxMiddleware",
    "allauth.account.middleware.AccountMiddleware",
    "apps.labs.middleware.LabMiddleware",
    "apps.core.unit_base.ReaderBaseMiddleware",
    "apps.inventory.history.authors.AuthorMiddleware",
    "apps.core.middleware.PlainAddressMiddleware",
    "apps.runs.middleware.LostBytesMiddleware",
    "apps.core.middleware.RefusedInputMiddleware",
]

ROOT_URLCONF = "apps.urls"
WSGI_APPLICATION = "apps.wsgi.application"
TEMPLATES = [
    {
        "BACKEND": "django.template.backends.django.DjangoTemplates",
        "DIRS": [BASE_DIR / "templates"],
        "APP_DIRS": True,
        "OPTIONS": {
            "context_processors": [
                "django.template.context_processors.request",
                "django.template.context_processors.i18n",
                "django.contrib.auth.context_processors.auth",
                "django.contrib.messages.context_processors.messages",
                "csp.context_processors.nonce",
                "apps.labs.middleware.lab",
                "apps.core.unit_base.unit_base",
            ],
            "builtins": ["apps.core.templatetags.form_key", "apps.core.templatetags.units"],
        },
    }
]

DATABASES = {
    "default": {
        **database_from_url(os.environ.get("DATABASE_URL", "postgresql://spindle@/spindle")),
        "CONN_MAX_AGE": envint("SPINDLE_CONN_MAX_AGE", 60),  # safe: pages run in a fixed pool of threads
        "CONN_HEALTH_CHECKS": True,
        # jit compiles for longer than these short queries run. Prepared are only the statements of `apps.core.sql`, which take longer to
        # plan than to run and have one good plan.
        "OPTIONS": {
            "options": "-c jit=off -c random_page_cost=1.1 -c plan_cache_mode=force_generic_plan",
            "prepare_threshold": 5,
            # A database that is away behind a network is given up after seconds, not after the kernel's quarter of an hour.
            "connect_timeout": 5,
            "tcp_user_timeout": 20_000,  # milliseconds
            "keepalives_idle": 10,
            "keepalives_interval": 5,
        },
    }
}
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"

REDIS_URL = os.environ.get("REDIS_URL", "redis://127.0.0.1:6379/0")
REDIS_PREFIX = os.environ.get("SPINDLE_REDIS_PREFIX", "spindle:")
CACHES = {
    "default": {
        "BACKEND": "apps.core.cache.PatientRedisCache",
        "LOCATION": REDIS_URL,
        "KEY_PREFIX": REDIS_PREFIX + "cache",
        "OPTIONS": connection_options(),
    }
}
CELERY_BROKER_URL = celery_broker_url(REDIS_URL)
CELERY_BROKER_TRANSPORT_OPTIONS = {
    "visibility_timeout": 3600,
    "global_keyprefix": REDIS_PREFIX,
    "socket_timeout": 2.0,  # longer than a worker's look at its queue, which takes a second
    "socket_connect_timeout": 2.0,
}

AUTH_USER_MODEL = "labs.User"
ACCOUNT_USER_MODEL_USERNAME_FIELD = None
AUTHENTICATION_BACKENDS = ["allauth.account.auth_backends.AuthenticationBackend"]
PASSWORD_HASHERS = ["django.contrib.auth.hashers.Argon2PasswordHasher"]
AUTH_PASSWORD_VALIDATORS = [
    {"NAME": "django.contrib.auth.password_validation.MinimumLengthValidator", "OPTIONS": {"min_length": 12}},
    {"NAME": "django.contrib.auth.password_validation.CommonPasswordValidator"},
    {"NAME": "django.contrib.auth.password_validation.UserAttributeSimilarityValidator"},
    {"NAME": "apps.labs.passwords.PasswordTrail"},
]
PASSWORD_RESET_TIMEOUT = (
    86_400  # seconds; a link also ends when it is used, at the next sign-in, and with another address
)
ACCOUNT_ADAPTER = "apps.labs.accounts.ClosedSignup"
ACCOUNT_LOGIN_METHODS = {"email"}
ACCOUNT_SIGNUP_FIELDS = ["email*", "password1*", "password2*"]
ACCOUNT_EMAIL_VERIFICATION = "none"  # accounts are made by an owner, there is no open sign-up
ACCOUNT_SESSION_REMEMBER = None
ACCOUNT_RATE_LIMITS = False  # by address of the sender and in Redis; ours are in apps/labs/sign_in.py
ACCOUNT_EMAIL_UNKNOWN_ACCOUNTS = False
ACCOUNT_FORMS = {
    "change_password": "apps.labs.accounts.OwnPasswordForm",
    "reset_password": "apps.labs.accounts.ForgottenPasswordForm",
}
LOGIN_URL = "account_login"
LOGIN_REDIRECT_URL = "overview"
ACCOUNT_LOGOUT_REDIRECT_URL = "account_login"
MAIL = mail_from_url(os.environ.get("SPINDLE_EMAIL_URL", ""))
EMAIL_BACKEND = os.environ.get("SPINDLE_EMAIL_BACKEND", MAIL.backend)
EMAIL_HOST, EMAIL_PORT, EMAIL_USE_TLS, EMAIL_USE_SSL = MAIL.host, MAIL.port, MAIL.use_tls, MAIL.use_ssl
EMAIL_HOST_USER, EMAIL_HOST_PASSWORD, EMAIL_TIMEOUT = MAIL.user, MAIL.password, 20
LABS_BY = envchoice("SPINDLE_LABS_BY", "owners", ("owners", "everyone", "command"))  # who may make labs
DEFAULT_FROM_EMAIL = os.environ.get("SPINDLE_EMAIL_FROM", "spindle@localhost")
SECURITY_CONTACTS = contacts_from(os.environ.get("SPINDLE_SECURITY_CONTACT", ""))
WEBHOOK_PRIVATE = envbool("SPINDLE_WEBHOOK_PRIVATE", False)  # may notifications go to addresses inside the network?

# One secure posture; over plain http (a lab's own machine) only what would lock people out is off.
SESSION_COOKIE_SECURE = CSRF_COOKIE_SECURE = SECURE_SSL_REDIRECT = HTTPS
SECURE_REDIRECT_EXEMPT = [r"^healthz$"]  # asked over http from inside
SECURE_HSTS_SECONDS = 31536000 if HTTPS else 0
SECURE_HSTS_INCLUDE_SUBDOMAINS = SECURE_HSTS_PRELOAD = HTTPS
SECURE_REFERRER_POLICY = "same-origin"
if envbool("SPINDLE_BEHIND_PROXY", False):
    SECURE_PROXY_SSL_HEADER = ("HTTP_X_FORWARDED_PROTO", "https")
# Whose X-Forwarded-For and -Proto are believed: with https a proxy on this machine is what the documentation asks for, else nobody's.
PROXIES = parse_proxies(
    os.environ.get("SPINDLE_PROXIES", os.environ.get("FORWARDED_ALLOW_IPS", "127.0.0.1,::1" if HTTPS else ""))
)
CSRF_FAILURE_VIEW = "apps.dashboard.errors.csrf_failed"
X_FRAME_OPTIONS = "DENY"
CONTENT_SECURITY_POLICY = {
    "DIRECTIVES": {
        "default-src": [NONE],
        "script-src": [SELF, NONCE],
        "style-src": [SELF],
        # Chart.js sets the size of its canvas through element.style from script, which CSP allows; no inline styles.
        "img-src": [SELF, "data:"],  # Tabler draws its form icons from data: addresses inside its own style sheet
        "font-src": [SELF],
        "connect-src": [SELF],
        "form-action": [SELF],
        "base-uri": [NONE],
        "frame-ancestors": [NONE],
    }
}

LANGUAGE_CODE = "en"
LANGUAGES = [("en", "English"), ("it", "Italiano"), ("ru", "Русский")]
LOCALE_PATHS = [BASE_DIR / "locale"]
FORMAT_MODULE_PATH = ["apps.core.formats"]  # numbers on pages are written the English way in every language
TIME_ZONE = "UTC"
USE_TZ = True

STATIC_URL = "/static/"
STATIC_ROOT = Path(os.environ.get("SPINDLE_STATIC_ROOT", DATA_DIR / "static"))
STATICFILES_DIRS = [BASE_DIR / "static"]
STORAGES = {
    "default": {"BACKEND": "django.core.files.storage.FileSystemStorage"},
    "staticfiles": {
        "BACKEND": "apps.core.server.static.PlainStaticFiles"
        if DEBUG or envbool("SPINDLE_PLAIN_STATIC", False)
        else "apps.core.server.static.StaticFiles"
    },
}
WHITENOISE_USE_FINDERS = envbool("SPINDLE_PLAIN_STATIC", False)
ARTEFACT_DIR = DATA_DIR / "artefacts"
MAX_UPLOAD = envint("SPINDLE_MAX_UPLOAD", 2 << 30)  # bytes of one request
DATA_UPLOAD_MAX_NUMBER_FILES = 1000
# Lists where people tick boxes take up to 1,000 of them and say so themselves; Django's own 1,000 would come first.
DATA_UPLOAD_MAX_NUMBER_FIELDS = 10_000
RUN_MARGIN = envint("SPINDLE_RUN_MARGIN", 300)  # seconds that a run may take beyond three times its estimate

REST_FRAMEWORK = {
    "DEFAULT_AUTHENTICATION_CLASSES": [
        "apps.api.authentication.LabTokenAuthentication",
        "apps.api.authentication.LabSessionAuthentication",
    ],
    "DEFAULT_PERMISSION_CLASSES": ["apps.api.permissions.LabPermission"],
    "DEFAULT_CONTENT_NEGOTIATION_CLASS": "apps.api.renderers.WeighedNegotiation",
    "DEFAULT_RENDERER_CLASSES": ["apps.api.renderers.JSON"],
    "DEFAULT_PARSER_CLASSES": ["apps.api.parsers.StrictJSONParser"],
    "DEFAULT_SCHEMA_CLASS": "apps.api.openapi.LabAutoSchema",
    "DEFAULT_PAGINATION_CLASS": "apps.api.pagination.Pages",
    "DEFAULT_FILTER_BACKENDS": ["apps.api.filters.ListFilterBackend"],
    "DEFAULT_THROTTLE_CLASSES": ["apps.api.throttles.TokenThrottle"],
    "DEFAULT_THROTTLE_RATES": {"token": os.environ.get("SPINDLE_API_RATE", "1200/min")},
    "EXCEPTION_HANDLER": "apps.api.problems.problem_details",
    "URL_FORMAT_OVERRIDE": "format",
    "DATETIME_FORMAT": None,  # the JSON renderer writes dates, in UTC
}
SPECTACULAR_SETTINGS = {
    "TITLE": "Spindle",
    "DESCRIPTION": "Storage benchmarks: hosts, runs, samples and comparisons. See README for tokens.",
    "VERSION": "1",
    "SERVE_INCLUDE_SCHEMA": False,
    "SERVE_PERMISSIONS": ["rest_framework.permissions.AllowAny"],
    "SERVE_AUTHENTICATION": [],
    "SWAGGER_UI_DIST": "SIDECAR",
    "SWAGGER_UI_FAVICON_HREF": "SIDECAR",
    "SCHEMA_PATH_PREFIX": "/api/v1",
}

# Web, worker, beat and commands write lines to stderr; bin/up keeps them in files that it turns over, containers and systemd in their journals.
LOGGING = {
    "version": 1,
    "disable_existing_loggers": False,
    "formatters": {
        "line": {"()": "apps.core.log_lines.LineFormatter", "fmt": "%(asctime)s %(levelname)s %(name)s %(message)s"}
    },
    "filters": {"flood": {"()": "apps.core.log_lines.FloodFilter"}},
    "handlers": {"stderr": {"class": "logging.StreamHandler", "formatter": "line", "filters": ["flood"]}},
    "root": {"handlers": ["stderr"], "level": os.environ.get("SPINDLE_LOG_LEVEL", "WARNING")},
    "loggers": {
        "uvicorn": {"handlers": ["stderr"], "level": "INFO", "propagate": False},
        "uvicorn.access": {
            "handlers": [],
            "level": "CRITICAL",
            "propagate": False,
        },  # nobody reads a line for every poll
        "django.server": {"handlers": ["stderr"], "propagate": False},
    },
}
