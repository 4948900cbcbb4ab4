"""Pictures of tapes and functions: what they hold, where it stands, and the texts made of them."""

import importlib
import json
import random
import re
import webbrowser
import xml.etree.ElementTree as ElementTree
from operator import itemgetter

import numpy as np
import pytest

import gradtape as tf
from gradtape._src.inspect.viewer.drawing import pictures_of
from gradtape._src.inspect.viewer.grouping import group, runs_of
from gradtape._src.inspect.viewer.hlo import parse
from gradtape._src.inspect.viewer.layered import arrange, placed
from gradtape._src.inspect.viewer.numbers_of import numbers_of
from gradtape._src.inspect.viewer.page import page
from gradtape._src.inspect.viewer.picture import Box, Edge, Picture, Place

from . import drawn

pytestmark = pytest.mark.gradtape_only

only = itemgetter(0)  # no function: names are those of the function that asks

HOSTILE = "</script><script>alert(1)</script><!--&\"'\\\n\u2028"


def group_named(picture, label):
    (found,) = [each for each in picture.groups if label in each.label]
    return found


def box_named(picture, name):
    (found,) = [box for box in picture.boxes if box.name == name]
    return found


# What is in a picture


def test_ops_stand_in_the_functions_scopes_and_lines_that_they_ran_in():
    tape, loss, *_ = drawn.run(explain=True)
    picture = only(pictures_of(tape, loss))
    first = len(picture.boxes)
    parents = picture.parents()

    def around(box):
        above, labels = parents[picture.boxes.index(box)], []
        while above > first:
            labels.append(picture.groups[above - first].label)
            above = parents[above]
        return labels[::-1]

    assert around(box_named(picture, "loss"))[0].startswith("loss = tf.reduce_mean(losses)")
    argmax = next(box for box in picture.boxes if box.label == "argmax")
    assert around(argmax)[0].startswith("hits = ")
    relu = [box for box in picture.boxes if box.label == "relu"]
    line = "return tf.nn.relu(x @ self.w + self.b)"
    assert around(relu[0]) == ["Model.__call__()", "Dense.__call__()", line]
    assert around(relu[1]) == ["Model.__call__()", "Dense.__call__()", "scores", line]
    assert around(box_named(picture, "first/w")) == ["Model.__call__()", "Dense.__call__()"]


def test_a_loop_is_one_line_that_holds_its_runs():
    tape, loss, *_ = drawn.run(explain=True)
    picture = only(pictures_of(tape, loss))
    loop = group_named(picture, "# the loop")
    assert loop.runs == 12 and not loop.opened and "×12" in loop.about
    runs = [
        picture.groups[c - len(picture.boxes)] for c in loop.children if c >= len(picture.boxes)
    ]
    assert len(runs) == 12
    for run in runs:
        assert [picture.boxes[c].label for c in run.children] == ["matmul", "add", "tanh"]


@pytest.mark.parametrize(
    "sites, runs",
    [
        ([], []),
        ([(2, "exp")], [(0, 1)]),
        ([(2, "exp"), (4, "log")], [(0, 2)]),
        ([(2, "exp"), (4, "log")] * 3, [(0, 2), (2, 4), (4, 6)]),
        ([(2, "exp")] * 3, [(0, 1), (1, 2), (2, 3)]),
        ([(2, "sub"), (2, "mul"), (2, "sub"), (2, "exp")], [(0, 4)]),
        ([(2, "sub"), (2, "mul"), (2, "sub"), (2, "exp")] * 2, [(0, 4), (4, 8)]),
        # rounds that differ
        ([(2, "exp"), (4, "log"), (2, "exp"), (6, "sin")], [(0, 2), (2, 4)]),
    ],
)
def test_the_runs_of_a_line(sites, runs):
    assert runs_of(sites) == runs


def test_norms_are_those_of_the_gradients():
    tape, loss, model, _ = drawn.run(explain=True, persistent=True)
    picture = only(pictures_of(tape, loss))
    for variable in model.trainable_variables:
        box = box_named(picture, variable.name.removesuffix(":0"))
        norm = np.linalg.norm(tape.gradient(loss, variable).numpy().ravel())
        assert box.gradient["norm"] == pytest.approx(norm, rel=1e-5)
        assert box.value["norm"] == pytest.approx(
            np.linalg.norm(variable.numpy().ravel()), rel=1e-5
        )
        assert box.shape == tuple(variable.shape) and box.size == variable.numpy().nbytes


