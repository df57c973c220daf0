# SPDX-License-Identifier: MIT OR GPL-2.0
"""Unpacks x86 kernels before a boot: an emulated processor takes longer for that than for the rest of a boot.

The fields of the image are those of the kernel's Documentation/arch/x86/boot.rst.
"""

import hashlib
import lzma
import pathlib
import struct
import tempfile
import zlib

FORMATS = {b"\xfd7zXZ\0": lzma.LZMADecompressor, b"\x1f\x8b": lambda: zlib.decompressobj(wbits=31)}
# Xen's note PHYS32_ENTRY, by which QEMU boots an ELF kernel, with an address of 4 or 8 bytes.
ENTRY_NOTES = tuple(struct.pack("<III4s", 4, size, 18, b"Xen\0") for size in (4, 8))


def unpacked(image, folder):
    """Returns the ELF file in a kernel's image, which is kept in `folder`. Returns the image itself if the file
    cannot be unpacked, booted or kept."""
    packed = image.read_bytes()
    kept = folder / f"vmlinux-{hashlib.sha256(packed).hexdigest()[:16]}"
    if kept.is_file():
        return kept
    elf = payload(packed)
    if elf is None or not any(note in elf for note in ENTRY_NOTES):
        return image
    try:
        folder.mkdir(parents=True, exist_ok=True)
        # Several VMs may start at once, so the file is renamed when it is complete.
        with tempfile.TemporaryDirectory(dir=folder) as work:
            (pathlib.Path(work) / kept.name).write_bytes(elf)
            (pathlib.Path(work) / kept.name).replace(kept)
    except OSError:
        return image
    return kept


def payload(packed):
    """Returns the file in a bzImage, unpacked, or None."""
    if len(packed) < 0x250 or packed[0x202:0x206] != b"HdrS":
        return None
    version, = struct.unpack_from("<H", packed, 0x206)
    if version < 0x208:
        return None
    offset, length = struct.unpack_from("<II", packed, 0x248)
    start = (packed[0x1f1] + 1) * 512 + offset
    data = packed[start:start + length]
    for magic, decompressor in FORMATS.items():
        if data.startswith(magic):
            stream = decompressor()
            try:
                elf = stream.decompress(data)
            except (lzma.LZMAError, zlib.error):
                return None
            return elf if stream.eof else None
    return None
