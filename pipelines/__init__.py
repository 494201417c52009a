"""Makes the data: from EDGAR documents to the tables of a published build. No other package writes tables."""

import os

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
# When NumPy is imported, OpenBLAS starts a thread for each core, which waits in a loop: a tenth of the CPU seconds of a
# synchronization. Nothing here uses linear algebra.
