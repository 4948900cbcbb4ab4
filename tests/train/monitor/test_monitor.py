"""GradientMonitor: what it measures, what it keeps, what it warns of, and how it shows it."""

import os
import pty
import subprocess
import sys
import tracemalloc

import numpy as np
import pytest
from PIL import Image
from tensorboard.backend.event_processing import event_accumulator
from tensorboard.util import tensor_util

import gradtape
from gradtape import summary
from gradtape._src.train.monitor.monitor import GradientMonitor, GradientWarning

pytestmark = pytest.mark.gradtape_only


@pytest.fixture
def rng():
    return np.random.default_rng(0)


tensor = gradtape.constant


def variable(value, name="w"):
    return gradtape.Variable(np.asarray(value, np.float32), name=name)


def repeat(monitor, times, gradient, w):
    for _ in range(times):
        monitor(gradient, w)


# Measuring


def test_norms_zeros_and_updates(rng):
    w = variable(rng.normal(size=(30, 20)))
    gradient = rng.normal(size=(30, 20)).astype(np.float32)
    gradient[:10] = 0
    monitor = GradientMonitor()
    before = w.numpy()
    monitor([tensor(gradient)], [w])
    first = monitor[w].latest
    assert first.step == 0 and np.isnan(first.update_ratio)
    assert first.gradient_norm == pytest.approx(np.linalg.norm(gradient), rel=1e-6)
    assert first.weight_norm == pytest.approx(np.linalg.norm(before), rel=1e-6)
    assert first.zeros == pytest.approx(1 / 3)
    w.assign_sub(0.1 * gradient)
    monitor([tensor(gradient)], [w])
    ratio = np.linalg.norm(w.numpy() - before) / np.linalg.norm(w)
    assert monitor["w"].latest.update_ratio == pytest.approx(ratio, rel=1e-5)
    assert monitor["w:0"].latest.step == 1


def test_a_large_variable_is_measured_by_sample(rng):
    """The norm of the gradient is exact; the change of the weights within the error of sampling."""
    w = variable(rng.normal(size=(700, 300)))
    monitor = GradientMonitor(sample=1000)
    for _ in range(25):
        gradient = rng.normal(size=(700, 300)).astype(np.float32)
        before = w.numpy()
        monitor(gradient, w)
        w.assign_sub(0.01 * gradient)
    latest = monitor[w].latest
    assert latest.gradient_norm == pytest.approx(np.linalg.norm(gradient), rel=1e-5)
    expected = np.linalg.norm(w.numpy() - before) / np.linalg.norm(w)
    assert latest.update_ratio == pytest.approx(expected, rel=0.1)
    assert monitor[w].weight_sample.size == monitor[w].gradient_sample.size == 1000


def test_the_sample_sees_every_row(rng):
    """Rows that change in a pattern, as inputs that are always 0 make them, are seen in part."""
    w = variable(np.ones((1024, 256)))
    change = np.zeros((1024, 256), np.float32)
    change[::4] = 1e-3
    monitor = GradientMonitor()
    monitor(change, w)
    w.assign_sub(change)
    monitor(change, w)
    expected = np.linalg.norm(change) / np.linalg.norm(w)
    assert monitor[w].latest.update_ratio == pytest.approx(expected, rel=0.05)
    assert monitor[w].latest.zeros == 0.75


@pytest.mark.parametrize("scale", [1e-30, 1e-42, 1e25, 1e38])
def test_norms_that_squares_cannot_hold(scale):
    w = variable(np.zeros(8))
    gradient = np.full(8, scale, np.float32)
    monitor = GradientMonitor(exploding=np.inf, vanishing=1e-300)
    monitor(gradient, w)
    expected = np.linalg.norm(gradient.astype(np.float64))
    assert monitor[w].latest.gradient_norm == pytest.approx(expected, rel=1e-5)


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float64", "complex64"])
def test_other_dtypes(dtype):
    tf = gradtape
    w = tf.Variable(tf.cast([3.0, 4.0, 0.0], getattr(tf, dtype)), name="w")
    monitor = GradientMonitor()
    monitor(tf.cast([0.0, 3.0, 4.0], getattr(tf, dtype)), w)
    latest = monitor[w].latest
    assert (latest.gradient_norm, latest.weight_norm) == (5.0, 5.0)


