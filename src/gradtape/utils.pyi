from ._src.train.progress import Progbar as Progbar
