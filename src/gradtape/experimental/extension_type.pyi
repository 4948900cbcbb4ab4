from .._src.compat.extension_type import as_dict as as_dict
