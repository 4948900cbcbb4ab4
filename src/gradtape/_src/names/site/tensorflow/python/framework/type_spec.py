"""Part of what TensorFlow has in `tensorflow.python.framework.type_spec`."""

from gradtape._src.tape.type_specs import (
    TypeSpec,
    type_spec_from_value,
)
