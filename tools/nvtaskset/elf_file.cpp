// SPDX-License-Identifier: MIT OR GPL-2.0
#include "elf_file.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstring>
#include <elf.h>
#include <sys/stat.h>
#include <unistd.h>

namespace nvtaskset {
namespace {

using Problem = tl::unexpected<std::string>;

// Glibc's library has 2 MiB, 14 program headers, 30 dynamic entries and 45 versions.
constexpr off_t bytes_max = 64 << 20;
constexpr std::size_t headers_max = 64, entries_max = 256;
constexpr unsigned versions_max = 512;

#if defined(__aarch64__)
constexpr unsigned machine = EM_AARCH64;
#else
constexpr unsigned machine = EM_X86_64;
#endif

Problem damaged() {
    return Problem("is damaged or cut off");
}

/// Fills @p value from a place of the file. Returns false if the file ends too early.
template <typename T>
bool read_at(int descriptor, std::uint64_t at, T &value) {
    if (at > bytes_max)
        return false;
    std::size_t done = 0;
    while (done < sizeof(value)) {
        const ssize_t n = pread(descriptor, reinterpret_cast<char *>(&value) + done,
                                sizeof(value) - done, static_cast<off_t>(at + done));
        if (n <= 0)
            return false;
        done += static_cast<std::size_t>(n);
    }
    return true;
}

/// The parts of the file that are loaded, and where its dynamic section is.
struct Segments {
    std::array<Elf64_Phdr, headers_max> headers;
    std::size_t count = 0;

    const Elf64_Phdr *dynamic() const {
        for (std::size_t n = 0; n < count; n++)
            if (headers[n].p_type == PT_DYNAMIC)
                return &headers[n];
        return nullptr;
    }
    /// Returns the place in the file of an address, or nullopt if it is not in the file.
    std::optional<std::uint64_t> place(std::uint64_t address) const {
        for (std::size_t n = 0; n < count; n++) {
            const Elf64_Phdr &each = headers[n];
            if (each.p_type == PT_LOAD && address >= each.p_vaddr &&
                address - each.p_vaddr < each.p_filesz)
                return each.p_offset + (address - each.p_vaddr);
        }
        return std::nullopt;
    }
};

/// The entries of the dynamic section that lead to the versions.
struct Tables {
    std::uint64_t versions = 0, versions_count = 0, names = 0;
};

std::optional<Tables> read_tables(int descriptor, const Segments &segments) {
    const Elf64_Phdr *const dynamic = segments.dynamic();
    if (!dynamic)
        return std::nullopt;
    Tables tables;
    for (std::size_t n = 0; n < entries_max; n++) {
        Elf64_Dyn entry{};
        if (n * sizeof(entry) >= dynamic->p_filesz)
            break;
        if (!read_at(descriptor, dynamic->p_offset + n * sizeof(entry), entry))
            return std::nullopt;
        switch (entry.d_tag) {
        case DT_NULL:
            return tables;
        case DT_VERDEF:
            tables.versions = entry.d_un.d_ptr;
            break;
        case DT_VERDEFNUM:
            tables.versions_count = entry.d_un.d_val;
            break;
        case DT_STRTAB:
            tables.names = entry.d_un.d_ptr;
            break;
        default:
            break;
        }
    }
    return tables;
}

/// Returns the N of `GLIBC_2.N`, or 0 for other names.
unsigned minor_of(const std::array<char, 16> &name) {
    constexpr std::string_view begin = "GLIBC_2.";
    const std::string_view text(name.data(), strnlen(name.data(), name.size()));
    unsigned minor = 0;
    if (!text.starts_with(begin))
        return 0;
    std::from_chars(text.data() + begin.size(), text.data() + text.size(), minor);
    return minor;
}

} // namespace

tl::expected<std::optional<CLibrary>, std::string> read_c_library(int descriptor) {
    struct stat found {};
    if (fstat(descriptor, &found) < 0 || !S_ISREG(found.st_mode))
        return Problem("is no file");
    if (found.st_size > bytes_max)
        return Problem("has more than 64 MiB, which no C library has");
    Elf64_Ehdr header{};
    if (!read_at(descriptor, 0, header.e_ident) ||
        std::memcmp(header.e_ident, ELFMAG, SELFMAG) != 0)
        return Problem("is no library");
    if (header.e_ident[EI_CLASS] != ELFCLASS64 || header.e_ident[EI_DATA] != ELFDATA2LSB)
        return std::nullopt;
    if (!read_at(descriptor, 0, header))
        return damaged();
    if (header.e_machine != machine)
        return std::nullopt;
    if (header.e_type != ET_DYN || header.e_phentsize != sizeof(Elf64_Phdr))
        return Problem("is no library");
    Segments segments;
    for (std::size_t n = 0; n < std::min<std::size_t>(header.e_phnum, headers_max); n++)
        if (!read_at(descriptor, header.e_phoff + n * sizeof(Elf64_Phdr),
                     segments.headers[segments.count++]))
            return damaged();
    const auto tables = read_tables(descriptor, segments);
    if (!tables)
        return damaged();
    CLibrary library;
    std::uint64_t address = tables->versions;
    for (unsigned n = 0; n < std::min<std::uint64_t>(tables->versions_count, versions_max); n++) {
        const auto at = segments.place(address);
        Elf64_Verdef version{};
        Elf64_Verdaux name{};
        if (!at || !read_at(descriptor, *at, version) ||
            !read_at(descriptor, *at + version.vd_aux, name))
            return damaged();
        // The read may be short, because a name at the end of the file is shorter than the buffer.
        std::array<char, 16> text{};
        const auto begin = segments.place(tables->names + name.vda_name);
        if (!begin || pread(descriptor, text.data(), text.size(), static_cast<off_t>(*begin)) <= 0)
            return damaged();
        library.minor = std::max(library.minor, minor_of(text));
        if (!version.vd_next)
            break;
        address += version.vd_next;
    }
    return library;
}

} // namespace nvtaskset
