"""Every public function and method takes TensorFlow's parameters: names, order, defaults."""

import dis
import inspect
import re
from typing import get_type_hints

import pytest

import gradtape
from gradtape._src.train.optimizers.options import Options
from tests.names import signatures


def recorded():
    """{name: its parameters in TensorFlow, as text}"""
    found = {}
    for line in signatures.FILE.read_text(encoding="utf-8").splitlines()[1:]:
        text, _, names = line.partition(") ")
        found |= dict.fromkeys(names.split(), text.removeprefix("("))
    return found


def ours(name):
    """What gradtape has under a name, as a function without `self`; None if it has not."""
    owner, _, last = name.rpartition(".")
    try:
        home = signatures.resolve(gradtape, owner) if owner else gradtape
        value = getattr(home, last)
    except AttributeError:
        return None
    if isinstance(value, type):
        return signatures.constructor(value)
    if getattr(tuple, last, None) is value:  # of a named tuple
        return None
    static = isinstance(home, type) and isinstance(
        inspect.getattr_static(home, last), (staticmethod, classmethod)
    )
    return signatures.unbound(value) if isinstance(home, type) and not static else value


def is_of_tuple(name):
    """Whether a method is that of Python's tuple, whose parameters have no names."""
    home, _, last = name.rpartition(".")
    try:
        kind = signatures.resolve(gradtape, home)
    except AttributeError:
        return False
    return last in ("count", "index") and isinstance(kind, type) and issubclass(kind, tuple)


RECORDED = recorded()
NAMES = [name for name in sorted(RECORDED) if ours(name) is not None and not is_of_tuple(name)]

# The options that all optimizers share are one list, `Options`: by keyword, where Keras also takes
# them by position.
OPTIMIZERS = [name for name in NAMES if re.fullmatch(r"keras\.optimizers\.[A-Z]\w*", name)]
BUILDS = [f"{name}.build" for name in OPTIMIZERS if RECORDED.get(f"{name}.build") == "var_list"]
BY_KEYWORD = [*get_type_hints(Options)]
THEIR_OWN = "made by TensorFlow's own functions only, of what gradtape does not have"
SCALAR = "() is the shape of a scalar: TensorShape() needs no argument here"
NAMED = "its keyword arguments are written out"
BASE = "as in Keras' base class, from which Keras' subclasses differ"
UNKNOWN = "unknown options are an error at once; Keras takes them to say so later"
ALSO = "an error can be made of its message alone"
ALONE = "None stands for the default, so that the enumerations are loaded when they are used"

EXCEPTIONS = {
    "DType": THEIR_OWN,
    "data.Dataset": THEIR_OWN,
    "dtypes.DType": THEIR_OWN,
    "TensorShape: dims": SCALAR,
    "Variable: synchronization": ALONE,
    "Variable: aggregation": ALONE,
    "experimental.dtensor.Mesh": "made by create_mesh, of one device",
    "train.TrackableView.children: save_type": "a text, which TensorFlow's enumeration is too",
    "types.experimental.Callable.__call__": "functions are registered as such",
    "data.Dataset.range: **kwargs": NAMED,
    "meshgrid: **kwargs": NAMED,
    "print: **kwargs": NAMED,
    "keras.optimizers.Optimizer: *args": NAMED,
    "keras.optimizers.Optimizer: learning_rate": NAMED,
    "keras.optimizers.Adadelta.update_step: grad": BASE,
    "keras.optimizers.Adadelta.update_step: gradient": BASE,
    **{f"{name}: var_list": BASE for name in BUILDS},
    **{f"{name}: variables": BASE for name in BUILDS},
    **{f"{name}: op": ALSO for name in NAMES if name.startswith("errors.")},
    **{f"{name}: message": ALSO for name in NAMES if name.startswith("errors.")},
    "errors.OpError: error_code": ALSO,
    "keras.optimizers.LossScaleOptimizer: **kwargs": UNKNOWN,
}


