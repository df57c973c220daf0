# SPDX-License-Identifier: MIT OR GPL-2.0
"""A kernel's image is unpacked if that is possible, and is booted unchanged if it is not."""

import lzma
import struct
import zlib

import pytest
from nvdvm.unpack import ENTRY_NOTES, unpacked

ELF = b"\x7fELF" + bytes(1000) + ENTRY_NOTES[0] + bytes(1000)
SETUP_SECTORS = 3
# The unpacked size follows the stream.
XZ = lzma.compress(ELF, check=lzma.CHECK_CRC32) + struct.pack("<I", len(ELF))


def gzip(data):
    packer = zlib.compressobj(wbits=31)
    return packer.compress(data) + packer.flush()


def image(payload, version=0x20f, magic=b"HdrS"):
    head = bytearray((SETUP_SECTORS + 1) * 512)
    head[0x1f1] = SETUP_SECTORS
    head[0x202:0x206] = magic
    struct.pack_into("<H", head, 0x206, version)
    struct.pack_into("<II", head, 0x248, 0x40, len(payload))
    return bytes(head) + bytes(0x40) + payload + b"behind it"


@pytest.fixture
def written(tmp_path):
    """written(BYTES) returns the path of an image."""
    def write(data):
        path = tmp_path / "vmlinuz-1"
        path.write_bytes(data)
        return path

    return write


@pytest.mark.parametrize("payload", (XZ, gzip(ELF)), ids=("xz", "gzip"))
def test_a_packed_image_is_unpacked_once(written, tmp_path, payload):
    kept = unpacked(written(image(payload)), tmp_path / "kept")
    assert kept.read_bytes() == ELF
    assert unpacked(written(image(payload)), tmp_path / "kept") == kept
    assert list((tmp_path / "kept").iterdir()) == [kept]


def test_each_image_has_its_own_copy(written, tmp_path):
    one = unpacked(written(image(XZ)), tmp_path)
    other = unpacked(written(image(gzip(ELF + bytes(1)))), tmp_path)
    assert one.read_bytes() == ELF and other.read_bytes() == ELF + bytes(1)


@pytest.mark.parametrize("data", (
    b"", b"short", image(XZ, magic=b"ARMd"), image(XZ, version=0x207), image(b"\x28\xb5\x2f\xfd zstd"),
    image(XZ[:len(XZ) // 2]), image(XZ[:30] + bytes(len(XZ) - 30)), image(gzip(ELF)[:20] + b"no gzip"),
    image(lzma.compress(ELF.replace(ENTRY_NOTES[0], b"")))),
    ids=("empty", "short", "not x86", "old", "zstd", "cut", "broken xz", "broken gzip", "no entry"))
def test_other_images_are_booted_unchanged(written, tmp_path, data):
    path = written(data)
    assert unpacked(path, tmp_path / "kept") == path
    assert not (tmp_path / "kept").exists()


def test_an_image_is_booted_unchanged_if_no_copy_can_be_kept(written, tmp_path):
    path = written(image(XZ))
    assert unpacked(path, path / "below a file") == path
