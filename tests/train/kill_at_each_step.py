"""Forks processes that save and die at the first, second ... call to the operating system.

A program for test_checkpoint_crash. Python tells of its calls (open, rename, remove ...) by audit
events; the process kills itself, with SIGKILL, in the middle of one. Prints what is found after
each death: the latest checkpoint, restored.
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
        if event.partition(".")[0] in ("open", "os", "shutil"):
            calls -= 1
            if calls < 0:
                os.kill(os.getpid(), signal.SIGKILL)

    sys.addaudithook(count)
    manager.save()
    os._exit(0)


def main(folder):
    calls = 0
    while True:
        child = os.fork()
        if not child:
            save_and_die(folder, calls)
        _, status = os.waitpid(child, 0)
        mine = checkpoint_writer.checkpoint()
        mine.restore(train.latest_checkpoint(folder)).assert_consumed()
        values = {float(value) for part in mine.parts for value in part.numpy()}
        print(calls, os.WTERMSIG(status), *sorted(values), len(list(Path(folder).glob("ckpt-*s"))))
        if not status:
            return
        calls += 1


if __name__ == "__main__":
    main(sys.argv[1])
