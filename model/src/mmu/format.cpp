// SPDX-License-Identifier: MIT OR GPL-2.0
#include "mmu/format.hpp"

#include "regs/mmu.hpp"

#include <algorithm>
#include <array>

namespace nvmodel::mmu {
namespace {

constexpr std::array v1_64k{Level{26, 1U << 14, 8}};
constexpr std::array v1_128k{Level{27, 1U << 13, 8}};
constexpr std::array v2{Level{47, 4, 8}, Level{38, 512, 8}, Level{29, 512, 8}, Level{21, 256, 16}};
constexpr std::array v3{Level{56, 2, 8}, Level{47, 512, 8}, Level{38, 512, 8}, Level{29, 512, 8},
                        Level{21, 256, 16}};

} // namespace

unsigned Format::va_bits() const {
    switch (version) {
    case Version::v1:
        return regs::mmu::v1::va_bits;
    case Version::v2:
        return regs::mmu::v2::va_bits;
    case Version::v3:
        return regs::mmu::v3::va_bits;
    }
    return 0;
}

std::span<const Level> Format::directories() const {
    switch (version) {
    case Version::v1:
        return big_page == 64 * kib ? std::span<const Level>(v1_64k) : v1_128k;
    case Version::v2:
        return v2;
    case Version::v3:
        return v3;
    }
    return {};
}

bool Format::may_be_page(const Level &level) const {
    return level.span() != small_page && level.span() != big_page && has_page_size(level.span());
}

std::vector<std::uint64_t> Format::page_sizes() const {
    std::vector<std::uint64_t> sizes{small_page, big_page};
    if (version == Version::v1)
        return sizes;
    sizes.push_back(2 * mib);
    if (leaf_512m)
        sizes.push_back(512 * mib);
    if (leaf_256g)
        sizes.push_back(256 * gib);
    return sizes;
}

bool Format::has_page_size(std::uint64_t size) const {
    return std::ranges::count(page_sizes(), size) != 0;
}

} // namespace nvmodel::mmu