def test_where_it_is_cut_is_said_with_the_causes_of_explain():
    tape, loss, _, temperature = drawn.run(explain=True)
    picture = only(pictures_of(tape, loss, temperature))
    argmax = next(box for box in picture.boxes if box.label == "argmax")
    assert argmax.cut[0] == "INTEGER" and not argmax.recorded
    exit_ = next(box for box in picture.boxes if box.kind == "exit")
    assert exit_.cut[0] == "LEFT_TAPE" and exit_.line
    source = picture.boxes[picture.source]
    assert source.name == "temperature" and source.explained.startswith("LEFT_TAPE: ")
    assert picture.boxes[picture.target].name == "loss"
    flows = {(picture.boxes[a].label, picture.boxes[b].label): f for a, b, f in picture.edges}
    assert not flows["argmax", "equal"] and flows["matmul", "add"]


def test_what_a_library_computes_stands_in_the_line_that_called_it(tmp_path, monkeypatch):
    folder = tmp_path / "site-packages"
    folder.mkdir()
    (folder / "a_library_of_others.py").write_text("def twice(x):\n    return x + x\n")
    monkeypatch.syspath_prepend(str(folder))
    library = importlib.import_module("a_library_of_others")
    x = tf.Variable(1.0, name="x")
    with tf.GradientTape(explain=True) as tape:
        y = library.twice(x) * 3.0
    picture = only(pictures_of(tape, y))
    lines = {(box.file, box.line) for box in picture.boxes if box.kind == "op"}
    assert len(lines) == 1 and {file for file, _ in lines} == {__file__}


def test_stopped_gradients_and_ops_outside_of_the_block():
    x = tf.Variable([1.0, 2.0], name="x")
    with tf.GradientTape(explain=True) as tape:
        early = tf.stop_gradient(x * 2.0)
        y = tf.reduce_sum(early)
    late = y * 3.0
    picture = only(pictures_of(tape, late, x))
    cuts = {box.label: box.cut[0] for box in picture.boxes if box.cut}
    assert cuts["stop_gradient"] == "STOPPED" and cuts["multiply"] == "AFTER_TAPE"
    assert box_named(picture, "late").label == "multiply"


def test_a_plain_tape_shows_what_its_records_hold():
    tape, loss, *_ = drawn.run()
    picture = only(pictures_of(tape, loss))
    assert [box.label for box in picture.boxes if box.kind == "op"] == [r.op.name for r in tape]
    assert all(box.line == 0 for box in picture.boxes) and "explain=True" in picture.note
    assert all(box.shape is not None for box in picture.boxes if box.kind == "op")
    labels = [each.label for each in picture.groups]
    assert "first" in labels and "head" in labels  # the scopes of the variables


def test_bytes_that_the_tape_holds_are_counted_once():
    x = tf.Variable(tf.ones([100]))
    with tf.GradientTape() as tape:
        y = x * x
        z = y * y
        tf.reduce_sum(z * y)
    held = [box.held for box in only(pictures_of(tape)).boxes if box.kind == "op"]
    assert held == [400, 400, 400, 0]  # x; y; z; the shape alone


def test_drawing_uses_nothing_up_and_is_seen_by_no_tape():
    tape, loss, model, _ = drawn.run()
    before = len(list(tape))
    with tf.GradientTape() as outer:
        outer.watch(loss)
        only(pictures_of(tape, loss))
    assert not list(outer) and len(list(tape)) == before
    assert all(g is not None for g in tape.gradient(loss, model.trainable_variables))


def test_a_tape_that_was_used_up():
    tape, loss, model, _ = drawn.run()
    tape.gradient(loss, model.trainable_variables)
    with pytest.raises(RuntimeError, match="Draw it before"):
        tape.to_dot()
    tape, loss, model, _ = drawn.run(explain=True)
    tape.gradient(loss, model.trainable_variables)
    picture = only(pictures_of(tape, loss))
    assert box_named(picture, "first/w").gradient["norm"] > 0
    assert "tanh" in [box.label for box in picture.boxes]


