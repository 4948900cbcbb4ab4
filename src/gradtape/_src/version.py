"""The version of gradtape, and that of the TensorFlow whose names and behaviour it has."""

__version__ = "0.1.0"

VERSION = "2.21.0"
GIT_VERSION = f"gradtape {__version__}"
COMPILER_VERSION = "none: gradtape is Python"
GRAPH_DEF_VERSION = 2474
GRAPH_DEF_VERSION_MIN_CONSUMER = 0
GRAPH_DEF_VERSION_MIN_PRODUCER = 0
