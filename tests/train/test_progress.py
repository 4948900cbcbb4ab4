"""Progbar: Keras' averages, and what is seen on a terminal and in a file."""

import fcntl
import importlib
import os
import pty
import re
import struct
import sys
import termios

import numpy as np
import pytest


@pytest.fixture(scope="module")
def Progbar(tf):
    if tf.__name__ == "gradtape":
        return importlib.import_module("gradtape.utils").Progbar
    return tf.keras.utils.Progbar


def last(text, name):
    """The last value of a metric in what was printed."""
    return float(re.findall(rf"{name}: ([-+.e\d]+)", text)[-1])


# As Keras


@pytest.mark.parametrize("verbose", [1, 2])
def test_metrics_are_averaged_over_the_steps(Progbar, capsys, verbose):
    bar = Progbar(6, verbose=verbose)
    bar.update(1, [("loss", 4.0)])
    bar.update(4, [("loss", 1.0)])  # of three steps
    bar.add(1, [("loss", 3.0)])
    bar.update(6)
    assert last(capsys.readouterr().out, "loss") == 2.0


def test_stateful_metrics_are_shown_as_they_come(Progbar, capsys):
    bar = Progbar(3, stateful_metrics=["acc"])
    bar.update(1, [("loss", 4.0), ("acc", 0.25)])
    bar.update(2, [("loss", 1.0), ("acc", 0.75)])
    bar.update(3)
    text = capsys.readouterr().out
    assert (last(text, "loss"), last(text, "acc")) == (2.5, 0.75)


def test_stateless_metrics_are_the_averaged_ones(Progbar, capsys):
    bar = Progbar(3, stateless_metrics=["loss"])
    bar.update(1, [("loss", 4.0), ("acc", 0.25)])
    bar.update(2, [("loss", 1.0), ("acc", 0.75)])
    bar.update(3)
    text = capsys.readouterr().out
    assert (last(text, "loss"), last(text, "acc")) == (2.5, 0.75)
    with pytest.raises(ValueError):
        Progbar(3, stateful_metrics=["a"], stateless_metrics=["b"])


def test_the_last_update_shows_what_it_is_given(Progbar, capsys):
    bar = Progbar(2)
    bar.update(1, [("loss", 4.0)])
    bar.update(2, [("loss", 1.0)])
    assert last(capsys.readouterr().out, "loss") == 1.0


def test_finalize(Progbar, capsys):
    bar = Progbar(None)
    bar.update(7, [("loss", np.array([1.0, 2.0]))])
    bar.update(9, finalize=True)
    text = capsys.readouterr().out
    assert last(text, "loss") == 1.5
    assert "9/Unknown" in text


@pytest.mark.parametrize("value, text", [(0.25, "0.2500"), (-2.0, "-2.0000"), (1e-5, "1.0000e-05")])
def test_digits(Progbar, capsys, value, text):
    Progbar(1).update(1, [("loss", value)])
    assert f"loss: {text}" in capsys.readouterr().out


def test_silence(Progbar, capsys):
    bar = Progbar(2, verbose=0)
    bar.update(1, [("loss", 1.0)])
    bar.update(2)
    assert capsys.readouterr().out == ""


def test_only_the_last_line(Progbar, capsys):
    bar = Progbar(10, verbose=2, unit_name="sample")
    for i in range(1, 11):
        bar.update(i, [("loss", 1.0)])
    assert re.fullmatch(r"10/10 - 0s - +\d+[mu]?s/sample - loss: 1.0000\n", capsys.readouterr().out)


def test_tensors_and_variables_as_values(tf, Progbar, capsys):
    bar = Progbar(2)
    loss = tf.constant(0.5)
    with tf.GradientTape() as tape:
        tape.watch(loss)
        bar.update(1, [("loss", float(loss)), ("mean", tf.constant([1.0, 3.0]))])
    bar.update(2)
    assert last(capsys.readouterr().out, "mean") == 2.0


# In a file or a pipe


