"""`python -m attention_explorer`: the same as the command `attention-explorer`."""

import sys

from .command import main

if __name__ == "__main__":
    sys.exit(main())
