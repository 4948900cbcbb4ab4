"""Saves checkpoints in a loop until it is killed: a program for test_checkpoint_crash.

Each variable holds the number of the save. A line with the number follows each save.
"""

import sys

import gradtape as tf
from gradtape import train

SIZES = (0, 1, 1000, 300_000)


def checkpoint():
    return train.Checkpoint(parts=[tf.Variable(tf.zeros([size])) for size in SIZES])


def main(folder, count):
    mine = checkpoint()
    manager = train.CheckpointManager(mine, folder, max_to_keep=2)
    manager.restore_or_initialize()
    for _ in range(count):
        number = int(mine.save_counter) + 1
        for part in mine.parts:
            part.assign(tf.fill(part.shape, float(number)))
        manager.save()
        print(number, flush=True)


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]))
