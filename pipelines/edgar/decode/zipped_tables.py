"""Tables of tab-separated text in a zip file: whole rows, some megabytes at a time.

Belongs here: inflating within limits, headings, rows and their text. Does not: the meaning of columns (data_sets).

The text is UTF-8 without quoting: a quote is data. Nothing is unpacked to the disk, so a member's name is no path. The
first flaw of a zip file is a DocumentError that names the table and the line.

Polars parses the inflated blocks: 1.8 CPU seconds for a table of 550 MB. The streaming reader of pyarrow takes 2.6
seconds and three times the memory.
"""

import io
import zipfile
import zlib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from itertools import chain
from pathlib import Path
from struct import error as StructError
from typing import BinaryIO

import polars as pl

from pipelines.edgar.errors import DocumentError
from pipelines.edgar.zip_directory import check_directory

BLOCK = 4 << 20
"""Bytes that are inflated at once. No line may fill a block; the longest real one has some thousand bytes."""

LARGEST_TABLE = 2 << 30
"""Most bytes of an inflated table. The largest real one has 600 million."""

LARGEST_RATIO = 100
"""Most inflated bytes for one packed byte. Real tables have at most 12; a zip bomb has up to 1,032."""

MOST_ROWS = 20_000_000
"""Most rows of a table. The largest real one has 5 million."""

LARGEST_DIRECTORY = 1 << 16
"""Most bytes of the directory of a zip file, which is read as a whole; with five members it has some hundred."""

UNREADABLE = (zipfile.BadZipFile, zlib.error, StructError, EOFError, OSError, OverflowError, RuntimeError, ValueError)
"""The exceptions that `zipfile` raises for damaged or encrypted files."""


class ZippedTables:
    """An opened zip file whose members are tables.

    Args:
        file: the zip file.
        place: its name in errors, such as `data set 2010q1`.

    Raises:
        DocumentError: the file is not a whole zip file, or has several members of one name.
    """

    def __init__(self, file: BinaryIO, place: str) -> None:
        self.place = place
        check_directory(file, LARGEST_DIRECTORY, place)
        try:
            self._zip = zipfile.ZipFile(file)
        except UNREADABLE as error:
            raise DocumentError(f"is not a whole zip file: {error}", place) from error
        names = self._zip.namelist()
        if repeated := {name for name in names if names.count(name) > 1}:
            raise DocumentError(f"has several members named {min(repeated)!r}", place)

    def rows(self, table: str, columns: Sequence[str], optional: Sequence[str] = ()) -> Iterator[pl.DataFrame]:
        """Read the given columns of a table.

        Args:
            table: the name of the member.
            columns: the headings of the wanted columns.
            optional: headings of columns that are null if the table lacks them.

        Yields:
            consecutive rows with all columns as text; null where a field is empty.

        Raises:
            DocumentError: the member or a column is missing, the text is malformed, or a limit of this module exceeded.
        """
        place = f"{self.place}, {table}"
        blocks = self._blocks(table, place)
        header, _, first = next(blocks, b"").partition(b"\n")
        headings = header.decode("utf-8", "replace").split("\t")
        for column in columns:
            if column not in headings:
                raise DocumentError(f"lacks the column {column!r}", place)
        if len(set(headings)) < len(headings):
            raise DocumentError("has several columns of one name", place)
        present = [column for column in (*columns, *optional) if column in headings]
        absent = [pl.lit(None, pl.String).alias(column) for column in optional if column not in headings]
        line = 2
        for block in filter(None, chain([first], blocks)):
            yield _parsed(block, headings, present, line, place).with_columns(absent)
            if (line := line + _lines(block)) > MOST_ROWS:
                raise DocumentError(f"has more than {MOST_ROWS:,} rows", place)

    def _blocks(self, table: str, place: str) -> Iterator[bytes]:
        """The text of a table, in blocks of whole lines. The size and the checksum are compared at the end."""
        try:
            member = self._zip.getinfo(table)
        except KeyError as error:
            raise DocumentError("is missing in the zip file", place) from error
        if member.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
            raise DocumentError(f"is packed with method {member.compress_type}, expected 8 (deflate) or 0", place)
        if member.file_size > min(LARGEST_TABLE, LARGEST_RATIO * member.compress_size):
            sizes = f"{member.file_size:,} bytes packed in {member.compress_size:,}"
            raise DocumentError(f"has {sizes}, expected at most {LARGEST_TABLE:,} and {LARGEST_RATIO} for one", place)
        size, begun = 0, b""
        try:
            with self._zip.open(member) as text:
                while read := text.read(BLOCK):
                    size += len(read)
                    if b"\0" in read:
                        raise DocumentError("has a NUL byte, which no text has", place)
                    if end := read.rfind(b"\n") + 1:
                        yield begun + read[:end]
                        begun = b""
                    elif len(read) == BLOCK:
                        raise DocumentError(f"has a line of more than {BLOCK:,} bytes", place)
                    begun += read[end:]
        except UNREADABLE as error:
            raise DocumentError(f"cannot be read: {error}", place) from error
        if size != member.file_size:
            raise DocumentError(f"has {size:,} bytes, but the directory states {member.file_size:,}", place)
        if begun:
            yield begun


@contextmanager
def opened(source: Path | bytes, place: str) -> Iterator[ZippedTables]:
    """Open a zip file of tables, by its path or its bytes.

    Raises:
        DocumentError: the file cannot be read, or is malformed.
    """
    try:
        file = io.BytesIO(source) if isinstance(source, bytes) else source.open("rb")
    except OSError as error:
        raise DocumentError(f"cannot be read: {error}", place) from error
    with file:
        yield ZippedTables(file, place)


def _parsed(block: bytes, headings: Sequence[str], columns: Sequence[str], first: int, place: str) -> pl.DataFrame:
    """The given columns of a block of whole lines; `first` is the number of its first line."""
    reason = ""
    if block.count(b"\t") == _lines(block) * (len(headings) - 1):  # Polars fills up rows that lack fields
        at, schema = [headings.index(column) for column in columns], dict.fromkeys(headings, pl.String())
        try:
            rows = pl.read_csv(block, separator="\t", quote_char=None, has_header=False, schema=schema, columns=at)
            return rows.select(columns)
        except pl.exceptions.PolarsError as error:
            reason = str(error).partition("\n")[0]
    number, flaw = _flaw(block, len(headings)) or (0, reason)
    raise DocumentError(flaw, f"{place}, line {first + number}")


def _flaw(block: bytes, expected: int) -> tuple[int, str] | None:
    """The number of the first malformed line, and its flaw."""
    for number, line in enumerate(block.removesuffix(b"\n").split(b"\n")):
        if (fields := line.count(b"\t") + 1) != expected:
            return number, f"has {fields} fields, expected {expected}: {line[:80]!r}"
        try:
            line.decode()
        except UnicodeDecodeError as error:
            return number, f"is not UTF-8: {error}"
    return None


def _lines(block: bytes) -> int:
    return block.count(b"\n") + (not block.endswith(b"\n"))
