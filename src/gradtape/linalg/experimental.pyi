from .._src.tape.conjugate_gradient import conjugate_gradient as conjugate_gradient