def differences(theirs, function):
    """{parameter: how `function` does not take it as TensorFlow does}, of the text `theirs`."""
    own, found = parameters(function), {}
    places = [name for name, p in own.items() if p.kind is p.POSITIONAL_OR_KEYWORD]
    words = re.findall(r"(?:'[^']*'|\([^)]*\)|[^,('])+", theirs)
    names = [word.partition("=")[0].strip() for word in words]
    starred = [name.startswith("*") for name in names]
    positional = starred.index(True) if True in starred else len(names)
    for i, (name, word) in enumerate(zip(names, words, strict=True)):
        default = word.partition("=")[2]
        if name.startswith("*"):
            kind = {1: inspect.Parameter.VAR_POSITIONAL, 2: inspect.Parameter.VAR_KEYWORD}
            if name != "*" and all(p.kind is not kind[name.count("*")] for p in own.values()):
                found[name] = "not taken"
        elif name not in own or own[name].kind is inspect.Parameter.POSITIONAL_ONLY:
            found[name] = "not taken"
        elif i < positional and places[i : i + 1] != [name] and name not in BY_KEYWORD:
            found[name] = f"not at place {i}"
        elif name != "name" and default != signatures.ANYTHING and default != text(own[name]):
            found[name] = f"default {text(own[name])!r}, not {default!r}"
    needed = [p.name for p in own.values() if p.default is p.empty and p.kind <= p.KEYWORD_ONLY]
    variadic = inspect.Parameter.VAR_POSITIONAL
    needed = [name for name in needed if own[name].kind is not variadic and name not in names]
    return found | dict.fromkeys(needed, "needed here only")


def parameters(function):
    """{name: parameter}; those of `**options: Unpack[Options]` one by one."""
    found = dict(inspect.signature(function).parameters)
    options = found.get("options")
    if options is not None and options.kind is options.VAR_KEYWORD:
        names = inspect.signature(gradtape.optimizers.Optimizer.__init__).parameters
        names = {name: names[name] for name in BY_KEYWORD if name not in found}
        found |= {n: p.replace(kind=p.KEYWORD_ONLY) for n, p in names.items()}
    return found


def text(parameter):
    empty = parameter.default is parameter.empty
    return "" if empty else signatures.default_text(parameter.default)


def test_what_is_compared():
    assert len(NAMES) > 990
    assert {"GradientTape.jacobian", "Variable.assign", "data.Dataset.map", "matmul"} < set(NAMES)


@pytest.mark.parametrize("home", sorted({name.rpartition(".")[0] for name in NAMES}))
def test_the_parameters_are_those_of_tensorflow(home):
    found = {}
    for name in [name for name in NAMES if name.rpartition(".")[0] == home]:
        if name not in EXCEPTIONS:
            wrong = differences(RECORDED[name], ours(name))
            found |= {f"{name}: {p}": how for p, how in wrong.items()}
    assert {key: how for key, how in found.items() if key not in EXCEPTIONS} == {}


def test_each_exception_is_one():
    for key in EXCEPTIONS:
        name, _, parameter = key.partition(": ")
        if name in NAMES:
            found = differences(RECORDED[name], ours(name))
            assert found and (not parameter or parameter in found), key


@pytest.mark.parametrize(
    "theirs, function, wrong",
    [
        ("x, axis=None, name=None", lambda x, axis=None, name="f": 0, {}),
        ("x, axis=None", lambda x, axis=None, more=1: 0, {}),
        ("x", lambda y: 0, {"x": "not taken", "y": "needed here only"}),
        ("a, b", lambda b, a: 0, {"a": "not at place 0", "b": "not at place 1"}),
        ("x, shape=(1 2), n=3", lambda x, shape=(1, 2), n=4: 0, {"n": "default '4', not '3'"}),
        ("x, *, n=3", lambda x, *, n=3: 0, {}),
        ("x, n", lambda x, *, n: 0, {"n": "not at place 1"}),
        ("f, *xs, **more", lambda f, *xs: 0, {"**more": "not taken"}),
        ("f, *xs, **more", lambda f, **more: 0, {"*xs": "not taken"}),
    ],
)
def test_the_test_finds_a_difference(theirs, function, wrong):
    assert differences(theirs, function) == wrong