def test_a_tape_with_a_budget_and_an_empty_one():
    x = tf.Variable(tf.ones([1000]))
    with tf.GradientTape(memory_budget=5000) as tape:
        y = x
        for _ in range(5):
            y = tf.sin(y) * y
    assert len([b for b in only(pictures_of(tape, y)).boxes if b.kind == "op"]) == 10
    with tf.GradientTape() as tape:
        pass
    assert only(pictures_of(tape)).boxes == []
    assert page("nothing", [only(pictures_of(tape))])


def test_a_gradient_that_is_infinite_is_drawn_while_numerics_are_checked():
    x = tf.Variable([0.0, 1.0], name="x")
    tf.debugging.enable_check_numerics()
    try:
        with tf.GradientTape(explain=True) as tape:
            y = tf.reduce_sum(tf.sqrt(x))
        assert box_named(only(pictures_of(tape, y)), "x").gradient["inf"] == 1
        with pytest.raises(tf.errors.InvalidArgumentError, match="Inf"):
            tape.gradient(y, x)
    finally:
        tf.debugging.disable_check_numerics()


def test_a_target_must_be_a_tensor():
    tape, *_ = drawn.run()
    with pytest.raises(ValueError, match="must be a tensor or a variable"):
        tape.to_dot() and tape.save_svg("x.svg", target="loss")


def test_custom_gradients_slices_and_several_outputs_are_drawn():
    @tf.custom_gradient
    def double(x):
        return x * 2.0, lambda g: g * 2.0

    table = tf.Variable(tf.ones([5, 2]), name="table")
    with tf.GradientTape(explain=True) as tape:
        rows = tf.gather(table, [1, 3, 3])
        a, b = tf.unstack(double(rows), axis=1)
        loss = tf.reduce_sum(a * b)
    box = box_named(only(pictures_of(tape, loss)), "table")
    assert box.gradient["norm"] == pytest.approx(
        np.linalg.norm(tf.convert_to_tensor(tape.gradient(loss, table)))
    )


@pytest.mark.parametrize(
    "values, found",
    [
        ([], {"count": 0}),
        ([2.0], {"count": 1, "min": 2.0, "max": 2.0, "mean": 2.0, "norm": 2.0}),
        ([0.0, 3.0, 4.0], {"zeros": 1, "norm": 5.0, "min": 0.0, "max": 4.0}),
        ([np.nan, 3.0, np.inf], {"nan": 1, "inf": 1, "max": 3.0}),
        ([np.nan], {"nan": 1, "inf": 0, "count": 1}),
        ([3 + 4j, 0j], {"max": 5.0, "zeros": 1}),
        ([True, False], {"zeros": 1, "max": 1.0}),
    ],
)
def test_values_described(values, found):
    described = numbers_of(np.array(values))
    assert {name: described[name] for name in found} == found
    if "bins" in described:
        assert sum(described["bins"]) == len(values) - described.get("nan", 0)
    assert numbers_of(np.array(["text"], object)) is None


# Where it stands


def a_random_picture(seed):
    random.seed(seed)
    count = random.randrange(2, 120)
    boxes = []
    for i in range(count):
        parts = [Place(p, str(p), "scope") for p in random.choices("abc", k=random.randrange(3))]
        line = [Place(("line", i % 7), "line", "line")] if random.random() < 0.5 else []
        boxes.append(Box(f"op{i}", places=(*parts, *line), site=i % 3))
    edges = [Edge(random.randrange(i), i) for i in range(1, count) for _ in range(2)]
    picture = Picture("random", boxes, edges)
    group(picture)
    arrange(picture)
    return picture


