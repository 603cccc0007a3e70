"""A comparison of more samples than it takes says where they are to be had."""

from urllib.parse import quote, urlencode

from django.urls import reverse

from apps.comparison.question import Question, QuestionError


class TooManySamplesError(QuestionError):
    """A silent part of the data would be a wrong answer. The samples themselves are streamed, however many there are."""

    def __init__(self, question: Question, most: int) -> None:
        pairs = [("operation", question.operation), ("metric", question.metric), *question.filters]
        self.address = f"{reverse('api-samples-as', args=['csv'])}?{urlencode(pairs, quote_via=quote)}"
        expected = f"at most {most}; add a filter, or take the samples themselves, as many as they are: {self.address}"
        super().__init__("filters", f"more than {most} samples", expected)
