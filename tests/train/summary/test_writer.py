"""Writers: the default one, steps and conditions."""

import threading

import pytest

from .events import values


def test_the_step_is_the_argument_or_that_of_the_block(summary, writer, tmp_path):
    with writer.as_default(step=5):
        summary.scalar("a", 1.0)
        summary.scalar("b", 1.0, step=6)
        with writer.as_default(step=7):
            summary.scalar("c", 1.0)
        summary.scalar("d", 1.0)
    found = [(step, tag) for step, tag, _ in values(tmp_path / "logs")]
    assert found == [(5, "a"), (6, "b"), (7, "c"), (5, "d")]
    assert summary.experimental.get_step() is None


def test_a_step_that_was_set_stays_set(summary, writer, tmp_path):
    with writer.as_default():
        summary.experimental.set_step(7)
        summary.scalar("a", 1.0)
    assert summary.experimental.get_step() == 7
    summary.experimental.set_step(None)
    assert values(tmp_path / "logs") == [(7, "a", 1.0)]


def test_a_variable_as_step_is_read_when_a_summary_is_written(tf, summary, writer, tmp_path):
    step = tf.Variable(0, dtype=tf.int64)
    with writer.as_default(step=step):
        for _ in range(3):
            summary.scalar("a", 1.0)
            step.assign_add(1)
    assert [each[0] for each in values(tmp_path / "logs")] == [0, 1, 2]


def test_without_a_step_it_is_an_error(summary, writer):
    with writer.as_default(), pytest.raises(ValueError, match=r"(?i)no step"):
        summary.scalar("a", 1.0)


def test_without_a_writer_nothing_is_looked_at(summary):
    assert not summary.histogram("a", "not numbers")
    assert not summary.should_record_summaries()
    assert not summary.write("a", lambda: pytest.fail("called"))


def test_the_innermost_condition_counts(summary, writer, tmp_path):
    with writer.as_default(step=0), summary.record_if(False):
        assert not summary.should_record_summaries()
        assert not summary.write("a", lambda: pytest.fail("called"))
        with summary.record_if(lambda: True):
            assert summary.scalar("b", 1.0)
        assert not summary.scalar("c", 1.0)
    assert [tag for _, tag, _ in values(tmp_path / "logs")] == ["b"]


def test_set_as_default(tf, summary, writer, tmp_path):
    def main():  # in a thread, whose default ends with it
        writer.set_as_default(step=4)
        summary.scalar("a", 1.0)
        summary.flush()

    thread = threading.Thread(target=main)
    thread.start()
    thread.join()
    assert values(tmp_path / "logs") == [(4, "a", 1.0)]
    assert not summary.should_record_summaries()


def test_a_noop_writer_leaves_the_default_in_force(summary, writer):
    noop = summary.create_noop_writer()
    with noop.as_default(step=1):
        assert not summary.should_record_summaries()
        assert summary.experimental.get_step() is None
    with writer.as_default(step=1), noop.as_default(step=5):
        assert summary.should_record_summaries()
        assert summary.experimental.get_step() == 1
    assert isinstance(noop, summary.SummaryWriter) and isinstance(writer, summary.SummaryWriter)
    noop.init()
    noop.flush()
    noop.close()


def test_a_closed_writer_says_so(summary, writer):
    writer.close()
    writer.close()
    writer.flush()
    with pytest.raises(RuntimeError, match="closed"), writer.as_default(step=0):
        summary.scalar("a", 1.0)


def test_summary_scope_gives_the_tag(tf, summary):
    with (
        tf.name_scope("outer"),
        summary.experimental.summary_scope("name", "default") as (tag, scope),
    ):
        assert (tag, scope) == ("outer/name", "outer/name/")
