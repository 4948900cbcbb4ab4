from gradtape import *
