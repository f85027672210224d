"""Start the kernel, with requests on descriptor 3 and replies on descriptor 4.

All that the kernel itself needs is imported while sys.path begins with its own
directory. The working directory takes that place afterwards, so a json.py in
the workspace is the user's business and not the kernel's.
"""

import sys

here = __file__.rpartition("/")[0]
if sys.path[0] != here:  # PYTHONSAFEPATH leaves it out
    sys.path.insert(0, here)

from sandgate_kernel.kernel import Kernel

kernel = Kernel()
sys.path[0] = ""
sys.argv = [""]
kernel.serve()
