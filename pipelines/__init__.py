"""Makes the data: from EDGAR documents to the tables of a published build. No other package writes tables."""

import os

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
# When NumPy is imported, OpenBLAS starts a thread for each core, which waits in a loop: a tenth of the CPU seconds of a
# synchronization on a busy machine. Nothing here uses linear algebra.

os.environ.setdefault(
    "_RJEM_MALLOC_CONF", "background_thread:false,dirty_decay_ms:10000,muzzy_decay_ms:10000,narenas:1"
)
# Polars' allocator (jemalloc) reuses the memory of one frame for the next, instead of returning it to the system after
# half a second: 4 % of the CPU seconds of a synchronization, with as much memory.