@pytest.mark.parametrize("shape", [(), (0,), (1,), (2, 3, 4, 5)])
def test_any_shape(shape, rng):
    w, gradient = variable(rng.normal(size=shape)), rng.normal(size=shape).astype(np.float32)
    monitor = GradientMonitor()
    for _ in range(3):
        monitor(gradient, w)
    norm = np.linalg.norm(gradient.ravel())
    assert monitor[w].latest.gradient_norm == pytest.approx(norm, rel=1e-6)
    assert str(shape) in monitor.table()


def test_transposed_arrays(rng):
    w = gradtape.Variable(gradtape.transpose(tensor(rng.normal(size=(90, 70)))))
    monitor = GradientMonitor(sample=500)
    for _ in range(2):
        monitor(gradtape.transpose(tensor(rng.normal(size=(90, 70)))), w)
        w.assign(np.ascontiguousarray(w.numpy()))  # the same values in another order of memory
    assert monitor[w].latest.update_ratio == 0.0


def test_rows_of_an_embedding_with_repeats():
    tf = gradtape
    table = variable(np.ones((1000, 4)))
    with tf.GradientTape() as tape:
        loss = tf.reduce_sum(tf.gather(table, [3, 5, 3]) * [[1.0], [0.0], [2.0]])
    slices = tape.gradient(loss, table)
    assert isinstance(slices, tf.IndexedSlices)
    monitor = GradientMonitor()
    monitor([slices], [table])
    dense = tf.convert_to_tensor(slices).numpy()
    assert monitor[table].latest.gradient_norm == pytest.approx(np.linalg.norm(dense))
    assert monitor[table].latest.zeros == 0.5  # of the two rows that were looked up
    assert monitor[table].latest.weight_norm == pytest.approx(np.linalg.norm(table), rel=1e-6)


def test_pairs_structures_and_what_is_returned():
    a, b = variable(np.ones(3), "a"), variable(np.ones(2), "b")
    gradients = [tensor(np.ones(3, np.float32)), None]
    monitor = GradientMonitor()
    pairs = monitor(zip(gradients, [a, b], strict=True))
    assert [(g, v.name) for g, v in pairs] == [(gradients[0], "a:0"), (None, "b:0")]
    monitor.update({"x": gradients[0], "y": [None]}, {"x": a, "y": [b]}, step=7)
    assert monitor[a].latest.step == 7 and monitor["b"].steps == 2
    assert not monitor["b"].has_gradient and np.isnan(monitor["b"].latest.gradient_norm)


def test_variables_of_the_same_name_are_told_apart():
    variables = [gradtape.Variable([1.0]) for _ in range(3)]
    monitor = GradientMonitor()
    monitor([tensor(np.ones(1, np.float32))] * 3, variables)
    assert [track.name for track in monitor.tracks] == ["Variable", "Variable_1", "Variable_2"]


def test_each_variable_counts_its_own_steps():
    generator, critic = variable([1.0], "generator"), variable([1.0], "critic")
    monitor, ones = GradientMonitor(), tensor(np.ones(1, np.float32))
    for _ in range(2):
        monitor(ones, generator)
        repeat(monitor, 3, ones, critic)
    assert monitor["generator"].latest.step == 1 and monitor["critic"].latest.step == 5


def test_histogram_of_magnitudes():
    w = variable(np.zeros(6))
    monitor = GradientMonitor()
    monitor(np.array([0.0, 1.0, -1.5, 4.0, 7.9, 0.25], np.float32), w)
    edges, counts = monitor[w].histogram
    np.testing.assert_array_equal(edges, [0.25, 0.5, 1, 2, 4, 8])
    np.testing.assert_array_equal(counts, [1, 0, 2, 0, 2])


