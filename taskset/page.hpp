// SPDX-License-Identifier: MIT OR GPL-2.0
/** @file The shared page: making it, finding it, and reading and writing its partitions. */
#ifndef NVTASKSET_PAGE_HPP
#define NVTASKSET_PAGE_HPP

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "state.hpp"

namespace nvtaskset {

/** A mapped page. Errors are errno, as nothing else can go wrong. */
class Page {
  public:
    /** A new one, without partitions. nullopt: errno. */
    static std::optional<Page> make();
    /** That of @p descriptor, which is left alone. nullopt: it is none, or of another version. */
    static std::optional<Page> open(int descriptor);
    Page(Page &&other) noexcept;
    Page &operator=(Page &&other) noexcept;
    ~Page();

    State &state() const { return *state_; }
    /** Of a page from make(); stays open when the page ends, and is closed on exec. */
    int descriptor() const { return descriptor_; }

    /** The GPU's slot; nullptr: it has none. */
    Slot *find(const Uuid &uuid) const;
    /** False: all slots are taken. Not for two at once: lock the descriptor. */
    bool set(const Partition &partition) const;
    /** The GPU is free for the task again. */
    void clear(const Uuid &uuid) const;

  private:
    explicit Page(State *state) : state_(state) {}

    State *state_;
    int descriptor_ = -1;
};

/** One that is not being written. nullopt: there is none, or its writer died in the middle. */
std::optional<Partition> read_partition(const Slot &slot);

/** `GPU-01234567-…:DISABLED:EXISTS:SMS:LARGEST_GPC`; bits in hexadecimal. */
std::string partition_text(const Partition &partition);
std::optional<Partition> parse_partition(std::string_view text);

/** As nvidia-smi writes it: `GPU-` and 36 characters. */
std::string uuid_text(const Uuid &uuid);
std::optional<Uuid> parse_uuid(std::string_view text);

/** Hexadecimal, without leading zeros. */
std::string bits_text(const Bits &bits);
std::optional<Bits> parse_bits(std::string_view text);

} // namespace nvtaskset

#endif
