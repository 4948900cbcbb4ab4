"""gradtape doctor: a sick script gets its finding, line and exit code; a sound one gets none."""

import html.parser
import signal
from pathlib import Path

import pytest

from gradtape._src.core.tracing import tracing
from gradtape._src.inspect.doctor import Doctor

pytestmark = pytest.mark.gradtape_only

SICK = {}


def sick(name, title, *words):
    """`# <-` marks the line that must be named."""
    return lambda source: SICK.__setitem__(name, (title, words, source))


sick("none", "A gradient is None", "matmul ran before the tape's block")(
    """
import tensorflow as tf
w = tf.Variable([[3.0], [4.0]])
hidden = tf.constant([[1.0, 2.0]]) @ w  # <-
with tf.GradientTape() as tape:
    loss = tf.reduce_sum(hidden ** 2)
tape.gradient(loss, w)
"""
)
sick("gradient not finite", "NaN or Inf", "in the gradient of sqrt", "tf.sqrt(x + 1e-12)")(
    """
import gradtape as tf
x = tf.Variable([0.0, 4.0])
with tf.GradientTape() as tape:
    y = tf.reduce_sum(tf.sqrt(x))  # <-
tape.gradient(y, x)
print("went on")
"""
)
sick("not finite because of the data", "A gradient is not finite", "Is np.isfinite(x).all() true")(
    """
import gradtape as tf
x = tf.constant([[1.0, float("nan")]])
w = tf.Variable([[1.0], [2.0]])  # <-
with tf.GradientTape() as tape:
    loss = tf.reduce_mean((x @ w) ** 2)
tape.gradient(loss, w)
"""
)
sick("not finite in a function", "NaN or Inf", "The first are of log")(
    """
import gradtape as tf
@tf.function
def f(x):
    y = tf.math.log(x)  # <-
    return tf.reduce_sum(y)
for _ in range(3):
    f(tf.constant([0.0, 1.0]))
print("went on")
"""
)
sick("zero", "The gradient of 'w' is zero", "all its units are dead", "leaky_relu")(
    """
import gradtape as tf
w = tf.Variable([-1.0, -2.0], name="w")
with tf.GradientTape() as tape:
    y = tf.reduce_sum(tf.nn.relu(w))  # <-
tape.gradient(y, w)
"""
)
sick("zero in a function", "The gradient of 'w' is zero", "3 times")(
    """
import gradtape as tf
w = tf.Variable([-1.0, -2.0], name="w")  # <-
@tf.function
def step():
    with tf.GradientTape() as tape:
        y = tf.reduce_sum(tf.nn.relu(w))
    return tape.gradient(y, w)
for _ in range(3):
    step()
"""
)
sick("dead units", "Dead units behind 'w'", "2 of 4 units never got a gradient, in 6 steps")(
    """
import gradtape as tf
w = tf.Variable([[1.0, -1.0, 1.0, -1.0]] * 3, name="w")  # <-
for _ in range(6):
    with tf.GradientTape() as tape:
        y = tf.reduce_sum(tf.nn.relu(tf.ones([2, 3]) @ w))
    tape.gradient(y, w)
"""
)
sick("vanishing", "A gradient vanishes", "'first'", "for 25 steps")(
    """
import gradtape as tf
first = tf.Variable([1.0], name="first")  # <-
last = tf.Variable([1.0], name="last")
for _ in range(25):
    with tf.GradientTape() as tape:
        y = tf.reduce_sum(first * 1e-9 + last)
    tape.gradient(y, [first, last])
"""
)
sick("exploding", "A gradient explodes", "'w'", "clip_by_global_norm")(
    """
import gradtape as tf
w = tf.Variable([1e6], name="w")  # <-
with tf.GradientTape() as tape:
    y = w * w
tape.gradient(y, w)
"""
)
sick("unused", "A variable is not used", "'spare'")(
    """
import gradtape as tf
spare = tf.Variable(1.0, name="spare")  # <-
"""
)
sick("untrained", "A variable is not trained", "'bias'", "trainable=False")(
    """
import gradtape as tf
w = tf.Variable(2.0, name="w")
bias = tf.Variable(1.0, name="bias")  # <-
with tf.GradientTape() as tape:
    y = w * w + bias
tape.gradient(y, w)
"""
)
sick("retraced", "f is traced again and again", "`x` differs", "float32[2]")(
    """
import gradtape as tf
@tf.function
def f(x):
    return tf.reduce_sum(x)
for n in range(1, 7):
    f(tf.ones([n]))  # <-
"""
)


