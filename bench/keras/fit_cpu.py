"""What does a step of `fit` cost in CPU time, of all threads of its process?"""

from __future__ import annotations

import time
from functools import partial

from bench.keras._models import CASES, LARGE
from bench.keras.fit import PEERS, TARGETS, fit
from bench.question import Question, returned

question = Question(
    title="fit, CPU time",
    suite="keras",
    measure=returned,
    note=(
        "the same in CPU time, which other load on the machine changes little. A backend that "
        "computes while Python goes on, as JAX does, uses more of it than the clock shows."
    ),
    cases=CASES | LARGE,
    targets=TARGETS,
    max_rounds=5,
)
question.program("gradtape", *PEERS)(partial(fit, clock=time.process_time))
