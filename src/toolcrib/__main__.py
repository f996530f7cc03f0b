"""`python -m toolcrib`: the command line."""

import sys

from toolcrib.faces.cli import main

sys.exit(main())
