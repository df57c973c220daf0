// SPDX-License-Identifier: MIT OR GPL-2.0
// Random address spaces, for tests that compare the code that builds, walks and translates them.
#pragma once

#include "mmu/address_space.hpp"

#include <cstdint>
#include <random>
#include <set>
#include <vector>

namespace nvmodel::test {

/// Fills an address space at random, and remembers its holes.
class RandomSpace {
  public:
    RandomSpace(std::mt19937_64 &random, mmu::AddressSpace &space)
        : random_(random), space_(space) {}

    void fill(unsigned pieces) {
        for (unsigned i = 0; i < pieces; ++i)
            switch (random_() % 8) {
            case 0:
                sparse();
                break;
            case 1:
                hide();
                break;
            default:
                page();
            }
    }

    const std::set<std::uint64_t> &holes() const { return holes_; }

  private:
    std::uint64_t any_page_size() {
        const auto sizes = space_.format().page_sizes();
        return sizes[random_() % sizes.size()];
    }

    /// Addresses crowd around a few places, so that big and small pages meet.
    std::uint64_t any_va(std::uint64_t size) {
        const std::uint64_t mask = (1ULL << space_.format().va_bits()) - 1;
        if (places_.size() < 4 || random_() % 16 == 0)
            places_.push_back(random_() & mask);
        const std::uint64_t near =
            places_[random_() % places_.size()] ^ (random_() % (4 * mmu::mib));
        return near / size * size;
    }

    mmu::PageAddress any_address(std::uint64_t size) {
        const auto aperture = static_cast<mmu::PageAperture>(random_() % 4);
        const bool video =
            aperture == mmu::PageAperture::video || aperture == mmu::PageAperture::peer;
        const unsigned bits = video || space_.format().version == mmu::Version::v1 ? 37 : 47;
        const std::uint64_t address = (random_() & ((1ULL << bits) - 1)) / size * size;
        return {aperture, address,
                aperture == mmu::PageAperture::peer ? static_cast<unsigned>(random_() % 8) : 0};
    }

    mmu::PageFlags any_flags() {
        const bool new_format = space_.format().version != mmu::Version::v1;
        return {.uncached = random_() % 2 == 0,
                .privileged = random_() % 2 == 0,
                .read_only = random_() % 2 == 0,
                .no_atomics = new_format && random_() % 2 == 0,
                .no_access_counting =
                    space_.format().version == mmu::Version::v3 && random_() % 2 == 0,
                .kind = static_cast<std::uint8_t>(random_() % 16)};
    }

    void page() {
        const std::uint64_t size = any_page_size();
        const std::uint64_t va = any_va(size);
        if (space_.is_free(va, size))
            space_.map(va, size, any_address(size), any_flags());
    }

    void sparse() {
        const std::uint64_t size = any_page_size();
        const std::uint64_t va = any_va(size);
        if (!space_.is_free(va, size))
            return;
        space_.map_sparse(va, size);
        holes_.insert(va);
    }

    void hide() {
        const std::uint64_t big = space_.format().big_page;
        const std::uint64_t va = any_va(big);
        if (!space_.is_free(va, big))
            return;
        space_.map(va, mmu::small_page, any_address(mmu::small_page));
        space_.map(va + 3 * mmu::small_page, mmu::small_page, any_address(mmu::small_page));
        space_.hide_small_pages(va);
        holes_.insert(va);
        holes_.insert(va + 3 * mmu::small_page);
    }

    std::mt19937_64 &random_;
    mmu::AddressSpace &space_;
    std::vector<std::uint64_t> places_;
    std::set<std::uint64_t> holes_;
};

} // namespace nvmodel::test
