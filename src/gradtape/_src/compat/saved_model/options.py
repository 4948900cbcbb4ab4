"""Options of saving and loading, and names that TensorFlow has for what is saved."""

from __future__ import annotations

from typing import Any

DEFAULT_SERVING_SIGNATURE_DEF_KEY = "serving_default"
SERVING = "serve"
TRAINING = "train"


class SaveOptions:
    """How a model is saved: `function_aliases` are functions by further names."""

    def __init__(
        self,
        namespace_whitelist: Any = None,
        save_debug_info: bool = False,
        function_aliases: Any = None,
        experimental_debug_stripper: bool = False,
        experimental_io_device: Any = None,
        experimental_variable_policy: Any = None,
        experimental_custom_gradients: bool = True,
        experimental_image_format: bool = False,
        experimental_skip_saver: bool = False,
        experimental_sharding_callback: Any = None,
        extra_tags: Any = None,
    ) -> None:
        self.function_aliases = dict(function_aliases or {})


class LoadOptions:
    """How a model is loaded: there is one way."""

    def __init__(
        self,
        allow_partial_checkpoint: bool = False,
        experimental_io_device: Any = None,
        experimental_skip_checkpoint: bool = False,
        experimental_variable_policy: Any = None,
        experimental_load_function_aliases: bool = False,
    ) -> None:
        self.experimental_load_function_aliases = experimental_load_function_aliases
