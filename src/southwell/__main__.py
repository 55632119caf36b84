"""``python -m southwell``."""

import sys

from .cli import main

sys.exit(main())
