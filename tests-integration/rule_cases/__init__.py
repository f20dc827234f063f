"""Case tables of the primitives, one module per family, from which the rule matrix is checked.

To cover a new primitive, add cases to the table of its family: `rule_cases.case` says what a case
is, `rule_cases.checks` what is found out from it.
"""

from __future__ import annotations

from rule_cases import (
    collectives,
    contractions,
    control,
    elementwise,
    indexing,
    reductions,
    shape,
    sorting,
)
from rule_cases.case import Case

FAMILIES = (
    elementwise,
    shape,
    reductions,
    contractions,
    indexing,
    sorting,
    control,
    collectives,
)

#: The cases of each primitive.
CASES: dict[str, list[Case]] = {}
for family in FAMILIES:
    for case in family.CASES:
        CASES.setdefault(case.primitive, []).append(case)
