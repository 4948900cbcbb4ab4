"""Compute cases with TensorFlow. To remake the files in recorded/ after a change of the cases:

    TENSORFLOW_PYTHON tests/oracle/record.py [topic ...]      # cases_<topic>.py; all without one

`record.py --live PATH SEED` writes other random shapes and values to PATH; test_live.py uses that.
"""

import sys
from pathlib import Path

HERE = Path(__file__).parent
if __name__ == "__main__":
    sys.path.insert(0, str(HERE.parent))

from oracle import cases, differential  # noqa: E402

RECORDED = HERE / "recorded"


def record(tf, table, seed):
    results = {}
    for case in table:
        for dtype in case.dtypes:
            arrays = case.draw(dtype, seed)
            try:
                result = differential.run(tf, case, arrays)
            except Exception as error:
                raise RuntimeError(f"{case.name} [{dtype}]: {error}") from error
            results[f"{case.name} [{dtype}]"] = {"inputs": arrays} | result
    return results


def write(path, results):
    path.parent.mkdir(exist_ok=True)
    differential.save(path, results)
    missing = [name for name, r in results.items() if "LookupError" in (r["first"], r["second"])]
    print(f"{len(results)} results in {path}; TensorFlow has no gradient for {missing}")


def main(*arguments):
    import tensorflow

    if arguments[:1] == ("--live",):
        path, seed = arguments[1:]
        write(Path(path), record(tensorflow, cases.table(int(seed)), int(seed)))
    else:
        for name in arguments or cases.TOPICS:
            write(RECORDED / f"{name}.npz", record(tensorflow, cases.topic(name), 0))


if __name__ == "__main__":
    main(*sys.argv[1:])