# What is taken and does nothing must not be able to change a result.

SPEED = "a hint about speed or memory"
GRAPHS = "of TensorFlow's graphs and sessions, without meaning where it is accepted"
DEVICES = "of several devices or replicas"
ALWAYS = "what it asks for is always so"
MESSAGE = "shown in TensorFlow's messages only"
UNUSED = "without effect in TensorFlow too"
ABSTRACT = "of a method that subclasses write"
FORMAT = "of TensorFlow's own format of saved models"
EXACT = "the result is exact whatever is allowed"
IDLE = {
    "autograph.experimental.set_loop_options": "read by the conversion of the loop",
    "autograph.to_code: recursive experimental_optional_features": ALWAYS,
    "autograph.to_graph: recursive experimental_optional_features": ALWAYS,
    "compat.forward_compatible: year month day": ALWAYS,
    "experimental.DynamicRaggedShape: validate static_inner_shape": SPEED,
    "experimental.RowPartition: nrows": "known by `row_splits`; the constructor is private",
    "experimental.dtensor.create_distributed_mesh: local_devices device_type use_xla_spmd": DEVICES,
    "experimental.dtensor.create_mesh: devices device_type use_xla_spmd": DEVICES,
    "saved_model.LoadOptions: allow_partial_checkpoint experimental_io_device "
    "experimental_skip_checkpoint experimental_variable_policy": FORMAT,
    "saved_model.SaveOptions: namespace_whitelist save_debug_info experimental_debug_stripper "
    "experimental_io_device experimental_variable_policy experimental_custom_gradients "
    "experimental_image_format experimental_skip_saver experimental_sharding_callback "
    "extra_tags": FORMAT,
    "saved_model.load: tags": FORMAT,
    "gradients: gate_gradients aggregation_method": SPEED,
    "hessians: gate_gradients aggregation_method": SPEED,
    "get_static_value: partial": "a tensor is known as a whole or not at all",
    "function: experimental_implements experimental_autograph_options experimental_attributes "
    "experimental_follow_type_hints": "a hint to TensorFlow's own compiler",
    "gather: validate_indices": UNUSED,
    "split: num": "needed by TensorFlow only where the sizes are not known",
    "strided_slice: var": GRAPHS,
    "errors.OpError: args": UNUSED,
    "tuple: control_inputs": ALWAYS,
    "group: inputs": ALWAYS,
    "control_dependencies: control_inputs": ALWAYS,
    "debugging.assert_shapes: data summarize": MESSAGE,
    "numpy_function: stateful": SPEED,
    "linalg.eigh_tridiagonal: tol": EXACT,
    "linalg.lu_matrix_inverse: validate_args": ALWAYS,
    "linalg.lu_reconstruct: validate_args": ALWAYS,
    "linalg.lu_solve: validate_args": ALWAYS,
    "linalg.matrix_rank: validate_args": ALWAYS,
    "linalg.pinv: validate_args": ALWAYS,
    "linalg.tridiagonal_solve: partial_pivoting": EXACT,
    "linalg.LinearOperator: graph_parents": GRAPHS,
    "linalg.LinearOperatorIdentity: assert_proper_shapes": ALWAYS,
    "linalg.LinearOperatorScaledIdentity: assert_proper_shapes": ALWAYS,
    "linalg.LinearOperatorZeros: assert_proper_shapes": ALWAYS,
    "matmul: a_is_sparse b_is_sparse grad_a grad_b": SPEED,
    "linalg.matvec: a_is_sparse b_is_sparse": SPEED,
    "approx_top_k: recall_target reduction_input_size_override aggregate_to_topk": EXACT,
    "math.approx_max_k: recall_target reduction_input_size_override aggregate_to_topk": EXACT,
    "math.approx_min_k: recall_target reduction_input_size_override aggregate_to_topk": EXACT,
    "argsort: stable": ALWAYS,
    "math.top_k: sorted": ALWAYS,
    "nn.ctc_loss: unique": SPEED,
    "nn.embedding_lookup_sparse: allow_fast_lookup": SPEED,
    "nn.safe_embedding_lookup_sparse: allow_fast_lookup": SPEED,
    "nn.moments: shift": UNUSED,
    "random.all_candidate_sampler: unique seed": "all candidates are drawn, whatever these are",
    "nn.compute_accidental_hits: seed": UNUSED,
    "constant_initializer: support_partition": ALWAYS,
    "case: strict": "a list of one result stays a list, as in TensorFlow's compiled functions",
    "foldl: parallel_iterations swap_memory": SPEED,
    "foldr: parallel_iterations swap_memory": SPEED,
    "map_fn: parallel_iterations swap_memory infer_shape": SPEED,
    "scan: parallel_iterations swap_memory infer_shape": SPEED,
    "while_loop: parallel_iterations swap_memory": SPEED,
    "TensorArray: tensor_array_name flow colocate_with_first_write_call": GRAPHS,
    "TensorArray.grad: source flow": "always an error, as in eager TensorFlow",
    "Variable: validate_shape caching_device import_scope "
    "experimental_enable_variable_lifting": DEVICES,
    "Variable.assign: use_locking read_value": "the variable is returned in any case",
    "Variable.assign_add: use_locking read_value": "the variable is returned in any case",
    "Variable.assign_sub: use_locking read_value": "the variable is returned in any case",
    **{
        f"Variable.scatter_{how}: use_locking": ALWAYS
        for how in ("add", "div", "max", "min", "mul", "sub", "update")
    },
    **{
        f"train.{name}: options": "says through which device files are written"
        for name in ("Checkpoint.read", "Checkpoint.save", "Checkpoint.write")
    },
    "train.CheckpointManager.save: options": "says through which device files are written",
    "data.Dataset.batch: num_parallel_calls deterministic": SPEED,
    "data.FixedLengthRecordDataset: buffer_size": SPEED,
    "data.TFRecordDataset: buffer_size": SPEED,
    "data.TextLineDataset: buffer_size": SPEED,
    "io.decode_jpeg: fancy_upscaling dct_method": "it is decoded as well as possible",
    "io.parse_example: example_names": MESSAGE,
    "io.parse_sequence_example: example_names": MESSAGE,
    "io.parse_single_example: example_names": MESSAGE,
    "io.parse_single_sequence_example: example_name": MESSAGE,
    "lookup.StaticHashTable: experimental_is_anonymous": GRAPHS,
    "lookup.StaticVocabularyTable: experimental_is_anonymous": GRAPHS,
    "lookup.experimental.DenseHashTable: initial_num_buckets experimental_is_anonymous": SPEED,
    "lookup.experimental.MutableHashTable: experimental_is_anonymous": GRAPHS,
    "data.Dataset.interleave: num_parallel_calls deterministic": SPEED,
    "data.Dataset.map: num_parallel_calls deterministic synchronous use_unbounded_threadpool": (
        SPEED
    ),
    "keras.optimizers.schedules.LearningRateSchedule.__call__: step": ABSTRACT,
    "keras.optimizers.Optimizer.add_variable: aggregation layout": DEVICES,
    "summary.SummaryWriter.as_default: step": "of the writer that writes nothing",
    "summary.SummaryWriter.set_as_default: step": "of the writer that writes nothing",
    "summary.create_file_writer: experimental_trackable": GRAPHS,
    "summary.experimental.summary_scope: values": UNUSED,
}


