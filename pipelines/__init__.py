"""Makes the data: from EDGAR documents to the tables of a published build. No other package writes tables."""

import ctypes
import os
from contextlib import suppress

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
# When NumPy is imported, OpenBLAS starts a thread for each core, which waits in a loop: a tenth of the CPU seconds of a
# synchronization on a busy machine. Nothing here uses linear algebra.

os.environ.setdefault(
    "_RJEM_MALLOC_CONF", "background_thread:false,dirty_decay_ms:10000,muzzy_decay_ms:10000,narenas:1"
)
# Polars' allocator (jemalloc) reuses the memory of one frame for the next, instead of returning it to the system after
# half a second: 4 % of the CPU seconds of a synchronization, with as much memory.

os.environ.setdefault("ARROW_DEFAULT_MEMORY_POOL", "system")
# pyarrow takes memory from the C library, which keeps it for reuse as set below, instead of from a second allocator
# (mimalloc): 20 MB less at the end of a synchronization.

with suppress(AttributeError, OSError):  # another C library than glibc
    for option, size in ((-3, 32 << 20), (-2, 16 << 20), (-1, 256 << 20)):
        ctypes.CDLL(None).mallopt(option, size)
# M_MMAP_THRESHOLD, M_TOP_PAD, M_TRIM_THRESHOLD (mallopt(3)): NumPy reuses the memory of one array for the next too,
# instead of returning it to the system: 2 % of the CPU seconds of a synchronization.
