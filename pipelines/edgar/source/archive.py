"""Bulk archives of EDGAR: zip files with one JSON document for each company.

Belongs here: the directory of an archive, and reading single members safely. Does not: opening a source (sources),
downloading archives (download_plan).

The directory is read here instead of with `zipfile`, because `submissions.zip` has nearly a million members: `zipfile`
takes 6.5 seconds and 1.2 GB for them, and this module 0.4 seconds and a hundred bytes for each. Members are found by
their numbers: documents `CIK##########.json` and pages of older filings `CIK##########-submissions-###.json`.

Nothing is unpacked to the disk, so a member's name is no path. Each member is checked when it is read: its size, its
checksum, its name in both places. A member that fails a check is an error of its company; the others are read.

Source of the format: PKWARE's APPNOTE.TXT, sections 4.3 to 4.5.
"""

import os
import re
import struct
import zlib
from array import array
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from pipelines.edgar.answers import MAX_BYTES
from pipelines.edgar.errors import FetchError, SourceError
from pipelines.edgar.zip_directory import END, END_MARK, LOCATOR_64, LOCATOR_MARK, LONGEST_COMMENT

END_64 = struct.Struct("<4sQ2H2L4Q")
ENTRY = struct.Struct("<4s2x2x2H4x3L3H2x2x4xL")  # of the directory: flags, method, checksum, sizes, lengths, offset
LOCAL = struct.Struct("<4s22x2H")  # before a member: the lengths of its name and of its further fields
LENGTHS = struct.Struct("<3H")
LENGTHS_AT, NAME_AT = 28, 46
ENTRY_MARK, LOCAL_MARK, END_64_MARK = b"PK\1\2", b"PK\3\4", b"PK\6\6"
LARGEST_DIRECTORY = 1 << 29  # the directory of submissions.zip has less than a hundred million bytes
BEYOND_32, BEYOND_16 = (1 << 32) - 1, (1 << 16) - 1
ENCRYPTED, STORED, DEFLATED = 1, 0, 8
EXTRA_64 = 1

DOCUMENT, PAGE = "CIK##########.json", "CIK##########-submissions-###.json"
"""The forms of the names of members that this module can find; each # is a digit."""
DIGIT = re.compile(r"\d", re.ASCII)


@dataclass(frozen=True, slots=True)
class Member:
    """A member as the directory describes it."""

    name: str
    position: int  # of its entry in the directory
    flags: int
    method: int
    crc: int
    packed: int
    size: int
    offset: int


