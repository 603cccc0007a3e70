"""The options of fio that may be asked for, as the forms of this app and others take them.

The table itself is `apps.parsers.fio.job_options`, because job files are read with it too. A new option is a row there,
a row of `worker/agent/options/`, which each host checks again, and is then in form, REST and job files.
"""

from apps.parsers.fio.job_options.kinds import GIB as GIB
from apps.parsers.fio.job_options.kinds import KIB as KIB
from apps.parsers.fio.job_options.kinds import MIB as MIB
from apps.parsers.fio.job_options.kinds import TIB as TIB
from apps.parsers.fio.job_options.kinds import ByteSize as ByteSize
from apps.parsers.fio.job_options.kinds import OneOf as OneOf
from apps.parsers.fio.job_options.kinds import OptionKind as OptionKind
from apps.parsers.fio.job_options.kinds import WholeNumber as WholeNumber
from apps.parsers.fio.job_options.kinds import YesOrNo as YesOrNo
from apps.parsers.fio.job_options.option import REQUIRED as REQUIRED
from apps.parsers.fio.job_options.option import FioOption as FioOption
from apps.parsers.fio.job_options.option import FormSection as FormSection
from apps.parsers.fio.job_options.option import OptionGroup as OptionGroup
from apps.parsers.fio.job_options.option import Written as Written
from apps.parsers.fio.job_options.table import BY_NAME as BY_NAME
from apps.parsers.fio.job_options.table import OPTIONS as OPTIONS
from apps.parsers.fio.job_options.table import options_in as options_in
from apps.parsers.fio.job_options.table import options_of as options_of
from apps.parsers.fio.job_options.usual import CHECKS as CHECKS
from apps.parsers.fio.job_options.usual import ENGINES as ENGINES
from apps.parsers.fio.job_options.usual import MAIN as MAIN
from apps.parsers.fio.job_options.usual import MORE as MORE
from apps.parsers.fio.job_options.usual import PATTERNS as PATTERNS
from apps.parsers.fio.job_options.usual import SYNCS as SYNCS