@pytest.mark.parametrize("name", SICK)
def test_a_sick_script(gradtape, script, name):
    title, words, source = SICK[name]
    done = gradtape("doctor", script(source))
    assert done.returncode == 1, done.stderr
    (line,) = [i for i, text in enumerate(source.splitlines(), start=1) if "# <-" in text]
    assert f"1. {title}\n" in done.stdout
    finding = done.stdout.partition("1. ")[2].partition("\n\n")[0]
    assert f"     script.py:{line}: " in finding
    for word in words:
        assert word in finding
    if "went on" in source:
        assert done.stdout.startswith("went on\n")
    assert "gradtape doctor: 1 finding in script.py\n" in done.stdout


SOUND = {
    "training": """
import gradtape as tf
w = tf.Variable(tf.random.stateless_normal([4, 8], [1, 2]), name="w")
b = tf.Variable(tf.zeros([8]))
v = tf.Variable(tf.random.stateless_normal([8, 1], [3, 4]))
optimizer = tf.optimizers.Adam(0.01)
x = tf.random.stateless_normal([32, 4], [5, 6])
y = tf.reduce_sum(x, 1, keepdims=True)
def step():
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean((tf.tanh(x @ w + b) @ v - y) ** 2)
    variables = [w, b, v]
    optimizer.apply_gradients(zip(tape.gradient(loss, variables), variables))
    return loss
CALLED
for _ in range(60):
    step()
print("trained")
""",
    "converged": """
import gradtape as tf
w, v = tf.Variable(3.0), tf.Variable(2.0)
for _ in range(60):
    with tf.GradientTape() as tape:
        loss = (w - 1.0) ** 2 + (v - 1.0) ** 2
    for x, g in zip([w, v], tape.gradient(loss, [w, v])):
        x.assign_sub(0.5 * g)
print(w.numpy())
""",
    "counters and frozen weights": """
import gradtape as tf
step, best = tf.Variable(0), tf.Variable(float("inf"))
frozen, w = tf.Variable([1.0, 2.0], trainable=False), tf.Variable([1.0, 2.0])
with tf.GradientTape() as tape:
    loss = tf.reduce_sum(w * w * frozen)
tape.gradient(loss, w)
step.assign_add(1)
best.assign(tf.minimum(best, loss))
""",
    "zeros in the place of None": """
import gradtape as tf
w, other = tf.Variable(2.0), tf.Variable(3.0)
with tf.GradientTape() as tape:
    loss = w * w
tape.gradient(loss, [w, other], unconnected_gradients="zero")
""",
    "rows of an embedding": """
import gradtape as tf
table = tf.Variable(tf.ones([10, 4]))
@tf.function
def step(ids):
    with tf.GradientTape() as tape:
        loss = tf.reduce_sum(tf.gather(table, ids) ** 2)
    g = tape.gradient(loss, table)
    table.scatter_sub(tf.IndexedSlices(0.01 * g.values, g.indices))
for _ in range(8):
    step(tf.constant([1, 2, 2]))
""",
    "no gradtape": "print(sum(range(10)))",
    "higher orders": """
import gradtape as tf
x = tf.Variable(2.0)
with tf.GradientTape() as outer:
    with tf.GradientTape() as tape:
        y = x ** 3
    g = tape.gradient(y, x)
print(outer.gradient(g, x).numpy())
""",
    "a function that makes its variable, and one outside of tapes": """
import gradtape as tf
class Model(tf.Module):
    v = None
    @tf.function
    def __call__(self, x):
        if self.v is None:
            self.v = tf.Variable(tf.ones([3]))
        return tf.reduce_sum(self.v * x)
model, w, base = Model(), tf.Variable(2.0), tf.Variable(3.0)
model(tf.ones([3]))
@tf.function
def predict(x):
    return x * w * base
for _ in range(3):
    with tf.GradientTape() as tape:
        loss = model(tf.ones([3])) * w
    print(tape.gradient(loss, [model.v, w])[1].numpy(), predict(1.0).numpy())
""",
    "a loop of steps in one function": """
import gradtape as tf
w = tf.Variable(3.0)
@tf.function(jit_compile=True)
def train(n):
    for _ in tf.range(n):
        with tf.GradientTape() as tape:
            loss = w * w + w
        w.assign_sub(0.1 * tape.gradient(loss, w))
    return w.value()
print(train(tf.constant(5)).numpy(), train(tf.constant(7)).numpy())
""",
    "a loss that is scaled for float16": """
import gradtape as tf
w = tf.Variable([[1.0], [2.0]])
optimizer = tf.optimizers.LossScaleOptimizer(tf.optimizers.SGD(0.01))
x = tf.ones([4, 2], tf.float16)
for target in (-90.0, 0.0, 0.0):  # the first is too far off: the scale is halved
    with tf.GradientTape() as tape:
        out = tf.cast(x @ tf.cast(w, tf.float16), tf.float32)
        loss = optimizer.scale_loss(tf.reduce_mean((out - target) ** 2))
    optimizer.apply_gradients(zip(tape.gradient(loss, [w]), [w]))
print(optimizer.dynamic_scale.numpy())
""",
    "a frozen layer of Keras": """
import gradtape as tf
keras = tf.keras
base = keras.Sequential([keras.Input([3]), keras.layers.Dense(4, activation="tanh")])
base.trainable = False
model = keras.Sequential([base, keras.layers.Dense(1)])
for _ in range(3):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean((model(tf.ones([2, 3])) - 1.0) ** 2)
    for w, g in zip(model.trainable_variables, tape.gradient(loss, model.trainable_variables)):
        w.assign_sub(0.1 * g)
""",
    "threads": """
import threading
import gradtape as tf
def work(n):
    v = tf.Variable(float(n))
    for _ in range(10):
        with tf.GradientTape() as tape:
            y = v * v
        v.assign_sub(0.1 * tape.gradient(y, v))
    print("worked\\n", end="", flush=True)
threads = [threading.Thread(target=work, args=(n,)) for n in (1, 2, 3)]
for thread in threads:
    thread.start()
""",
}
SOUND["a compiled training"] = SOUND["training"].replace("CALLED", "step = tf.function(step)")
SOUND["training"] = SOUND["training"].replace("CALLED", "")


