"""``python -m check answer.proof A.npz b.npy``"""

import sys

from .command import main

if __name__ == "__main__":
    sys.exit(main())
