"""Write the pages that are read off the code: docs/ops.md and docs/differences.md.

python docs/generate.py            # after a change of the ops or of tests/oracle
python docs/generate.py --check    # fails if a page is not what would be written (a test does this)
"""

from __future__ import annotations

import sys
from pathlib import Path

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE.parent / "tests"))

import gradtape  # noqa: E402, F401
from gradtape._src.core import dtypes  # noqa: E402
from gradtape._src.core.op import Op  # noqa: E402
from gradtape._src.testing import all_ops  # noqa: E402

MADE = "<!-- made by docs/generate.py: do not edit -->\n\n"


def ops_page() -> str:
    modules: dict[str, list[Op]] = {}
    registry = all_ops()
    for op in registry.values():
        modules.setdefault(op.kernel.__module__.removeprefix("gradtape._src.ops."), []).append(op)
    differentiable = sum(bool(op.rules) for op in registry.values())
    lines = [
        MADE + "# The ops\n",
        f"{len(registry)} primitive ops, {differentiable} of them differentiable. Everything else "
        "in the public namespaces is composed of these, and so has their derivatives. "
        "`tests/ops/test_all.py` checks each one from its declaration: its value on strided "
        "inputs and in lower precision, its gradient and second derivative against central "
        "differences in float64, forward against reverse mode, its batching rule against a loop, "
        "and its kernel under `jax.jit` against NumPy.\n",
        "- **gradient by**: the arguments with a gradient rule; the second derivative follows "
        "from it.",
        "- **none by**: arguments whose gradient has no meaning (`None`).",
        "- **forward**: how forward mode pushes a tangent: *partial* (elementwise), *linear* (the "
        "op itself), *transpose* (of the gradient rule).",
        "- **dtypes**: what the arguments may be.",
        "- Every op has a batching rule and runs on NumPy and on XLA.\n",
    ]
    for module in sorted(modules):
        lines += [
            f"## {module}\n",
            "| op | gradient by | none by | forward | dtypes |",
            "|---|---|---|---|---|",
            *(row(op) for op in sorted(modules[module], key=lambda op: op.name)),
            "",
        ]
    return "\n".join(lines)


def row(op: Op) -> str:
    cells = [
        f"`{op.name}`",
        ", ".join(f"`{a}`" for a in op.arguments if a in op.rules) or "–",
        ", ".join(f"`{a}`" for a in op.arguments if a in op.nondiff) or "–",
        forward(op) or "–",
        taken(op),
    ]
    return f"| {' | '.join(cells)} |"


def forward(op: Op) -> str:
    ways = {
        "linear"
        if a in op.linear or op.additive
        else "partial"
        if a in op.diagonal
        else "transpose"
        for a in op.rules
    }
    return ", ".join(sorted(ways))


def taken(op: Op) -> str:
    groups = {
        "floating": dtypes.FLOATING,
        "complex": dtypes.COMPLEX,
        "integer": dtypes.INTEGER,
        "bool": dtypes.BOOL,
    }
    if op.dtypes >= dtypes.ANY:
        return "any"
    whole = [name for name, members in groups.items() if members <= op.dtypes]
    single = [
        d.name for d in dtypes.ALL
        if d.numpy_dtype in op.dtypes and not any(d.numpy_dtype in groups[name] for name in whole)
    ]  # fmt: skip
    return ", ".join(whole + single)


