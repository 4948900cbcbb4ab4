from keras._tf_keras.keras import *

from . import optimizers as optimizers, utils as utils
