"""`python -m worker.agent` from a checkout; the built agent.pyz starts in `main` as well."""

import sys

from .main import main

sys.exit(main())
