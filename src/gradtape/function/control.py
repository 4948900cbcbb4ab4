from ..tape.control import EagerForms

COMPILED = EagerForms()