def test_details_are_as_of_the_latest_step_in_detail():
    w = variable(np.ones(4))
    monitor = GradientMonitor(detail_every=5)
    zeros = []
    for step in range(16):
        gradient = np.ones(4, np.float32)
        gradient[: step % 4] = 0
        monitor(gradient, w)
        zeros.append(monitor[w].latest.zeros)
    assert zeros[:5] == [0, 0.25, 0.5, 0.75, 0]  # at first, each step
    assert zeros[5:] == [0.25] * 5 + [0.5] * 5 + [0.75]


def test_what_was_measured_does_not_change_with_the_variable(rng):
    """Samples are copies, so an update in place of the old values cannot reach them."""
    w = variable(np.ones(10))
    monitor = GradientMonitor()
    monitor(np.ones(10, np.float32), w)
    sample = monitor[w].weight_sample
    assert not np.shares_memory(sample, np.asarray(w))


# Keeping


def test_history_is_thinned_and_spans_all_steps():
    w = variable([1.0])
    monitor = GradientMonitor(history=64, exploding=np.inf, jump=np.inf)
    for step in range(1000):
        monitor(np.array([1.0 + step], np.float32), w)
    history = monitor[w].history
    assert 32 <= len(history.step) <= 64
    assert history.step[0] == 0 and history.step[-1] > 960
    assert len(set(np.diff(history.step))) == 1
    np.testing.assert_array_equal(history.gradient_norm, history.step + 1)


def test_memory_stays_where_it_is():
    w, gradient = variable(np.ones((64, 64))), tensor(np.ones((64, 64), np.float32))
    monitor = GradientMonitor(history=32)
    tracemalloc.start()
    try:
        repeat(monitor, 200, gradient, w)
        before, _ = tracemalloc.get_traced_memory()
        repeat(monitor, 1000, gradient, w)
        assert tracemalloc.get_traced_memory()[0] - before < 5000  # 1000 rows would be 56,000
    finally:
        tracemalloc.stop()


# Warning


def assert_warns_once(monitor, times, gradient, w, text):
    """`times` steps warn once, with `text`, and the steps after them not again."""
    with pytest.warns(GradientWarning, match=text) as caught:
        repeat(monitor, times, gradient, w)
    assert len(caught) == 1 and caught[0].filename == __file__
    repeat(monitor, 5, gradient, w)  # a warning would be an error
    assert len(monitor.problems) == 1 and monitor.problems[0] in str(caught[0].message)


def test_healthy_gradients_do_not_warn(rng):
    w = variable(rng.normal(size=(20, 20)))
    monitor = GradientMonitor()
    for _ in range(200):
        monitor(rng.normal(0, rng.choice([0.01, 0.1, 1]), (20, 20)).astype(np.float32), w)
    assert monitor.problems == []


def test_vanishing():
    monitor = GradientMonitor(patience=10)
    gradient = np.full(4, 1e-9, np.float32)
    w = variable(np.ones(4), "first/kernel")
    repeat(monitor, 9, gradient, w)
    assert_warns_once(monitor, 1, gradient, w, r"'first/kernel' vanishes.*below 1e-07 for 10 steps")


def test_a_gradient_that_recovers_has_not_vanished():
    monitor = GradientMonitor(patience=10)
    w = variable(np.ones(4))
    for _ in range(5):
        repeat(monitor, 9, np.full(4, 1e-9, np.float32), w)
        monitor(np.full(4, 1e-8 * 50, np.float32), w)
    assert monitor.problems == []


def test_exploding_above_a_norm():
    w, gradient = variable(np.ones(4)), np.full(4, 1e4, np.float32)
    assert_warns_once(GradientMonitor(), 1, gradient, w, r"'w' explodes.*2e\+04 at step 0")


