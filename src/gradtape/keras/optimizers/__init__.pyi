from gradtape.optimizers import *
