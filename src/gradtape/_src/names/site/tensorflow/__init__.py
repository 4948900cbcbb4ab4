"""gradtape under TensorFlow's name: what `import tensorflow` gives under `gradtape run`.

Child processes find this file by PYTHONPATH. A Python that has no gradtape gets the TensorFlow it
has, as if this folder were not there.
"""

try:
    from gradtape._src.names.alias import face as _face
    from gradtape._src.version import VERSION as _VERSION
except ModuleNotFoundError as error:
    if error.name != "gradtape":
        raise
    import os
    import sys

    site = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    sys.path[:] = [folder for folder in sys.path if os.path.abspath(folder) != site]
    del sys.modules[__name__]
    try:
        __import__("tensorflow")  # which takes this module's place
    except ModuleNotFoundError as absent:
        if absent.name != __name__:
            raise
        raise ModuleNotFoundError(
            f"tensorflow: {sys.executable} has neither gradtape nor TensorFlow. It was started by "
            "a program that runs on gradtape: install gradtape for it too.",
            name=__name__,
        ) from None
else:
    __version__ = _VERSION
    __getattr__, __dir__, __all__ = _face(globals())
    __import__("tensorflow.compat")