def idle_parameters(name):
    """The parameters that the function gradtape has under `name` never looks at."""
    value = inspect.unwrap(signatures.resolve(gradtape, name))
    if isinstance(value, type):
        value = value.__init__ if "__init__" in vars(value) else value.__new__
    if not hasattr(value, "__code__"):  # `function` is an object
        value = type(value).__call__
    code = getattr(getattr(value, "__func__", value), "__code__", None)
    if code is None:  # of a built-in class
        return []
    variadic = [code.co_flags & flag for flag in (inspect.CO_VARARGS, inspect.CO_VARKEYWORDS)]
    count = code.co_argcount + code.co_kwonlyargcount + sum(map(bool, variadic))
    used = names_read(code)
    return [n for n in code.co_varnames[:count] if n not in {*used, "name", "self", "cls"}]


def names_read(code):
    found = set()
    for instruction in dis.get_instructions(code):
        value = instruction.argval
        if instruction.opname.startswith("LOAD_"):
            found |= set(value) if isinstance(value, tuple) else {value}
        elif instruction.opname == "STORE_FAST_LOAD_FAST":  # since Python 3.13
            found.add(value[1])
    inner = [constant for constant in code.co_consts if inspect.iscode(constant)]
    return found.union(*map(names_read, inner), *[each.co_freevars for each in inner])