@pytest.mark.parametrize("unfolded", [False, True])
@pytest.mark.parametrize("seed", range(12))
def test_boxes_do_not_overlap_and_are_inside_of_their_groups(seed, unfolded):
    picture = a_random_picture(seed)
    first, parents, where = len(picture.boxes), picture.parents(), placed(picture, unfolded)
    assert set(picture.shown(unfolded)[0]) | {first} == set(where)
    if unfolded:
        assert len(where) == len(parents)
    for item, (x, y, w, h) in where.items():
        if item != first:
            left, top, width, height = where[parents[item]]
            assert left < x and top < y and x + w < left + width and y + h < top + height
    for each in picture.groups:
        flat = [child for row in each.rows for child in row if child >= 0]
        assert sorted(flat) == sorted(each.children)
        inside = [where[child] for child in each.children if child in where]
        for i, (x, y, w, h) in enumerate(inside):
            for a, b, c, d in inside[:i]:
                assert x + w <= a or a + c <= x or y + h <= b or b + d <= y


def test_what_is_computed_later_stands_below():
    tape, loss, *_ = drawn.run(explain=True)
    picture = only(pictures_of(tape, loss))
    where = placed(picture, unfolded=True)
    for a, b, _ in picture.edges:
        if picture.parents()[a] == picture.parents()[b]:
            assert where[a][1] < where[b][1]


def test_no_group_is_too_large_to_be_taken_in():
    x = tf.Variable(1.0)
    with tf.GradientTape() as tape:
        y = x
        for _ in range(5000):
            y = tf.sin(y)
    picture = only(pictures_of(tape))
    assert max(len(each.children) for each in picture.groups) <= 100
    assert len(picture.shown()[0]) < 150


# Texts


def data_of(text):
    (found,) = re.findall(r'<script type="application/json" id="data">(.*?)</script>', text, re.S)
    return json.loads(found)


def hostile_tape():
    v = tf.Variable(1.0, name=HOSTILE)
    with tf.GradientTape(explain=True) as tape:
        with tf.name_scope("<img src=x onerror=alert(1)>"):
            loss = v * v
        loss = loss + 1.0  # </script> <b>
    return tape, loss


def test_the_page_is_whole_by_itself(tmp_path):
    tape, loss, model, _ = drawn.run(explain=True)
    path = tmp_path / "page.html"
    tape.save_html(path, target=loss, source=model.cell)
    text = path.read_text(encoding="utf-8")
    data = data_of(text)
    (view,) = data["views"]
    assert len(view["boxes"]) == len(only(pictures_of(tape, loss)).boxes)
    assert view["boxes"][view["source"]]["name"] == "cell"
    assert data["files"][0]["path"].endswith(".py")
    program = re.sub(r'<script type="application/json".*?</script>', "", text, flags=re.S)
    assert not re.search(r"https?:|//[a-z]+\.[a-z]|<link|<img|src=|@import|url\(", program)
    assert "default-src 'none'" in text and text.count("<script") == 2
    assert len(text) < 200_000


def test_hostile_names_stay_names(tmp_path):
    tape, _ = hostile_tape()
    tape.save_html(tmp_path / "page.html")
    text = (tmp_path / "page.html").read_text(encoding="utf-8")
    assert text.count("</script>") == 2 and "<img" not in text
    names = [box.get("name") for box in data_of(text)["views"][0]["boxes"]]
    assert HOSTILE in names
    tape.save_svg(tmp_path / "page.svg", unfolded=True)
    tree = ElementTree.parse(tmp_path / "page.svg")
    assert not [each for each in tree.iter() if each.tag.endswith("script")]
    assert "<script" not in tape.to_mermaid(unfolded=True)
    dot = tape.to_dot(unfolded=True)
    assert all(line.count('"') - line.count('\\"') in (0, 2, 4) for line in dot.splitlines())


def test_a_hostile_title_is_escaped():
    text = page("</title><script>", [a_random_picture(0)])
    assert text.count("<script") == 2 and data_of(text)["title"] == "</title><script>"


def test_of_a_long_name_the_end_is_shown(tmp_path):
    names = [f"a_model/a_block_of_layers/a_layer/{name}" for name in ("gamma", "beta")]
    a, b = [tf.Variable(1.0, name=name) for name in names]
    with tf.GradientTape(explain=True) as tape:
        a * b
    tape.save_svg(tmp_path / "a.svg")
    shown = [e.text for e in ElementTree.parse(tmp_path / "a.svg").iter() if e.text]
    assert any(text.startswith("…") and text.endswith("a_layer/gamma") for text in shown)
    assert any(text.endswith("a_layer/beta") for text in shown)


