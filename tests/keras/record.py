"""Compute what Keras gives on TensorFlow, for the ordinary tests:

TENSORFLOW_PYTHON tests/keras/record.py
"""

import sys
from pathlib import Path

HERE = Path(__file__).parent
RECORDED = HERE / "recorded"
if __name__ == "__main__":
    sys.path.append(str(HERE.parent))

from oracle import differential  # noqa: E402


def record_gradients():
    import gradients

    results = {}
    for name in gradients.names():
        try:
            statistics = gradients.statistics(name)
            results[name] = gradients.run(name) | {
                "statistics": statistics,
                "smooth": statistics is not None and gradients.is_smooth(name),
            }
        except Exception as error:
            raise RuntimeError(f"{name}: {error}") from error
    return results


def record_curves():
    import models

    return {name: models.train(name, "fit") for name in models.MODELS}


def write(name, results):
    RECORDED.mkdir(exist_ok=True)
    path = RECORDED / f"{name}.npz"
    differential.save(path, results)
    print(f"{len(results)} results in {path}, {path.stat().st_size / 1e6:.1f} MB")


def load(name):
    return differential.load(RECORDED / f"{name}.npz")


if __name__ == "__main__":
    write("gradients", record_gradients())
    write("curves", record_curves())