@pytest.mark.parametrize("name", SOUND)
def test_a_sound_script(python, gradtape, script, name):
    path = script(SOUND[name])
    expected, done = python(path), gradtape("doctor", path)
    assert done.returncode == 0, done.stdout + done.stderr
    output, _, report = done.stdout.partition("gradtape doctor: ")
    assert output == expected.stdout
    assert report.startswith("nothing found in script.py\n")


UNUSED = "import tensorflow as tf\nv = tf.Variable(1.0)\n"


@pytest.mark.parametrize(
    "end, code, said",
    [
        ("import sys; sys.exit(0)", 1, ""),
        ("import sys; sys.exit(7)", 7, "It ended with sys.exit(7); what it did"),
        ("import sys; sys.exit('a last word')", 1, "It ended with sys.exit('a last word')"),
        ("raise ValueError('a < b')", 1, "It ended with ValueError: a < b. What it did"),
        ("raise ValueError('a is b.')", 1, "It ended with ValueError: a is b. What it did"),
        ("raise KeyboardInterrupt", -signal.SIGINT, "It was interrupted; what it did"),
    ],
)
def test_however_a_script_ends_there_is_a_report(python, gradtape, script, end, code, said):
    path = script(UNUSED + end + "\n")
    done = gradtape("doctor", path)
    assert done.returncode == code
    assert done.stdout.startswith("gradtape doctor: 1 finding in script.py\n" + said)
    assert done.stderr == gradtape("run", path).stderr  # the traceback is that of the script