class Archive:
    """An opened archive; safe to read from several threads.

    Raises:
        SourceError: the file cannot be read, or its directory is damaged.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        try:
            self._file = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
        except (OSError, ValueError) as error:  # ValueError: a path that no file can have
            raise SourceError(f"{path} cannot be read: {error}") from error
        try:
            self._bytes = os.fstat(self._file).st_size
            self._directory = self._read_directory()
            self._entries = self._read_entries()
        except (struct.error, OSError, OverflowError, IndexError) as error:
            self.close()
            raise self._damaged(str(error)) from error
        except SourceError:
            self.close()
            raise

    def close(self) -> None:
        """Close the file."""
        if self._file >= 0:
            os.close(self._file)
            self._file = -1

    @property
    def ciks(self) -> list[str]:
        """The companies that have a member, in ten digits, sorted."""
        ciks, _ = self._entries[DOCUMENT]
        return [f"{cik:010}" for cik in np.unique(ciks).tolist()]

    def member(self, name: str) -> Member | None:
        """The member with this name, which has the form DOCUMENT or PAGE; None if the archive lacks it.

        Raises:
            FetchError: several members have this name, or its entry is damaged.
        """
        form = DIGIT.sub("#", name)
        if form not in self._entries:
            return None
        numbers, positions = self._entries[form]
        number = int("".join(DIGIT.findall(name)))
        first, after = np.searchsorted(numbers, [number, number + 1])
        if first == after:
            return None
        if after - first > 1:
            raise self._refused(name, f"has {after - first} members with its name")
        position = int(positions[first])
        try:
            _, flags, method, crc, packed, size, length, extra, _, offset = ENTRY.unpack_from(self._directory, position)
            fields_at = position + NAME_AT + length
            fields = self._directory[fields_at : fields_at + extra]
            size, packed, offset = _in_64_bits(fields, size, packed, offset)
        except struct.error as error:
            raise self._refused(name, "has an entry whose 64-bit sizes are missing") from error
        return Member(name, position, flags, method, crc, packed, size, offset)

    def read(self, member: Member) -> bytes:
        """The content of a member.

        Raises:
            FetchError: the member is too large or damaged, or its size or checksum differs from the directory.
        """
        if member.size > MAX_BYTES or member.packed > MAX_BYTES:
            size = max(member.size, member.packed)
            raise self._refused(member.name, f"has {size} bytes, which no document of EDGAR has; get the file again")
        if member.flags & ENCRYPTED or member.method not in (STORED, DEFLATED):
            reason = f"is encrypted or packed with method {member.method}, expected 8 (deflate) or 0"
            raise self._refused(member.name, reason)
        try:
            packed = self._packed(member)
            content = packed if member.method == STORED else _inflated(packed, member.size)
        except (OSError, OverflowError, zlib.error, struct.error) as error:  # OverflowError: offsets from 2^63 on
            raise self._refused(member.name, f"cannot be read: {error}") from error
        if content is None or len(content) != member.size:
            reason = f"has not the {member.size} bytes that the directory of the archive states"
            raise self._refused(member.name, reason)
        if zlib.crc32(content) != member.crc:
            raise self._refused(member.name, "does not match its checksum")
        return content

    def _packed(self, member: Member) -> bytes:
        mark, name_length, extra = LOCAL.unpack(os.pread(self._file, LOCAL.size, member.offset))
        name = os.pread(self._file, name_length, member.offset + LOCAL.size)
        if mark != LOCAL_MARK or name != member.name.encode():
            raise self._refused(member.name, f"is named {name[:80]!r} where it begins")
        packed = os.pread(self._file, member.packed, member.offset + LOCAL.size + name_length + extra)
        if len(packed) != member.packed:
            raise self._refused(member.name, "ends after the end of the archive")
        return packed

    def _read_directory(self) -> bytes:
        tail_at = max(0, self._bytes - END.size - LONGEST_COMMENT - LOCATOR_64.size)
        tail = os.pread(self._file, self._bytes - tail_at, tail_at)
        end = tail.rfind(END_MARK)
        if end < 0:
            raise self._damaged("its end is missing")
        *_, members, size, offset, _ = END.unpack_from(tail, end)
        locator = end - LOCATOR_64.size
        if locator >= 0 and tail[locator:end].startswith(LOCATOR_MARK):
            _, _, end_64, _ = LOCATOR_64.unpack_from(tail, locator)
            mark, *_, members, size, offset = END_64.unpack(os.pread(self._file, END_64.size, end_64))
            if mark != END_64_MARK:
                raise self._damaged("its 64-bit end is missing")
        elif BEYOND_16 in (members,) or BEYOND_32 in (size, offset):
            raise self._damaged("its 64-bit end is missing")
        if offset + size > self._bytes:
            raise self._damaged("its directory lies outside of the file")
        if size > LARGEST_DIRECTORY:
            raise self._damaged(f"its directory has {size} bytes, which none of EDGAR has")
        self._members = members
        return os.pread(self._file, size, offset)

    def _read_entries(self) -> dict[str, tuple[np.ndarray, np.ndarray]]:
        """For each form of names, the numbers in the names, sorted, and the positions of their entries in the
        directory."""
        directory, lengths = self._directory, LENGTHS.unpack_from
        found = {len(form): array("q") for form in (DOCUMENT, PAGE)}
        position, members, end = 0, 0, len(self._directory)
        while position < end:
            if not directory.startswith(ENTRY_MARK, position):
                raise self._damaged(f"the entry at byte {position} of its directory has no mark")
            name, extra, comment = lengths(directory, position + LENGTHS_AT)
            if name in found:
                found[name].append(position)
            position += NAME_AT + name + extra + comment
            members += 1
        if position != end or members != self._members:
            raise self._damaged(f"its directory has {members} entries, but should have {self._members}")
        return {form: _numbered(directory, np.array(found[len(form)]), form) for form in (DOCUMENT, PAGE)}

    def _damaged(self, reason: str) -> SourceError:
        return SourceError(f"{self.path} is not a whole zip file: {reason}; get it again")

    def _refused(self, name: str, reason: str) -> FetchError:
        return FetchError(f"{self.path}, {name}: {reason}")


def _numbered(directory: bytes, positions: np.ndarray, form: str) -> tuple[np.ndarray, np.ndarray]:
    """The numbers in the names that have this form, sorted, and the positions of their entries."""
    text = np.frombuffer(directory, dtype=np.uint8)
    has_form, numbers = np.ones(len(positions), dtype=bool), np.zeros(len(positions), dtype=np.int64)
    for at, wanted in enumerate(form, NAME_AT):
        byte = text[positions + at]
        if wanted == "#":
            digit = byte.astype(np.int64) - ord("0")
            has_form &= (digit >= 0) & (digit <= 9)
            numbers = numbers * 10 + digit
        else:
            has_form &= byte == ord(wanted)
    numbers, positions = numbers[has_form], positions[has_form]
    order = np.argsort(numbers, kind="stable")
    return numbers[order], positions[order]


def _inflated(packed: bytes, size: int) -> bytes | None:
    """The content; None if it does not have this size. At most `size` bytes and one more are inflated."""
    inflater = zlib.decompressobj(-zlib.MAX_WBITS)
    content = inflater.decompress(packed, size + 1)
    return content if inflater.eof and not inflater.unused_data else None


def _in_64_bits(fields: bytes, *sizes: int) -> list[int]:
    """Sizes and offset; where 32 bits are not enough, they are read from the extra fields of the entry."""
    if BEYOND_32 not in sizes:
        return list(sizes)
    while fields:
        kind, length = struct.unpack_from("<2H", fields)
        if kind == EXTRA_64:
            wide = iter(struct.unpack_from(f"<{sizes.count(BEYOND_32)}Q", fields[4 : 4 + length]))
            return [next(wide) if size == BEYOND_32 else size for size in sizes]
        fields = fields[4 + length :]
    raise struct.error
