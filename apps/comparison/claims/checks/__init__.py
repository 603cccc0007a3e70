"""Claims: a report's conclusions as statements that are checked against the samples as they are now. Pure.

A claim has one or more checks (`definition.py`). Each check makes comparisons, one for each value of what it is made `per`
(each file size, each configuration …), and each comparison holds, fails, or cannot be made because a value is missing
or because a range of values leaves it open. The rule, which has no weights:

- a check **holds** if all comparisons that can be made hold, **fails** if none does, holds **partly** otherwise; if none
  can be made it has **no data**;
- a claim is `not checkable` if all its checks have no data, `supported` if all checks hold, `contradicted` if every check
  that has data fails, and `partly` supported otherwise.

So a check without data keeps a claim from being supported, and never contradicts it.
"""
