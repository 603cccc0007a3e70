"""Where Django finds this app's models; each is defined in the package that it belongs to."""

from apps.comparison.claims.models import Claim, VerdictChange
from apps.comparison.in_studies.models import StudyComparison
from apps.comparison.saved_comparisons.models import SavedComparison

__all__ = ["Claim", "SavedComparison", "StudyComparison", "VerdictChange"]
