"""Forks processes that save and die at the first, second ... call to the operating system.

A program for test_checkpoint_crash. Python tells of its calls (open, rename, remove ...) by audit
events; the process kills itself, with SIGKILL, in the middle of one. Prints what is found after
each death: how many files there are, and the values in the latest checkpoint.
"""

import os
import signal
import sys
from pathlib import Path

from gradtape import train

sys.path.insert(0, os.path.dirname(__file__))
import checkpoint_writer


def save_and_die(folder, calls):
    mine = checkpoint_writer.checkpoint()
    manager = train.CheckpointManager(mine, folder, max_to_keep=2)
    manager.restore_or_initialize()
    for part in mine.parts:
        part.assign(part + 1.0)

    def count(event, _):
        nonlocal calls
        if event == "open" or event.startswith("os."):
            calls -= 1
            if calls == -1:
                os.kill(os.getpid(), signal.SIGKILL)

    sys.addaudithook(count)
    manager.save()


def main(folder):
    killed, calls = True, 0
    while killed:
        child = os.fork()
        if not child:
            try:
                save_and_die(folder, calls)
            finally:
                os._exit(0)
        _, status = os.waitpid(child, 0)
        killed = os.WIFSIGNALED(status)
        mine = checkpoint_writer.checkpoint()
        mine.restore(train.latest_checkpoint(folder)).assert_consumed()
        values = {float(value) for part in mine.parts for value in part.numpy()}
        files = len(list(Path(folder).glob("ckpt-*.safetensors")))
        print(calls, int(killed), files, *sorted(values))
        calls += 1


if __name__ == "__main__":
    main(sys.argv[1])