def test_exploding_above_what_was_usual():
    monitor, w = GradientMonitor(patience=10), variable(np.ones(4))
    repeat(monitor, 15, np.full(4, 0.01, np.float32), w)
    assert_warns_once(monitor, 1, np.full(4, 3.0, np.float32), w, "300 times what it usually was")


def test_dead_by_zeros_and_by_none():
    w = variable(np.ones(4), "relu")
    zeros = np.zeros(4, np.float32)
    assert_warns_once(GradientMonitor(patience=3), 3, zeros, w, "'relu' was 0 everywhere for 3")
    assert_warns_once(GradientMonitor(patience=3), 3, [None], [w], "'relu' was None for 3 steps")


def test_nan_and_infinity_are_counted():
    w = variable(np.ones(5))
    gradient = np.array([np.nan, 1, np.inf, -np.inf, 0], np.float32)
    monitor = GradientMonitor()
    assert_warns_once(monitor, 1, gradient, w, "'w' holds 1 NaN and 2 infinite values at step 0")
    assert (monitor[w].latest.nan, monitor[w].latest.inf) == (1, 2)
    assert monitor[w].histogram.counts.sum() == 1


def test_weights_that_are_not_finite():
    w, gradient = variable([1.0, np.nan]), np.ones(2, np.float32)
    assert_warns_once(GradientMonitor(), 1, gradient, w, "'w' itself holds NaN")


def test_one_warning_for_each_condition_and_variable():
    monitor, ones = GradientMonitor(patience=2), np.ones(1, np.float32)
    variables = [variable([1.0], "a"), variable([1.0], "b")]
    with pytest.warns(GradientWarning) as caught:
        monitor([np.inf * ones, 1e6 * ones], variables)
        repeat(monitor, 3, [0 * ones, 0 * ones], variables)
    texts = [str(warning.message) for warning in caught]
    assert len(texts) == 4 and len(set(texts)) == 4
    assert monitor["a"].problems == ["not finite", "dead"]
    assert monitor["b"].problems == ["exploding", "dead"]


def test_a_warning_that_is_an_error_loses_nothing():
    monitor = GradientMonitor(exploding=1.0)
    variables = [variable([1.0], "a"), variable([1.0], "b")]
    gradients = [np.full(1, 2.0, np.float32)] * 2
    for name in "ab":  # the second warning comes with the next step
        with pytest.raises(GradientWarning, match=f"'{name}' explodes"):
            monitor(gradients, variables)
    monitor(gradients, variables)
    assert [track.steps for track in monitor.tracks] == [3, 3]


def test_a_deep_sigmoid_network_vanishes_by_name(rng):
    tf = gradtape
    kernels = [variable(rng.normal(0, 0.3, (8, 8)), f"layer_{i}") for i in range(20)]
    x = tf.constant(rng.normal(size=(16, 8)).astype(np.float32))
    monitor = GradientMonitor(patience=5)
    with pytest.warns(GradientWarning) as caught:
        for _ in range(5):
            with tf.GradientTape() as tape:
                h = x
                for kernel in kernels:
                    h = tf.sigmoid(tf.matmul(h, kernel))
                loss = tf.reduce_mean(tf.square(h - 1.0))
            monitor(tape.gradient(loss, kernels), kernels)
    assert "'layer_0' vanishes" in str(caught[0].message)
    assert monitor["layer_0"].problems == ["vanishing"]
    assert monitor["layer_19"].problems == []


# What is refused


@pytest.mark.parametrize(
    "call, error, text",
    [
        (lambda m, w: m([np.ones(2, np.float32)], [w, w]), ValueError, "1 gradients and 2 variab"),
        (lambda m, w: m(np.ones(3, np.float32), w), ValueError, r"'w:0'.*\(2,\).*has \(3,\)"),
        (lambda m, w: m([1.0], [gradtape.constant(1.0)]), TypeError, "variables"),
        (lambda m, w: m([w]), TypeError, "pairs"),
        (lambda m, w: m(w, w, step="x"), ValueError, "invalid literal"),
        (lambda m, w: m["other"], KeyError, "'other' was not measured.*none"),
        (lambda m, w: m.plot(), ValueError, "nothing to plot"),
        (lambda m, w: GradientMonitor(patience=0), ValueError, "`patience` must be above 0"),
        (lambda m, w: GradientMonitor(history=-1), ValueError, "`history` must be above 0"),
    ],
)
def test_bad_arguments_are_explained_and_leave_no_trace(call, error, text):
    monitor = GradientMonitor()
    with pytest.raises(error, match=text):
        call(monitor, variable([1.0, 2.0]))
    assert monitor.tracks == [] and "nothing measured" in str(monitor)


