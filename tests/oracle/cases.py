"""All cases of the comparison with TensorFlow."""

from . import cases_math, cases_random, cases_rows, cases_shape


def table(seed=0):
    """The cases; `seed` chooses the shapes of the random ones. Values come from `Case.draw`."""
    cases = [*cases_rows.CASES, *cases_math.CASES, *cases_shape.CASES, *cases_random.table(seed)]
    names = [case.name for case in cases]
    assert len(names) == len(set(names)), {n for n in names if names.count(n) > 1}
    return cases
