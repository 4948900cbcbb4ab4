from gradtape.optimizers.schedules import *