def test_the_three_ways_to_name_a_program(gradtape, script):
    script(UNUSED + "import sys; print(sys.argv[1:])\n", "sick.py")
    for args in (["sick.py"], ["-m", "sick"], ["-c", UNUSED + "import sys; print(sys.argv[1:])"]):
        done = gradtape("doctor", *args, "--html", "x")
        assert done.returncode == 1
        assert done.stdout.startswith("['--html', 'x']\ngradtape doctor: 1 finding in ")


def test_what_is_wrong_with_the_command_is_no_finding(gradtape, script):
    for args in (["nowhere.py"], [], ["--html", "no/folder/page.html", script("print(1)")]):
        done = gradtape("doctor", *args)
        assert (done.returncode, done.stdout) == (2, "")


def test_help_says_what_is_looked_for_and_what_the_codes_mean(gradtape):
    done = gradtape("doctor", "--help")
    text = " ".join(done.stdout.split())
    for words in ("on standard output", "gradients that are None", "--html FILE", "1 if something"):
        assert words in text


def test_where_the_time_and_the_memory_went(gradtape, script):
    source = """
import gradtape as tf
x = tf.ones([300, 300])
with tf.GradientTape() as tape:
    tape.watch(x)
    y = tf.sin(x @ x)
tape.gradient(y, x)
"""
    done = gradtape("doctor", script(source))
    assert done.returncode == 0
    sections = done.stdout.split("\n\n")
    lines = next(s for s in sections if s.startswith("The most expensive lines"))
    assert "script.py:6  y = tf.sin(x @ x)" in lines and len(lines.splitlines()) <= 7
    tape = next(s for s in sections if s.startswith("The largest tape"))
    assert "script.py:4" in tape


def test_copies_to_a_card_are_a_finding():
    """Told as engines/cupy tells it: there need be no card here."""
    doctor = Doctor()
    doctor.begin()
    try:
        for witness in tracing.witnesses:
            witness.copied(__file__, 1, "70000 bytes were copied from the host to the GPU.")
    finally:
        doctor.end()
    (finding,) = doctor.report("x.py").findings
    assert finding.title == "Copies between the host and the card"
    assert finding.line == 1 and "prefetch_to_device" in finding.suggestion


class Page(html.parser.HTMLParser):
    """Notes texts, and that each element that is opened is closed."""

    def __init__(self):
        super().__init__()
        self.open, self.texts, self.tags = [], [], []

    def handle_starttag(self, tag, attributes):
        self.tags.append((tag, dict(attributes)))
        if tag not in ("meta", "br"):
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.texts.append(data)


def test_the_page_says_the_same_and_asks_the_network_nothing(gradtape, script, tmp_path):
    title, _, source = SICK["unused"]
    name = "<b>&amp;</b>"
    done = gradtape("doctor", "--html", "page.html", script(source.replace('"spare"', repr(name))))
    assert done.returncode == 1
    assert done.stdout.endswith("\nThe page is in page.html.\n")
    page = Page()
    page.feed((tmp_path / "page.html").read_text(encoding="utf-8"))
    assert page.open == []
    text = "\n".join(page.texts)
    assert title in text and "script.py:3: " in text
    assert f"{name!r} was made, and nothing has read it." in text
    names = [tag for tag, _ in page.tags]
    assert "script" not in names and "b" not in names
    assert not [a for _, a in page.tags if {"src", "href"} & a.keys()]


def test_a_script_that_checks_numerics_itself_still_gets_the_error(gradtape, script):
    source = """
import gradtape as tf
tf.debugging.enable_check_numerics()
try:
    tf.math.log(tf.constant(0.0))
except tf.errors.InvalidArgumentError:
    print("raised")
"""
    done = gradtape("doctor", script(source))
    assert done.stdout.startswith("raised\ngradtape doctor: 1 finding")


def test_the_documentation_shows_what_it_says(gradtape, script):
    """But for the numbers of time and memory at its end."""
    docs = (Path(__file__).parents[2] / "docs/debugging.md").read_text(encoding="utf-8")
    source = docs.partition("Of this `train.py`\n\n```python\n")[2].partition("```")[0]
    path = script(source, "train.py")
    said, shown = gradtape("doctor", path).stdout, docs.partition("it says\n\n```\n")[2]
    end = "The most expensive lines"
    assert said.partition(end)[0] == shown.partition(end)[0]
