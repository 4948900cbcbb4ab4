"""LinearOperator: matrices that are multiplied and solved by their structure.

All are loaded at once, since methods of one return others.
"""

from . import combined as combined, structured as structured
