"""The process of one system: reads requests on stdin, answers on stdout, one JSON object a line."""

from __future__ import annotations

import json
import os
import platform
import sys
import time
import traceback
from importlib import metadata
from typing import Any, TextIO

import numpy as np

from bench.question import Question, Run, Step, find_questions
from bench.systems import SYSTEMS, System


def checksum(system: System, arrays: Any, ordered: bool) -> list[tuple[float, ...]]:
    """The sum and the sum of magnitudes of each array, in float64; if `ordered`, a weighted sum."""
    values = [np.asarray(system.to_numpy(array), np.float64) for array in arrays]
    sums = [(float(value.sum()), float(np.abs(value).sum())) for value in values]
    if not ordered:
        return sums
    weighted = [float(value.ravel() @ np.cos(np.arange(value.size))) for value in values]
    return [(*pair, third) for pair, third in zip(sums, weighted, strict=True)]


def calibrate(step: Step, seconds: float) -> int:
    """How many steps take about `seconds`."""
    loops = 1
    while True:
        start = time.perf_counter()
        for _ in range(loops):
            step()
        elapsed = time.perf_counter() - start
        if elapsed >= seconds / 4:
            return max(1, round(loops * seconds / elapsed))
        loops *= 2


def version_of(module: Any) -> str:
    # autograd has no __version__.
    return getattr(module, "__version__", None) or metadata.version(module.__name__)


class Worker:
    def __init__(self, system_name: str, wire: TextIO) -> None:
        self.name = system_name
        self.system = SYSTEMS[system_name]
        self.wire = wire
        self.questions: dict[str, Question] = find_questions()
        self.prepared: dict[str, tuple[Step | None, int, Any]] = {}
        self.module = self.system.load()
        self.version = version_of(self.module)

    def send(self, message: dict[str, Any]) -> None:
        print(json.dumps(message), file=self.wire, flush=True)

    def prepare(self, request: dict[str, Any]) -> tuple[Step | None, int, Any]:
        key = json.dumps(request, sort_keys=True)
        if key not in self.prepared:
            question = self.questions[request["question"]]
            step = question.programs[self.name](self.module, **request["case"])
            if step and question.timed:
                check = checksum(self.system, step(), question.ordered)
                self.prepared[key] = step, calibrate(step, request["seconds"]), check
            else:
                self.prepared[key] = step, 1, None
        return self.prepared[key]

    def answer(self, request: dict[str, Any]) -> dict[str, Any]:
        step, loops, check = self.prepare(request)
        if step is None:
            return {"sample": {}, "checksum": None}
        run = Run(loops, request["case"], lambda done: self.send({"progress": done}))
        sample = self.questions[request["question"]].measure(step, run)
        return {"sample": sample, "checksum": check}

    def serve(self, requests: TextIO) -> None:
        self.send({"version": self.version, "python": platform.python_version()})
        for line in requests:
            try:
                self.send(self.answer(json.loads(line)))
            except Exception:
                self.send({"error": traceback.format_exc()})


def main() -> None:
    # A library that prints must not speak into the protocol: stdout becomes stderr.
    wire = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    try:
        worker = Worker(sys.argv[1], wire)
    except Exception as error:
        print(json.dumps({"error": f"{type(error).__name__}: {error}"}), file=wire, flush=True)
        return
    worker.serve(sys.stdin)


if __name__ == "__main__":
    main()
