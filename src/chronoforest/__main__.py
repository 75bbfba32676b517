"""`python -m chronoforest` is the command `chronoforest`."""

import sys

from chronoforest.cli import main

if __name__ == "__main__":
    sys.exit(main())