def test_inside_a_function_it_says_to_be_called_outside():
    tf, w, monitor = gradtape, variable([1.0, 2.0]), GradientMonitor()

    @tf.function
    def gradient():
        with tf.GradientTape() as tape:
            loss = tf.reduce_sum(w * w)
        return tape.gradient(loss, w)

    @tf.function
    def step():
        monitor(gradient(), w)

    with pytest.raises(RuntimeError, match="call the monitor outside"):
        step()
    assert monitor.tracks == []
    monitor(gradient(), w)
    assert monitor[w].latest.gradient_norm == pytest.approx(20**0.5)


# Showing


@pytest.fixture
def trained(rng):
    monitor = GradientMonitor()
    variables = [
        variable(rng.normal(size=(20, 10)), "dense/kernel"),
        variable(np.zeros(10), "dense/bias"),
        variable([1.0], "unused"),
    ]
    with pytest.warns(GradientWarning, match="unused"):
        for _ in range(30):
            gradients = [rng.normal(0, 0.1, v.shape).astype(np.float32) for v in variables[:2]]
            monitor([*gradients, None], variables)
            for v, g in zip(variables, gradients, strict=False):
                v.assign_sub(0.01 * g)
    return monitor


def test_table(trained):
    title, header, *rows = str(trained).splitlines()
    assert title.startswith("step 29: 3 variables, 211 numbers")
    assert header.split()[:4] == ["variable", "shape", "gradient", "weights"]
    latest = trained["dense/kernel"].latest
    assert rows[0].split()[:3] == ["dense/kernel", "(20,", "10)"]
    assert rows[0].split()[3:6] == [
        f"{value:.2e}" for value in (latest.gradient_norm, latest.weight_norm, latest.update_ratio)
    ]
    assert "None" in rows[2] and rows[2].endswith("no gradient")
    assert len({row.index("0.0%") for row in rows[:2]}) == 1  # in columns


def test_show_prints_the_table(trained, capsys):
    trained.show()
    assert capsys.readouterr().out == f"{trained.table()}\n"


def test_live_without_a_terminal_prints_the_table_at_the_end(trained, capsys):
    with trained.live():
        assert capsys.readouterr().out == ""
    assert capsys.readouterr().out == f"{trained.table()}\n"


LIVE = """
import sys, time
import numpy as np
import gradtape as tf
from gradtape._src.train.monitor.monitor import GradientMonitor
if sys.argv[1] == "plain":
    sys.modules["rich"] = None
monitor, w = GradientMonitor(), tf.Variable([1.0, 2.0], name="[bold]weights")
with monitor.live():
    for _ in range(3):
        monitor(np.ones(2, np.float32), w)
        time.sleep(0.3)
print("end")
"""


@pytest.mark.parametrize("kind", ["rich", "plain"])
def test_live_on_a_terminal(kind):
    ours, theirs = pty.openpty()
    environment = {**os.environ, "TERM": "xterm", "COLUMNS": "120", "LINES": "40"}
    command = [sys.executable, "-c", LIVE, kind]
    with subprocess.Popen(command, stdout=theirs, stderr=theirs, env=environment) as process:
        os.close(theirs)
        text = read_all(ours)
    assert process.returncode == 0, text
    assert "end" in text and "step 2: 1 variables" in text and "[bold]weights" in text
    assert ("step 0: 1 variables" in text) == (kind == "rich")  # drawn anew as it goes on
    os.close(ours)