def test_no_parameter_is_idle_without_a_reason():
    listed = {key.partition(": ")[0]: key.partition(": ")[2].split() for key in IDLE}
    functions = {id(signatures.resolve(gradtape, name)): name for name in listed}
    for name in NAMES:
        same = functions.get(id(signatures.resolve(gradtape, name)), name)  # under another name
        idle = idle_parameters(name)
        assert not idle or same in listed, (name, idle)
        if listed.get(name):
            assert idle == listed[name], name


@pytest.mark.parametrize(
    "call, message",
    [
        (lambda tf: tf.zeros([2], layout="mesh"), "zeros: `layout` spreads"),
        (lambda tf: tf.ones_like([2.0], layout="mesh"), "ones_like: `layout` spreads"),
        (lambda tf: tf.fill([2], 1.0, layout="mesh"), "fill: `layout` spreads"),
        (lambda tf: tf.Variable(1.0, variable_def="proto"), "Variable: `variable_def` is a"),
        (lambda tf: tf.Variable(1.0).eval(session="s"), "there are no sessions"),
        (lambda tf: tf.TensorArray(tf.float32, 1, handle="h"), "TensorArray: `handle` names"),
        (
            lambda tf: tf.summary.create_file_writer("nowhere", experimental_mesh="mesh"),
            "no meshes of devices",
        ),
    ],
)
def test_what_would_change_the_result_is_refused(call, message):
    with pytest.raises(NotImplementedError, match=message):
        call(gradtape)


@pytest.mark.parametrize("policy", ["IGNORE", "error"])
def test_bad_indices_are_an_error(policy):
    tf = gradtape
    for call in (
        lambda: tf.gather_nd([1, 2], [[0]], bad_indices_policy=policy),
        lambda: tf.scatter_nd([[0]], [1], [3], bad_indices_policy=policy),
        lambda: tf.tensor_scatter_nd_add([1, 2], [[0]], [1], bad_indices_policy=policy),
        lambda: tf.tensor_scatter_nd_max([1, 2], [[0]], [1], bad_indices_policy=policy),
    ):
        with pytest.raises(tf.errors.InvalidArgumentError, match="`bad_indices_policy` must be"):
            call()
    assert tf.gather_nd([1, 2], [[1]], bad_indices_policy="ERROR").numpy().tolist() == [2]


def test_of_two_conversions_the_lower_priority_counts():
    class Celsius:
        degrees = 20.0

    register = gradtape.register_tensor_conversion_function
    register(Celsius, lambda value, **_: value.degrees, priority=50)
    register(Celsius, lambda value, **_: 0.0, priority=60)
    assert float(gradtape.convert_to_tensor(Celsius())) == 20.0
    register(Celsius, lambda value, **_: 1.0, priority=10)
    assert float(gradtape.convert_to_tensor(Celsius())) == 1.0
