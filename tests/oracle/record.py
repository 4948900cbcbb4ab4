"""Compute all cases with TensorFlow. To remake recorded.npz after a change of the cases:

    TENSORFLOW_PYTHON tests/oracle/record.py

`record.py PATH SEED` writes other random shapes and values to PATH; test_live.py uses that.
"""

import sys
from pathlib import Path

HERE = Path(__file__).parent
if __name__ == "__main__":
    sys.path.insert(0, str(HERE.parent))

from oracle import cases, differential  # noqa: E402

RECORDED = HERE / "recorded.npz"


def record(tf, seed):
    results = {}
    for case in cases.table(seed):
        for dtype in case.dtypes:
            arrays = case.draw(dtype, seed)
            try:
                result = differential.run(tf, case, arrays)
            except Exception as error:
                raise RuntimeError(f"{case.name} [{dtype}]: {error}") from error
            results[f"{case.name} [{dtype}]"] = {"inputs": arrays} | result
    return results


def main(path=RECORDED, seed="0"):
    import tensorflow

    results = record(tensorflow, int(seed))
    differential.save(path, results)
    missing = [name for name, r in results.items() if "LookupError" in (r["first"], r["second"])]
    print(f"{len(results)} results in {path}; TensorFlow has no gradient for {missing}")


if __name__ == "__main__":
    main(*sys.argv[1:])
