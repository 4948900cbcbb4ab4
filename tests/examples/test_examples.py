"""The examples in a short form, each started as a user starts it, in a process of its own."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from matplotlib.image import imread

EXAMPLES = Path(__file__).parents[2] / "examples"

# The options of the short form, and what the last line has to say: name=(from, to).
SHORT = {
    "linear_regression": ("--epochs 60", {"slope": (2.9, 3.1), "offset": (1.9, 2.1)}),
    "logistic_regression": ("--epochs 15", {"loss": (0.0, 0.2), "accuracy": (0.9, 1.0)}),
    "train_mlp": ("--epochs 20", {"loss": (0.0, 0.2), "accuracy": (0.95, 1.0)}),
    "digits_mlp": ("--epochs 6", {"loss": (0.0, 0.3), "accuracy": (0.92, 1.0)}),
    "digits_cnn": ("--epochs 4", {"loss": (0.0, 0.3), "accuracy": (0.9, 1.0)}),
    "gan": ("--steps 1000", {"modes": (6, 8), "near": (0.4, 1.0)}),
    "actor_critic": ("--steps 100", {"reward": (350, 500)}),
    "two_towers": ("--epochs 10", {"first": (0.1, 1.0), "among_ten": (0.5, 1.0)}),
    "maml": ("--steps 500", {"one_step": (0.0, 2.5), "ten_steps": (0.0, 1.6)}),
    "physics_informed": ("--steps 1500", {"error": (0.0, 0.2), "damping": (0.2, 0.6)}),
    "adversarial": ("--epochs 6", {"clean": (0.92, 1.0), "adversarial": (0.0, 0.7)}),
    "vae": ("--epochs 15", {"test_loss": (0.0, 26.8)}),
    "neural_ode": ("--steps 300", {"loss": (0.0, 0.01), "error": (0.0, 0.5)}),
    "keras/image_classifier": ("--epochs 8", {"loss": (0.0, 0.2), "accuracy": (0.94, 1.0)}),
    "keras/text_classifier": ("--epochs 4", {"loss": (0.0, 0.1), "accuracy": (0.95, 1.0)}),
    "keras/time_series": ("--epochs 10", {"ratio": (0.0, 0.9)}),
    "keras/dcgan": ("--epochs 25", {"mean_error": (0.0, 0.3), "spread": (0.15, 1.2)}),
    "keras/actor_critic_catch": ("--steps 150", {"caught": (0.9, 1.0)}),
}

GRADTAPE = [sys.executable, "-m", "gradtape", "run"]


@pytest.fixture
def tensorflow():
    """The command that runs a script on a real TensorFlow."""
    python = os.environ.get("GRADTAPE_ORACLE_PYTHON")
    if not python:
        pytest.fail("set GRADTAPE_ORACLE_PYTHON to a Python that has TensorFlow")
    return [python]


@pytest.fixture
def run(tmp_path):
    """run(command, name, options): what an example printed; it runs in the test's own folder."""

    def start(command, name, options):
        script = EXAMPLES / f"{name}.py"
        environment = {
            **os.environ,
            "OPENBLAS_NUM_THREADS": "1",  # two threads on a busy machine wait for each other
            "PYTHONUTF8": "1",
            "TF_CPP_MIN_LOG_LEVEL": "3",
        }
        return subprocess.run(
            [*command, str(script), *options],
            cwd=tmp_path,
            env=environment,
            capture_output=True,
            text=True,
            encoding="utf-8",
            timeout=300,
        )

    return start


def check_result(done, bounds):
    """The last line is `result: name=value ...`, with the values in their bounds."""
    assert done.returncode == 0, done.stderr
    last = done.stdout.splitlines()[-1]
    assert last.startswith("result: "), done.stdout
    result = {name: float(value) for name, value in re.findall(r"(\w+)=(\S+)", last)}
    for name, (low, high) in bounds.items():
        assert low <= result[name] <= high, f"{name} is not in [{low}, {high}]: {last}"


def check_figure(path):
    """It is a picture that decodes, of a size for a screen, and not blank."""
    height, width, channels = imread(path).shape
    assert 700 <= width <= 1600 and 300 <= height <= 900 and channels == 4, (width, height)
    assert 0.05 < imread(path)[..., :3].std() < 0.5


def gradtape_without(module):
    """The command `gradtape run` in a Python that does not find the module."""
    block = f"import sys; sys.modules[{module!r}] = None"
    code = f"{block}; from gradtape._src.command.cli import main; main()"
    return [sys.executable, "-c", code, "run"]


@pytest.mark.parametrize("name", SHORT)
def test_on_gradtape(run, tmp_path, name):
    options, bounds = SHORT[name]
    done = run(GRADTAPE, name, [*options.split(), "--figure", "figure.png"])
    check_result(done, bounds)
    assert "Warning" not in done.stderr, done.stderr
    assert [file.name for file in tmp_path.iterdir()] == ["figure.png"]
    check_figure(tmp_path / "figure.png")


@pytest.mark.oracle
@pytest.mark.parametrize("name", SHORT)
def test_on_tensorflow(run, tensorflow, tmp_path, name):
    options, bounds = SHORT[name]
    done = run(tensorflow, name, [*options.split(), "--figure", "figure.png"])
    check_result(done, bounds)
    check_figure(tmp_path / "figure.png")


@pytest.mark.parametrize("name", ["gan", "two_towers", "maml"])
def test_without_jax_functions_run_eagerly(run, name):
    options, bounds = SHORT[name]
    done = run(gradtape_without("jax"), name, options.split())
    check_result(done, bounds)
    assert "runs as plain Python, because JAX is not installed" in done.stderr


def test_a_figure_is_drawn_only_when_asked_for(run, tmp_path):
    done = run(gradtape_without("matplotlib"), "train_mlp", ["--epochs", "1"])
    check_result(done, {"accuracy": (0.0, 1.0)})
    assert not list(tmp_path.iterdir())


def test_the_seed_decides(run):
    lines = [
        run(GRADTAPE, "train_mlp", ["--epochs", "1", "--seed", seed]).stdout
        for seed in ("1", "1", "2")
    ]
    first, again, other = (text.splitlines()[-1] for text in lines)
    assert first == again != other


def test_hessian_on_gradtape(run):
    check_hessian(run(GRADTAPE, "hessian", []))


@pytest.mark.oracle
def test_hessian_on_tensorflow(run, tensorflow):
    check_hessian(run(tensorflow, "hessian", []))


def check_hessian(done):
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines()[1:] == [
        "gradient [12.0, 4.0]",
        "Hessian  [[24.0, 12.0], [12.0, 2.0]]",
    ]


def test_every_example_is_tested_and_listed():
    paths = [path.relative_to(EXAMPLES) for path in EXAMPLES.rglob("*.py")]
    names = {path.with_suffix("").as_posix() for path in paths} - {"common", "keras/helpers"}
    assert names == {*SHORT, "hessian"}
    table = (EXAMPLES / "README.md").read_text(encoding="utf-8")
    assert names == set(re.findall(r"^\| \[([\w/]+)\]\(\1\.py\)", table, flags=re.MULTILINE))
