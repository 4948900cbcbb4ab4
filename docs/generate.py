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
from gradtape.core import dtypes  # noqa: E402
from gradtape.core.op import Op  # noqa: E402
from gradtape.testing import all_ops  # noqa: E402

MADE = "<!-- made by docs/generate.py: do not edit -->\n\n"


def ops_page() -> str:
    modules: dict[str, list[Op]] = {}
    registry = all_ops()
    for op in registry.values():
        modules.setdefault(op.kernel.__module__.removeprefix("gradtape.ops."), []).append(op)
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
    "`erf` of an infinite float64 is ±1 (TensorFlow: NaN); `gelu` in float64 has exact constants.",
    "An integer target has gradient None, also one that comes from `top_k` (TensorFlow: zeros).",
    "`custom_gradient`: a gradient of another shape than its argument is an error; forward mode "
    "uses the transpose of the gradient function.",
    "Max pooling gives a tie to its first element in three dimensions too, and passes NaN on.",
    "`expint` of negative numbers is right; the maximum of a segment of -inf is -inf.",
    "`argmax` and `argmin` take NaN for the largest and smallest, as NumPy does.",
    "`det` has a gradient at singular matrices; `pinv` one at equal singular values.",
    "`hsv_to_rgb`, LU, `logm`, `lstsq(fast=False)`, `rfft3d`, area resize have gradients.",
    "Sums of 16-bit floats are accumulated in float32.",
    "`random.categorical` refuses logits that are NaN.",
    "Tensors can be indexed by integer arrays, as in NumPy.",
    "In `@function` shapes are fixed: `boolean_mask`, `unique`, one-argument `where` raise; an "
    "index out of range is clipped, and a label that is no class gives a loss of NaN (TensorFlow "
    "does so on XLA). `print` of a tensor prints at every run.",
    "Random numbers drawn in `@function` are others than those drawn eagerly from the same seed.",
    "Optimizers sum repeated rows of an IndexedSlices first (Keras squares them one by one), keep "
    "0.9 and 0.999 exact in float64, and compute the scalars of half precision in float32 (in "
    "Keras with bfloat16 Adam does not move).",
    "A restore that fails changes nothing; a damaged index of checkpoints is an error.",
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
