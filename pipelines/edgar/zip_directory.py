"""Checks the directory of a zip file before `zipfile` reads it as a whole.

Belongs here: the end and the size of the directory. Does not: the members (zipped_tables, package), archives with a
million of them (archive).
"""

import io
import struct
from typing import BinaryIO

from pipelines.edgar.errors import DocumentError

END = struct.Struct("<4s4H2LH")  # of the directory: disks, numbers of members, size, offset, length of the comment
LOCATOR_64 = struct.Struct("<4sLQL")
END_MARK, LOCATOR_MARK = b"PK\5\6", b"PK\6\7"
LONGEST_COMMENT = (1 << 16) - 1
LARGEST_OF_PACKAGE = 1 << 18
"""Most bytes of the directory of a filing's package: enough for some thousand files with names of usual length."""


def check_directory(file: BinaryIO, largest: int, place: str) -> None:
    """Refuse a directory that would fill the memory: `zipfile` makes an object of half a kilobyte for each member.

    Args:
        file: the zip file.
        largest: the most bytes that the directory may have.
        place: the name of the file in errors.

    Raises:
        DocumentError: the directory is larger, or its end is missing.
    """
    size = file.seek(0, io.SEEK_END)
    file.seek(0)
    begin = file.read(40)
    file.seek(max(0, size - END.size - LONGEST_COMMENT - LOCATOR_64.size))
    tail = file.read()
    end = tail.rfind(END_MARK)
    if end < 0 or end + END.size > len(tail):
        raise DocumentError(f"is not a whole zip file: its end is missing, and it begins with {begin!r}", place)
    *_, directory, _, _ = END.unpack_from(tail, end)
    if tail[:end][-LOCATOR_64.size :].startswith(LOCATOR_MARK):
        raise DocumentError("has 64-bit sizes, which only files of more than 4 GB need", place)
    if directory > largest:
        raise DocumentError(f"has a directory of {directory:,} bytes, expected at most {largest:,}", place)
