from .._src.compat.saved_model.load import (
    contains_saved_model as contains_saved_model,
    load as load,
)
from .._src.compat.saved_model.options import (
    DEFAULT_SERVING_SIGNATURE_DEF_KEY as DEFAULT_SERVING_SIGNATURE_DEF_KEY,
    SERVING as SERVING,
    TRAINING as TRAINING,
    LoadOptions as LoadOptions,
    SaveOptions as SaveOptions,
)
from .._src.compat.saved_model.save import (
    save as save,
)
from . import (
    experimental as experimental,
)
