"""What users do with Keras: as on TensorFlow, whose results are recorded here."""

import numpy as np
import pytest

LAYERS = [((None, 4), (None, 3)), ((None, 3), (None, 1))]
FIXED = [((8, 4), (8, 3)), ((8, 3), (8, 1))]
WHOLE = [((20, 4), (20, 3)), ((20, 3), (20, 1))]
CASES = {
    ("shapes_of_sequential", "fit"): ((None, 4), (None, 1), LAYERS, {"input_shape": (None, 4)}),
    ("shapes_of_sequential", "evaluate"): (
        (None, 4), (None, 1), LAYERS, {"input_shape": (None, 4)}),
    ("shapes_of_sequential", "several_steps"): (
        (None, 4), (None, 1), LAYERS, {"input_shape": (None, 4)}),
    ("shapes_of_sequential", "full_batches"): ((8, 4), (8, 1), FIXED, {"input_shape": (8, 4)}),
    ("shapes_of_sequential", "predict"): ((8, 4), (8, 1), FIXED, {"input_shape": (8, 4)}),
    ("shapes_of_sequential", "train_on_batch"): (
        (20, 4), (20, 1), WHOLE, {"input_shape": (20, 4)}),
    ("shapes_of_images",): [
        (None, 6, 6, 4), (None, 6, 6, 4), (None, 3, 3, 4), (None, 36), (None, 3)],
    ("shapes_of_sequences",): [(None, None, 4), (None, None, 6), (None, 2), (None, 1)],
    ("shapes_of_sparse",): ((None, 4), (None, 1)),
    ("shapes_of_subclass",): (
        [("build", (None, 4)), ("call", (None, 4))], {"input_shape": (None, 2)},
        {"input_shape": (None, 4)}),
    ("saved_after_fit",): (True, 3),
    ("restored_without_its_optimizer",): (True, 3),
}  # fmt: skip
LOSSES = {
    ("losses_of_dynamic", "positive"): [330.78152, 271.85992],
    ("losses_of_dynamic", "different"): [3.3130176, 3.3016319],
    ("losses_of_dynamic", "first_few"): [5.5337687, 5.4923301],
    ("losses_of_sparse", "Adam"): [3.2653785, 2.7178919, 2.3528867],
    ("losses_of_sparse", "RMSprop"): [3.5239015, 2.8294570, 2.4520502],
    ("losses_of_several_steps", 2): [0.7575198, 0.5548994, 0.4424894],
    ("losses_of_several_steps", 5): [0.7575198, 0.5548994, 0.4424894],
}


def name(case):
    return " ".join(map(str, case))


@pytest.mark.parametrize("case", CASES, ids=name)
def test_recorded(keras, case):
    assert keras(f"uses.{case[0]}", *case[1:]) == CASES[case]


@pytest.mark.parametrize("case", LOSSES, ids=name)
def test_recorded_losses(keras, case):
    np.testing.assert_allclose(keras(f"uses.{case[0]}", *case[1:]), LOSSES[case], rtol=1e-5)


@pytest.mark.gradtape_only  # TensorFlow counts a step at the end of the data, too
@pytest.mark.parametrize("steps_per_execution", [1, 2])
def test_a_step_without_data_is_not_counted(keras, steps_per_execution):
    assert keras("uses.steps_counted", steps_per_execution) == 6


@pytest.mark.gradtape_only
def test_what_is_not_compiled_is_said_once(keras):
    (message,) = keras("uses.said_of_text")
    assert "the elements of the iterator hold text" in message


@pytest.mark.parametrize("optimizer", ["rmsprop", "adagrad", "adadelta"])
def test_an_embedding_trains_in_a_compiled_step(keras, optimizer):
    compiled = keras("uses.embedding_after", optimizer, jit_compile=True)
    np.testing.assert_allclose(
        compiled, keras("uses.embedding_after", optimizer, run_eagerly=True), atol=1e-6
    )


@pytest.mark.gradtape_only
def test_tensorboard_reads_what_the_callback_writes(keras):
    assert keras("uses.read_by_tensorboard") == [True, True]
