from .._src.compat.lookup.initializers import (
    KeyValueTensorInitializer as KeyValueTensorInitializer,
    TextFileIndex as TextFileIndex,
    TextFileInitializer as TextFileInitializer,
)
from .._src.compat.lookup.tables import (
    StaticHashTable as StaticHashTable,
    StaticVocabularyTable as StaticVocabularyTable,
)
from . import experimental as experimental
