"""Optimizers by name, and as plain values."""

import pytest

from .examples import RULES, gradtape_only


def test_an_optimizer_as_plain_values(tf):
    schedule = tf.optimizers.schedules.ExponentialDecay(0.5, 10, 0.5)
    optimizer = tf.optimizers.SGD(schedule, momentum=0.5, clipnorm=1.0, name="mine")
    record = tf.optimizers.serialize(optimizer)
    assert record == {
        "module": "keras.optimizers",
        "class_name": "SGD",
        "registered_name": None,
        "config": {
            "name": "mine",
            "learning_rate": {
                "module": "keras.optimizers.schedules",
                "class_name": "ExponentialDecay",
                "registered_name": None,
                "config": {
                    "initial_learning_rate": 0.5,
                    "decay_steps": 10,
                    "decay_rate": 0.5,
                    "staircase": False,
                    "name": "ExponentialDecay",
                },
            },
            "weight_decay": None,
            "clipnorm": 1.0,
            "global_clipnorm": None,
            "clipvalue": None,
            "use_ema": False,
            "ema_momentum": 0.99,
            "ema_overwrite_frequency": None,
            "loss_scale_factor": None,
            "gradient_accumulation_steps": None,
            "momentum": 0.5,
            "nesterov": False,
        },
    }
    again = tf.optimizers.deserialize(record)
    assert type(again) is tf.optimizers.SGD
    assert again.get_config() == optimizer.get_config()


@pytest.mark.parametrize("name", RULES)
def test_get_config_makes_the_same_optimizer(tf, name):
    kind, options = RULES[name]
    optimizer = getattr(tf.optimizers, kind)(**(options | {"learning_rate": 0.5}))
    config = optimizer.get_config()
    assert (options | {"learning_rate": 0.5}).items() <= config.items()
    again = type(optimizer).from_config(config)
    assert again.get_config() == optimizer.get_config()


def test_optimizers_by_name(tf):
    for name in "adam", "Adam", "sgd", "RMSprop", "adamw", "ftrl", "lion":
        assert type(tf.optimizers.get(name)).__name__.lower() == name.lower()
    made = tf.optimizers.get({"class_name": "SGD", "config": {"learning_rate": 0.5}})
    assert made.learning_rate.numpy() == 0.5
    assert tf.optimizers.get(made) is made
    assert tf.optimizers.get(None) is None
    for wrong in "nothing", 3:
        with pytest.raises(ValueError):
            tf.optimizers.get(wrong)


@gradtape_only
def test_a_record_names_only_classes_that_are_given(tf):
    class Mine(tf.optimizers.SGD):
        pass

    record = tf.optimizers.serialize(Mine(0.5))
    assert record["class_name"] == "Mine"
    with pytest.raises(ValueError, match="'Mine' is not the name of an optimizer"):
        tf.optimizers.deserialize(record)
    assert type(tf.optimizers.deserialize(record, {"Mine": Mine})) is Mine
