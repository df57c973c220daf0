// SPDX-License-Identifier: MIT OR GPL-2.0
#include "memory/video_memory.hpp"

#include <algorithm>

namespace nvmodel {

bool VideoMemory::read(std::uint64_t address, std::span<std::byte> to) const {
    if (!contains(address, to.size()))
        return false;
    while (!to.empty()) {
        const auto in_page = static_cast<std::size_t>(address % page_size);
        const std::size_t length = std::min(to.size(), page_size - in_page);
        const auto page = pages_.find(address / page_size);
        if (page == pages_.end())
            std::ranges::fill(to.first(length), std::byte{0});
        else
            std::ranges::copy(std::span(*page->second).subspan(in_page, length), to.begin());
        to = to.subspan(length);
        address += length;
    }
    return true;
}

bool VideoMemory::write(std::uint64_t address, std::span<const std::byte> from) {
    if (!contains(address, from.size()))
        return false;
    while (!from.empty()) {
        const auto in_page = static_cast<std::size_t>(address % page_size);
        const std::size_t length = std::min(from.size(), page_size - in_page);
        auto &page = pages_[address / page_size];
        if (!page)
            page = std::make_unique<Page>();
        std::ranges::copy(from.first(length), page->begin() + static_cast<std::ptrdiff_t>(in_page));
        from = from.subspan(length);
        address += length;
    }
    return true;
}

} // namespace nvmodel
