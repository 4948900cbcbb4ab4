"""What does a step of `fit` cost with the threads that each backend takes by default?"""

from __future__ import annotations

from bench.keras._models import CASES, LARGE
from bench.keras.fit import PEERS, TARGETS, fit
from bench.question import Question, returned
from bench.systems import all_threads

question = Question(
    title="fit, all threads",
    suite="keras",
    measure=returned,
    note="the same with the threads that each backend takes by default.",
    cases=CASES | LARGE,
    targets=TARGETS,
    max_rounds=3,
    own_process=lambda case: all_threads(),
)
question.program("gradtape", *PEERS)(fit)