# What no case can compare: values and conventions that differ, and what is stricter or wider here.
CONVENTIONS = [
    "`cumulative_logsumexp` has a second derivative (TensorFlow: NaN).",
    "`erf` of an infinite float64 is ±1 (TensorFlow: NaN); `gelu` in float64 has exact constants.",
    "Beside an infinite logit `softmax` has 0 in every dtype and on XLA too (V22; TensorFlow: NaN, "
    "but in float32 and bfloat16).",
    "A Python integer that its dtype cannot hold is an error (TensorFlow: `constant(300, uint8)` "
    "is 44); next to a float it may be larger than int64, wherever it stands in the list. A list "
    "may begin with real numbers and hold complex ones, and may hold NumPy's bfloat16 (TensorFlow: "
    "ValueError).",
    "Wrong targets, sources and tapes never entered are a TypeError or RuntimeError that says what "
    "is wrong (B9, F14, K15, M8, N5; TensorFlow: AttributeError).",
    "An integer target has gradient None, also one that comes from `top_k` or a `@function` (Q25; "
    "TensorFlow: zeros), or from an op without a gradient: `bitcast` to integers, "
    "`histogram_fixed_width`, `in_top_k`, `image.non_max_suppression` (I8; TensorFlow: "
    "LookupError).",
    "`custom_gradient`: a gradient of another shape than its argument is an error (R18); a number "
    "as a gradient becomes a tensor; keyword arguments are allowed in `@function` (R12); forward "
    "mode uses the transpose of the gradient function (T17).",
    "`ForwardAccumulator` refuses a tangent of another shape than its primal (T9).",
    "An output gradient is broadcast to its target, so that the gradient has the shape of the "
    "source; one that does not fit is an error (G9; TensorFlow leaves it to the operations, and "
    "some compute gradients of another shape).",
    "What is watched between two blocks of a tape counts in the second one (A5, B10; TensorFlow "
    "forgets it).",
    "`tf.test` has `compute_gradient` (Y9) and says how it was built; its TestCase is not there.",
    "Sparse tensors: `concat`, `split`, `maximum`, `minimum`, `reduce_max`, `bincount` by weights, "
    "sparse results of `reduce_sum` and products of two sparse matrices have gradients, and all "
    "that have a first one have a second (TensorFlow: none, or an error). The sum of tensors out "
    "of order is in order. A dataset is no `CompositeTensor`. In `@function` each number of "
    "entries has a trace of its own.",
    "Ragged tensors: `softmax` does not overflow, and there is `log_softmax`; an index beyond its "
    "row is an error in `gather` with `batch_dims` (TensorFlow reads the next row), and a sparse "
    "tensor out of order in `from_sparse`.",
    "Warnings go to the logger `gradtape` (TensorFlow: `tensorflow`).",
    "All functions take TensorFlow's parameters. Those that only its graphs and devices need are "
    "refused where they would change a result: `layout`, `handle`, `variable_def`, "
    "`experimental_mesh`, `bad_indices_policy='IGNORE'`. The options that "
    "optimizers share come by keyword.",
    "Max pooling gives a tie to its first element in three dimensions too (V9), and passes NaN on.",
    "`atan2` knows the sign of a zero: `atan2(-0., -2.)` is -π (TensorFlow: π); a NaN stays one in "
    "`cumulative_logsumexp`.",
    "A variable that is an argument of a `@function` counts by identity: each has a trace "
    "(TensorFlow: one for all of a shape). 1, 1.0 and True are three values, as are 0.0 and -0.0, "
    "and the order of a dict's keys counts (TensorFlow: one trace). A concrete function checks the "
    "shapes of its arguments.",
    "In forward mode a factor that does not move counts as 0, beside Inf and NaN too: the tangent "
    "of `x * y` by y is x where y is Inf (TensorFlow adds 0 times Inf, which is NaN; also in `/`, "
    "`**`, `%`, `xlogy`, `xdivy`, `atan2`); `sqrt` at 0 has tangent 0 for tangent 0 (TensorFlow: "
    "NaN); `sign` has tangent 0 (TensorFlow: None).",
    "`no_gradient` takes names of the user's own types of ops: TensorFlow's are not known here.",
    "`expint` of negative numbers is right; the maximum of a segment of -inf is -inf.",
    "`argmax` and `argmin` take NaN for the largest and smallest, as NumPy does; `sort`, `top_k` "
    "and `searchsorted` for the largest (V25; in TensorFlow numbers around a NaN are not in "
    "order).",
    "`det` has a gradient at singular matrices; `pinv` one at equal singular values.",
    "`hsv_to_rgb`, LU, `logm`, `lstsq(fast=False)`, `rfft3d`, area resize, `extract_glimpse`, "
    "`draw_bounding_boxes`, the scores of `non_max_suppression_with_scores` have gradients (I8), "
    "so has `math.bincount` by its weights, and `softsign` a second one (X45).",
    "Sums of 16-bit floats are accumulated in float32.",
    "`random.categorical` refuses logits that are NaN, `random.poisson` a negative `lam`, and "
    "`random.uniform` integer bounds that hold nothing, but not in `@function`; `function.verify` "
    "reports it.",
    "Tensors can be indexed by integer arrays, as in NumPy.",
    "In `@function`, a call that finds an iterator at its end, or an element that cannot be made, "
    "changes no variable, and the elements that it took come again (Q31); a `return` may stand in "
    "a loop over a dataset, and such a loop has a gradient.",
    "What a user's function raises in a dataset, `py_function` or `numpy_function` comes out as it "
    "is (TensorFlow: as an InvalidArgumentError or UnknownError). What `numpy_function` returns is "
    "converted to `Tout`, if nothing is lost (TensorFlow: eagerly it keeps its dtype, in a "
    "function another one is an error). A file that is not there ends like a damaged one, and the "
    "next file comes (TensorFlow raises for it again, for ever).",
    "In `@function`, where a size depends on values (`boolean_mask`, `unique`, one-argument "
    "`where`, `x[:n]`, a TensorArray that grows), the function runs as plain Python for that "
    "signature, with a warning. With `jit_compile=True` it is an error, unless the size is "
    "computed from integer arguments alone: then, as in TensorFlow, there is a program for each of "
    "their values.",
    "In `@function` the same holds for text that is an argument, or that depends on one: a program "
    "has no text. Texts of Python, and what is computed of constants, are known while it is "
    "traced.",
    "`strings.regex_replace` and `regex_full_match` take RE2's syntax, but for `\\C`; a `rewrite` "
    "that names a group that is not there is an error (TensorFlow logs it, and gives another "
    "text). `strings.format` and `print` show complex numbers.",
    "`DenseHashTable.export` gives the entries, without the empty places between them. Tables take "
    "float keys.",
    "JPEG files are decoded accurately, as by `dct_method='INTEGER_ACCURATE'`: by default "
    "TensorFlow's pixels are off by a few units. A palette or 1-bit PNG decoded to 4 channels is "
    "opaque.",
    "Files are those of this machine: `gs://` and the like are refused.",
    "Functions of `Dataset.map` and its like see the elements themselves, so that shapes are known "
    "in them that are None in TensorFlow.",
    "`print` of a tensor in `@function` prints at every run.",
    "An exported function checks no values.",
    "Random numbers drawn in `@function` are others than those drawn eagerly from the same seed.",
    "Optimizers sum repeated rows of an IndexedSlices first (Keras squares them one by one), keep "
    "0.9 and 0.999 exact in float64, and compute the scalars of half precision in float32 (in "
    "Keras with bfloat16 Adam does not move).",
    "An optimizer refuses a variable that is given twice in one step (Keras takes two steps "
    "with it, one after the other).",
    "A restore that fails changes nothing; a damaged index of checkpoints is an error.",
    "`tf.saved_model.save` writes a folder of gradtape's own: what the objects are (JSON), the "
    "variables (safetensors), each function as StableHLO with its first derivative. A "
    "SavedModel of TensorFlow is refused, with advice; functions of text are not saved.",
    "Attributes of modules keep the lists and dicts that they are given (TensorFlow wraps "
    "them); a `tf.train.Checkpoint` finds layers inside the lists of Keras' models too "
    "(TensorFlow: not those).",
    "`tf.distribute` knows one device; `tf.config` the CPU, and one GPU if CuPy finds it (gpu.md).",
    "On a GPU, tensors made of Python and NumPy values are on the host, unless they are moved; a"
    " block `with tf.device(...)` places what is made in it, and ops run where their arrays are."
    " Integer variables are on the host. An index out of range is an error there too.",
    "Without soft placement a device that is not there is refused by `tf.device` itself, not by the"
    " first op.",
    "`tf.VariableSynchronization` and its like are kept and have no effect.",
    "A size that a placeholder of `tf.__internal__.FuncGraph` leaves open counts as large: "
    "`x[:, :3]` has 3 columns (TensorFlow: None). Placeholders of unknown rank are refused.",
    "Checkpoints are safetensors files. Those in TensorFlow's own format are refused, with how to "
    "convert them.",
    "`summary.histogram` leaves out NaN and Inf.",
]


