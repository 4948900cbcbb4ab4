from gradtape.utils import *
