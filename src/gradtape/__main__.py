"""`python -m gradtape` is the command `gradtape`."""

import sys

from gradtape._src.command.cli import main

if __name__ == "__main__":
    sys.exit(main())