def differences_page() -> str:
    from oracle import cases

    rows = [
        f"| {case.name} | {order(case.agrees)} | {case.differs} |"
        for case in cases.table()
        if case.differs
    ]
    return "\n".join(
        [
            MADE + "# Where gradtape and TensorFlow differ on purpose\n",
            "Where TensorFlow's answer is wrong as mathematics, gradtape gives the right one "
            "(checked against central differences); where it is a convention, gradtape follows "
            "TensorFlow. This table is read off the cases of `tests/oracle`, in which everything "
            "else must agree.\n",
            "| case | agrees up to | why they differ |",
            "|---|---|---|",
            *rows,
            "",
            "Beside these, in values and conventions:\n",
            *(f"- {text}" for text in CONVENTIONS),
            "",
        ]
    )


def order(agrees: int) -> str:
    return {0: "the value", 1: "the gradient"}.get(agrees, "–")


PAGES = {"ops.md": ops_page, "differences.md": differences_page}


def main() -> int:
    stale = []
    for name, write in PAGES.items():
        path, text = HERE / name, write()
        if "--check" not in sys.argv:
            path.write_text(text)
        elif not path.exists() or path.read_text() != text:
            stale.append(name)
    for name in stale:
        print(f"docs/{name} is not up to date: run python docs/generate.py")
    return len(stale)


if __name__ == "__main__":
    sys.exit(main())