@pytest.mark.gradtape_only
def test_a_file_gets_few_lines_without_control_characters(Progbar, capsys):
    bar = Progbar(1000)
    for i in range(1, 1001):
        bar.update(i, [("loss", 1.0)])
    assert re.fullmatch(
        r"1000/1000 - \d+s - \d+[mu]?s/step - loss: 1.0000\n", capsys.readouterr().out
    )


@pytest.mark.gradtape_only
def test_a_file_gets_a_line_now_and_then(Progbar, capsys, monkeypatch):
    monkeypatch.setattr("gradtape._src.train.progress._LINES_APART", 0.0)
    bar = Progbar(100, interval=0)
    for i in range(1, 101):
        bar.update(i)
    lines = capsys.readouterr().out.splitlines()
    assert [line.split("/")[0] for line in lines] == [f"{i:3}" for i in range(1, 101)]
    assert all(line.endswith("s/step") for line in lines)
    assert [" left - " in line for line in lines] == [True] * 99 + [False]


@pytest.mark.gradtape_only
@pytest.mark.parametrize("seconds, text", [(42.9, "42s"), (187, "3:07"), (3723, "1:02:03")])
def test_clock(seconds, text):
    assert importlib.import_module("gradtape._src.train.progress")._clock(seconds) == text


# On a terminal


@pytest.fixture
def terminal(monkeypatch):
    """Makes stdout a terminal of that many columns; returns what reads it."""
    ends = []

    def make(columns=100, encoding="utf-8"):
        ours, theirs = pty.openpty()
        ends.append(ours)
        fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
        stream = open(theirs, "w", encoding=encoding)  # noqa: SIM115
        ends.append(stream)
        monkeypatch.setattr(sys, "stdout", stream)

        def read():
            print("END", end="", file=stream, flush=True)
            text = b""
            while not text.endswith(b"END"):  # a terminal hands on what it gets piece by piece
                text += os.read(ours, 100_000)
            return text.decode(encoding).removesuffix("END")

        return read

    yield make
    for end in ends:
        os.close(end) if isinstance(end, int) else end.close()


def visible(text):
    return re.sub(r"\033\[\d*[mK]", "", text)


@pytest.mark.gradtape_only
def test_a_terminal_gets_one_line_that_changes(Progbar, terminal):
    read = terminal()
    bar = Progbar(10, interval=0)
    for i in (1, 5, 10):
        bar.update(i, [("loss", 1.0)])
    before, *shown = visible(read()).split("\r")
    assert before == ""
    assert [line[:5] for line in shown[:3]] == [" 1/10", " 5/10", "10/10"]
    assert all("━" * 20 in line and "loss: 1.0000" in line for line in shown[:3])
    assert "\n" not in "".join(shown[:3]) and shown[3:] == ["\n"]  # a terminal makes \n to \r\n


@pytest.mark.gradtape_only
def test_the_bar_grows(Progbar, terminal):
    read = terminal()
    bar = Progbar(4, width=8, interval=0)
    for i in (1, 2, 4):
        bar.update(i)
    assert [len(done) for done in re.findall("\033\\[32m(━*)", read())] == [2, 4, 8]


@pytest.mark.gradtape_only
def test_a_narrow_terminal_gets_no_second_line(Progbar, terminal):
    read = terminal(columns=40)
    Progbar(10, interval=0).update(1, [("a_long_name_for_a_metric", 1.0)])
    assert max(map(len, visible(read()).split("\r"))) < 40


@pytest.mark.gradtape_only
def test_a_terminal_without_unicode(Progbar, terminal):
    read = terminal(encoding="ascii")
    Progbar(2, width=4, interval=0).update(1)
    assert "##.." in visible(read())


@pytest.mark.gradtape_only
def test_updates_within_the_interval_are_not_shown(Progbar, terminal):
    read = terminal()
    bar = Progbar(1000, interval=100)
    for i in range(1, 1001):
        bar.update(i)
    assert len(re.findall(r"\d+/1000", read())) == 2  # the first and the last