def read_all(descriptor):
    parts = []
    try:
        while part := os.read(descriptor, 4096):
            parts.append(part)
    except OSError:  # how Linux says that the other side has closed
        pass
    return b"".join(parts).decode()


def test_plot_saves_a_figure(trained, tmp_path):
    path = tmp_path / "flow.png"
    figure = trained.plot(path)
    with Image.open(path) as image:
        assert image.width > 1000 and len(image.convert("L").getcolors(256)) > 50
    norms, ratios, flow, magnitudes = figure.axes
    assert norms.get_yscale() == ratios.get_yscale() == flow.get_yscale() == "log"
    history = trained["dense/kernel"].history
    np.testing.assert_array_equal(norms.lines[0].get_ydata(), history.gradient_norm)
    names = [label.get_text() for label in flow.get_xticklabels()]
    assert names == ["dense/kernel", "dense/bias", "unused"]
    assert 1e-3 in [line.get_ydata()[0] for line in ratios.lines]
    assert [text.get_text() for text in magnitudes.texts] == ["None"]


def test_plot_without_a_path_belongs_to_pyplot(trained):
    from matplotlib import pyplot

    pyplot.switch_backend("agg")
    figure = trained.plot()
    assert pyplot.get_fignums() == [figure.number]
    pyplot.close(figure)


