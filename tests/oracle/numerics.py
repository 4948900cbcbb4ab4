"""What enable_check_numerics says of some programs: for test_numerics.py, here and on TensorFlow.

As a script it prints, for each program and way to run it, the class of the error and its first
line, as JSON.
"""

import json
import re


def programs(tf):
    def gradient(f):
        def run(x):
            with tf.GradientTape() as tape:
                tape.watch(x)
                y = f(x)
            return tape.gradient(y, x)

        return run

    return {
        "log": lambda x: tf.math.log(x),
        "sqrt": lambda x: tf.sqrt(x - 1.0),
        "exp": lambda x: tf.exp(x * 100.0),
        "pow": lambda x: (x - 1.0) ** 0.5,
        "acos": lambda x: tf.acos(x + 0.5),
        "cast": lambda x: tf.cast(x * 1e6, tf.float16),
        "reciprocal": lambda x: tf.math.reciprocal(x),
        "rsqrt": lambda x: tf.math.rsqrt(x),
        "the second of three": lambda x: tf.sqrt(tf.math.log(x + 0.0) * 1.0),
        "gradient of sqrt": gradient(tf.sqrt),
        "gradient of acos": gradient(tf.acos),
        "finite": lambda x: tf.math.log(x + 1.0),
        "finite gradient": gradient(lambda x: tf.sqrt(x + 1.0)),
        "a filled tensor": lambda x: (tf.fill([2], float("inf")), x)[1],
    }


def found(tf):
    tf.debugging.enable_check_numerics()
    results = {}
    for name, program in programs(tf).items():
        for way, run in [("eagerly", program), ("compiled", tf.function(program))]:
            try:
                run(tf.constant([0.0, 1.0]))
            except Exception as error:
                line = re.search(r"!!! .*!!!", str(error))
                results[f"{name}, {way}"] = [type(error).__name__, line and line[0]]
            else:
                results[f"{name}, {way}"] = None
    tf.debugging.disable_check_numerics()
    return results


if __name__ == "__main__":
    import tensorflow

    print(json.dumps(found(tensorflow)))
