"""Answers calls on standard input, one after another, in the process where Keras is imported.

process.py starts it and says why.
"""

import importlib
import os
import pickle
import sys
import traceback


def main():
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # what Keras prints is no answer
    while True:
        try:
            name, args, kwargs = pickle.load(sys.stdin.buffer)
        except EOFError:
            return
        try:
            module, function = name.split(".")
            found = getattr(importlib.import_module(module), function)(*args, **kwargs)
            answer = pickle.dumps(("result", found))
        except Exception:
            answer = pickle.dumps(("error", traceback.format_exc()))
        answers.write(answer)
        answers.flush()


if __name__ == "__main__":
    main()