def test_a_variable_that_the_tape_does_not_follow_has_its_name():
    mean, v = tf.Variable(1.0, trainable=False, name="moving_mean"), tf.Variable(2.0)
    with tf.GradientTape(explain=True) as tape:
        v * mean
    del mean
    assert "moving_mean" in [box.name for box in only(pictures_of(tape)).boxes]


def test_a_check_of_a_function_is_called_so():
    @tf.function
    def f(i):
        tf.debugging.assert_less(i, 3)
        return i * 2

    before, _ = pictures_of(f.get_concrete_function(tf.constant(1)))
    labels = [box.label for box in before.boxes]
    assert "check" in labels and not [label for label in labels if label.startswith("_")]


def test_svg_dot_and_mermaid_show_what_is_visible(tmp_path):
    tape, *_ = drawn.run(explain=True)
    picture = only(pictures_of(tape))
    shown, edges = picture.shown()
    tape.save_svg(tmp_path / "a.svg")
    tree = ElementTree.parse(tmp_path / "a.svg").getroot()
    paths = [e for e in tree.iter() if e.get("class", "").startswith("edge")]
    assert len(paths) == len(edges) and len(shown) > 8
    dot, mermaid = tape.to_dot(), tape.to_mermaid()
    assert dot.count(" -> ") == len(edges)
    assert mermaid.startswith("flowchart TB\n") and len(re.findall(r"-->|-\.->", mermaid)) == len(
        edges
    )
    assert "×12" in dot and "×12" in mermaid
    assert dot.count("{") == dot.count("}") and mermaid.count("subgraph") == mermaid.count("  end")
    whole = tape.to_dot(unfolded=True)
    assert whole.count("tanh") >= 12 > dot.count('label="tanh')


def test_show_opens_the_browser(monkeypatch, capsys):
    opened = []
    monkeypatch.setattr(webbrowser, "open", lambda url: opened.append(url) or len(opened) == 1)
    tape, loss, *_ = drawn.run()
    tape.show(target=loss)
    assert (
        opened[0].startswith("file:")
        and opened[0].endswith(".html")
        and not capsys.readouterr().out
    )
    tape.show()
    assert "No browser was found. The page is " in capsys.readouterr().out


# Functions


@pytest.fixture
def step():
    pytest.importorskip("jax")
    model = drawn.Model()

    @tf.function
    def step(x):
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean(model(x) ** 2)
        for v, g in zip(
            model.trainable_variables,
            tape.gradient(loss, model.trainable_variables),
            strict=True,
        ):
            v.assign_sub(0.1 * g)
        return loss

    return step.get_concrete_function(tf.TensorSpec([4, 8]))


def test_a_function_as_traced_and_as_xla_runs_it(step, tmp_path):
    traced, program = pictures_of(step)
    assert "as traced" in traced.name and "XLA" in program.name
    for picture in traced, program:
        named = {box.name: box.kind for box in picture.boxes}
        assert named["x"] == "input" and named["cell"] == "variable"
        lines = [each for each in picture.groups if each.style == "line"]
        assert any("# the loop" in each.label for each in lines)
    assert group_named(traced, "# the loop").runs == 12
    assert any("fusion" in each.label for each in program.groups)
    step.save_html(tmp_path / "step.html")
    data = data_of((tmp_path / "step.html").read_text(encoding="utf-8"))
    assert [view["name"] for view in data["views"]] == [traced.name, program.name]
    assert data["title"] == "function step"
    with pytest.raises(ValueError, match="Leave them out"):
        step.save_html(tmp_path / "step.html", target=tf.constant(1.0))


def test_a_call_of_a_function_is_one_box_of_a_tape():
    pytest.importorskip("jax")
    x = tf.Variable([1.0, 2.0], name="x")
    double = tf.function(lambda x: x * 2.0)
    with tf.GradientTape(explain=True) as tape:
        loss = tf.reduce_sum(double(x))
    picture = only(pictures_of(tape, loss))
    assert len([box for box in picture.boxes if box.kind == "op"]) == 2
    assert box_named(picture, "x").gradient["norm"] == pytest.approx(8**0.5)