def test_plot_without_matplotlib_says_what_is_missing(trained, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(ImportError, match="pip install matplotlib"):
        trained.plot()


def test_plot_of_many_variables(tmp_path):
    variables = [variable([1.0], f"model/a/rather/long/path/to/the/layer_{i}") for i in range(60)]
    monitor = GradientMonitor()
    monitor([np.full(1, 10.0**-i, np.float32) for i in range(60)], variables)
    figure = monitor.plot(tmp_path / "many.png")
    names = [label.get_text() for label in figure.axes[2].get_xticklabels()]
    assert len(names) == 30 and names[1].startswith("…") and names[1].endswith("layer_2")


STEP = np.float32([0.5, -2.0, 0.0])
NAN, INF = np.full_like(STEP, np.nan), np.full_like(STEP, np.inf)
ODD_GRADIENTS = {  # steps with the gradients of all variables, and how many panels stay empty
    "one step": ([[STEP, 3 * STEP]], 0),
    "one number": ([[STEP[:1]]], 0),
    "all equal": ([[STEP, STEP]] * 4, 0),
    "all zeros": ([[0 * STEP, 0 * STEP]] * 4, 3),
    "all NaN": ([[NAN]] * 4, 3),
    "all Inf": ([[INF, -INF]] * 4, 3),
    "all None": ([[None, None]] * 4, 3),
    "NaN in between": ([[STEP], [NAN], [STEP], [NAN], [STEP]], 0),
    "one of each": ([[STEP, 0 * STEP, NAN, INF, None]] * 4, 0),
    "denormal": ([[np.float32([1e-45, 0, 0])]] * 4, 0),
    "out of the range of float32": ([[np.full(3, 1e-60)], [np.full(3, 1e60)]], 0),
    "as far as float64 goes": ([[np.full(3, 5e-324), np.full(3, 1e307)]] * 4, 0),
}


@pytest.mark.filterwarnings("ignore::gradtape.train.GradientWarning")
@pytest.mark.parametrize("name", ODD_GRADIENTS)
def test_plot_of_odd_gradients(name, tmp_path):
    steps, empty = ODD_GRADIENTS[name]
    variables = [variable(np.ones(np.size(g) if g is not None else 3)) for g in steps[0]]
    monitor = GradientMonitor()
    with np.errstate(all="ignore"):
        for gradients in steps:
            monitor(gradients, variables)
    figure = monitor.plot(tmp_path / "odd.png")
    said = [text.get_text() for axes in figure.axes for text in axes.texts]
    assert said.count("nothing but 0, NaN and Inf") == empty
    for axes in figure.axes:
        low, high = axes.get_ylim()
        assert axes.get_yscale() == "log" and 0 < low < high < np.inf
    norms = figure.axes[0]
    low, high = norms.get_ylim()
    for w, line in zip(variables, norms.lines, strict=True):
        norm, drawn = monitor[w].history.gradient_norm, line.get_ydata()
        there = (norm > 0) & np.isfinite(norm)
        np.testing.assert_array_equal(drawn, np.where(there, norm, np.nan))
        within = there & (norm > 1e-150) & (norm < 1e150)
        assert np.all((low < drawn[within]) & (drawn[within] < high))
        if len(steps) == 1 or name == "NaN in between":  # no line joins the points: they are marked
            assert line.get_marker() == "." and np.all(line.get_markevery()[there])


def test_plot_shows_the_latest_gradient_if_it_can(tmp_path):
    w = variable(np.ones(4))
    monitor = GradientMonitor()
    for scale in (3.0, 5.0):
        monitor([np.full(4, scale, np.float32)], [w])
    dots = monitor.plot(tmp_path / "latest.png").axes[2].collections[-1]
    assert dots.get_offsets().tolist() == [[0.0, 5.0]]
    monitor([np.zeros(4, np.float32)], [w])
    dots = monitor.plot(tmp_path / "latest.png").axes[2].collections[-1]
    assert np.ma.is_masked(dots.get_offsets())


def test_plot_of_hundreds_of_variables(tmp_path):
    """A panel by variable is a few artists, not some for each: of thousands, that took minutes."""
    variables = [variable([1.0], f"layer_{i}") for i in range(400)]
    monitor = GradientMonitor()
    monitor([np.full(1, float(i % 7), np.float32) for i in range(400)], variables)
    figure = monitor.plot(tmp_path / "hundreds.png")
    _, _, flow, magnitudes = figure.axes
    assert len(flow.get_children()) < 100 and len(magnitudes.get_children()) < 100
    assert len(flow.get_xticks()) <= 48
    assert magnitudes.get_ylim() == (0.5, 16.0)
    shares = magnitudes.collections[0].get_array()
    assert np.ma.count(shares[:, ::2].any(axis=0)) == 400 - 58  # those of which all is 0


# TensorBoard


def scalars(folder):
    """{tag: [(step, value)]} of the event files in `folder`."""
    accumulator = event_accumulator.EventAccumulator(str(folder))
    accumulator.Reload()
    return {
        tag: [(e.step, tensor_util.make_ndarray(e.tensor_proto)) for e in accumulator.Tensors(tag)]
        for tag in accumulator.Tags()["tensors"]
    }


def test_write_to_a_writer_or_the_default_one(trained, tmp_path):
    writer = summary.create_file_writer(tmp_path)
    trained.write(writer)
    with writer.as_default():
        trained.write(step=77)
    writer.close()
    found = scalars(tmp_path)
    latest = trained["dense/kernel"].latest
    assert found["gradient_norm/dense/kernel"] == [
        (29, np.float32(latest.gradient_norm)),
        (77, np.float32(latest.gradient_norm)),
    ]
    assert "gradient_norm/unused" not in found and "weight_norm/unused" in found
    _, histogram = found["gradient/dense/kernel"][0]
    assert histogram.shape == (30, 3) and histogram[:, 2].sum() == 200
    assert {tag.split("/")[0] for tag in found} == {
        "gradient_norm",
        "weight_norm",
        "update_ratio",
        "zeros",
        "nan",
        "inf",
        "gradient",
        "weights",
    }


def test_a_monitor_with_a_writer_writes_by_itself(tmp_path):
    writer = summary.create_file_writer(tmp_path)
    monitor = GradientMonitor(writer=writer, write_every=10)
    repeat(monitor, 35, np.ones(2, np.float32), variable(np.ones(2)))
    writer.close()
    assert [step for step, _ in scalars(tmp_path)["gradient_norm/w"]] == [9, 19, 29]