def test_the_lines_of_a_function_are_in_the_text_of_its_program():
    pytest.importorskip("jax")
    f = tf.function(lambda x: tf.sin(x) @ x)
    text = f.experimental_get_compiler_ir(tf.ones([3, 3]))("optimized_hlo")
    module = parse(text)
    made = module.computations[module.entry]
    assert __file__ in {frame.file for each in made for frame in each.frames}


def test_a_loop_in_a_program_holds_its_body():
    pytest.importorskip("jax")

    @tf.function
    def f(x):
        for _ in tf.range(tf.cast(x[0], tf.int32)):
            x = tf.sin(x)
        return tf.cond(x[0] > 0.0, lambda: x, lambda: -x)

    _, program = pictures_of(f.get_concrete_function(tf.TensorSpec([3])))
    labels = {each.label.partition(":")[0] for each in program.groups}
    assert "while" in labels
    assert "sine" in {box.label for box in program.boxes}


HLO = """HloModule m
FileNames
1 "a \\"b\\".py"

FunctionNames
1 "f"

FileLocations
1 {file_name_id=1 function_name_id=1 line=7 end_line=7 column=1 end_column=2}

StackFrames
1 {file_location_id=1 parent_frame_id=1}

%fused (p: f32[2,3]) -> f32[2,3] {
  %p = f32[2,3]{1,0} parameter(0)
  ROOT %e = f32[2,3]{1,0} exponential(%p)
}

ENTRY %main (a: f32[2,3]) -> (f32[2,3], s32[]) {
  %a = f32[2,3]{1,0} parameter(0), metadata={op_name="arrays[0]"}
  %c = s32[] constant(3)
  %x = f32[2,3]{1,0:T(8,128)} fusion(%a), calls=%fused, metadata={op_name="f/exp" stack_frame_id=1}
  ROOT %t = (f32[2,3]{1,0}, s32[]) tuple(%x, %c)
}
"""


def test_the_text_of_a_program_is_read():
    module = parse(HLO)
    assert module.entry == "main" and set(module.computations) == {"fused", "main"}
    a, c, x, t = module.computations["main"]
    assert (a.op, a.shape, a.dtype, a.op_name) == ("parameter", (2, 3), "f32", "arrays[0]")
    assert (c.op, c.shape, c.operands) == ("constant", (), [])
    assert (x.op, x.operands, x.called) == ("fusion", ["a"], ["fused"])
    assert [tuple(frame) for frame in x.frames] == [('a \\"b\\".py', 7, "f")]
    assert (t.op, t.operands, t.shape, t.is_root) == ("tuple", ["x", "c"], None, True)


# TensorBoard


def test_tensorboard_reads_the_picture_of_a_tape(tmp_path):
    pytest.importorskip("tensorboard")
    from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

    tape, *_ = drawn.run(explain=True)
    with tf.summary.create_file_writer(str(tmp_path)).as_default() as writer:
        assert bool(tf.summary.graph(tape)) is True
    writer.close()
    reader = EventAccumulator(str(tmp_path))
    reader.Reload()
    nodes = {node.name: node for node in reader.Graph().node}
    assert len(nodes) == len(only(pictures_of(tape)).boxes)
    assert all(name in nodes for node in nodes.values() for name in node.input)
    (relu,) = [n for name, n in nodes.items() if "/scores/" in name and n.op == "relu"]
    assert relu.name.startswith("Model.__call__") and "line_" in relu.name
    (shape,) = relu.attr["_output_shapes"].list.shape
    assert [d.size for d in shape.dim] == [4, 3]
    assert {n.op for n in nodes.values()} >= {"Variable", "Constant", "Exit", "matmul"}


def test_many_sources_are_explained_by_one_way_back(monkeypatch):
    from gradtape._src.inspect import explain as module

    ways_back = []
    seen = module.backward_seen
    monkeypatch.setattr(module, "backward_seen", lambda *a: ways_back.append(a) or seen(*a))
    sources = [tf.Variable(0.0) for _ in range(30)]
    with tf.GradientTape(explain=True) as tape:
        loss = tf.add_n([v * 0.0 for v in sources])
    (picture,) = pictures_of(tape, loss)
    assert len(ways_back) == 1 and sum("ZERO" in box.explained for box in picture.boxes) == 30
