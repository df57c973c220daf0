// SPDX-License-Identifier: MIT OR GPL-2.0
#include "page.hpp"

#include <algorithm>
#include <charconv>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include <utility>

namespace nvtaskset {
namespace {

constexpr std::size_t page_bytes = 4096;
/** Looks at a partition that is being written: far more than its writer needs. */
constexpr int patience = 100'000;

std::string_view take_until(std::string_view &rest, char end) {
    const std::string_view word = rest.substr(0, rest.find(end));
    rest.remove_prefix(std::min(rest.size(), word.size() + 1));
    return word;
}

std::optional<std::uint32_t> number(std::string_view text, int base = 10) {
    std::uint32_t value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value, base);
    return error == std::errc() && end == text.data() + text.size() && !text.empty()
               ? std::optional(value)
               : std::nullopt;
}

void write(Slot &slot, const Partition *partition) {
    // Odd even if a writer died in the middle.
    const std::uint32_t before = slot.sequence.load() & ~1U;
    slot.sequence.store(before + 1);
    std::atomic_thread_fence(std::memory_order_seq_cst);
    if (partition)
        slot.partition = *partition;
    slot.used.store(partition != nullptr);
    std::atomic_thread_fence(std::memory_order_seq_cst);
    slot.sequence.store(before + 2);
}

} // namespace

std::optional<Page> Page::make() {
    const int descriptor = memfd_create(state_name, MFD_ALLOW_SEALING | MFD_CLOEXEC);
    if (descriptor < 0)
        return std::nullopt;
    // Nobody can take the page away from under those who have it mapped.
    if (ftruncate(descriptor, page_bytes) == 0 &&
        fcntl(descriptor, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) == 0) {
        void *const memory = mmap(nullptr, page_bytes, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0);
        if (memory != MAP_FAILED) {
            auto *const state = static_cast<State *>(memory);
            state->version = State::current_version;
            state->magic = State::magic_number;
            Page page(state);
            page.descriptor_ = descriptor;
            return page;
        }
    }
    close(descriptor);
    return std::nullopt;
}

std::optional<Page> Page::open(int descriptor) {
    // What has no seals may shrink, and is none of ours.
    const int seals = fcntl(descriptor, F_GET_SEALS);
    struct stat file {};
    if (seals < 0 || !(seals & F_SEAL_SHRINK) || fstat(descriptor, &file) < 0 ||
        file.st_size != page_bytes)
        return std::nullopt;
    void *const memory = mmap(nullptr, page_bytes, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0);
    if (memory == MAP_FAILED)
        return std::nullopt;
    Page page(static_cast<State *>(memory));
    if (page.state().magic != State::magic_number || page.state().version != State::current_version)
        return std::nullopt;
    return page;
}

Page::Page(Page &&other) noexcept
    : state_(std::exchange(other.state_, nullptr)), descriptor_(std::exchange(other.descriptor_, -1)) {}

Page &Page::operator=(Page &&other) noexcept {
    std::swap(state_, other.state_);
    std::swap(descriptor_, other.descriptor_);
    return *this;
}

Page::~Page() {
    if (state_)
        munmap(state_, page_bytes);
}

Slot *Page::find(const Uuid &uuid) const {
    for (Slot &slot : state_->slots)
        if (const auto partition = read_partition(slot); partition && partition->uuid == uuid)
            return &slot;
    return nullptr;
}

bool Page::set(const Partition &partition) const {
    Slot *slot = find(partition.uuid);
    for (Slot &other : state_->slots)
        if (!slot && !other.used.load())
            slot = &other;
    if (!slot)
        return false;
    write(*slot, &partition);
    state_->generation++;
    return true;
}

void Page::clear(const Uuid &uuid) const {
    if (Slot *const slot = find(uuid)) {
        write(*slot, nullptr);
        state_->generation++;
    }
}

std::optional<Partition> read_partition(const Slot &slot) {
    for (int look = 0; look < patience; look++) {
        const std::uint32_t before = slot.sequence.load();
        const bool used = slot.used.load();
        const Partition partition = slot.partition;
        std::atomic_thread_fence(std::memory_order_seq_cst);
        if (!(before & 1) && slot.sequence.load() == before)
            return used ? std::optional(partition) : std::nullopt;
    }
    return std::nullopt;
}

std::string bits_text(const Bits &bits) {
    std::string text;
    for (std::size_t digit = bits.size() * 8; digit-- > 0;) {
        const std::uint32_t value = bits[digit / 8] >> digit % 8 * 4 & 0xf;
        if (value || !text.empty() || !digit)
            text += "0123456789abcdef"[value];
    }
    return text;
}

std::optional<Bits> parse_bits(std::string_view text) {
    Bits bits{};
    if (text.empty() || text.size() > bits.size() * 8)
        return std::nullopt;
    for (std::size_t digit = 0; digit < text.size(); digit++) {
        const auto value = number(text.substr(text.size() - 1 - digit, 1), 16);
        if (!value)
            return std::nullopt;
        bits[digit / 8] |= *value << digit % 8 * 4;
    }
    return bits;
}

std::string uuid_text(const Uuid &uuid) {
    std::string text = "GPU";
    for (std::size_t byte = 0; byte < uuid.size(); byte++) {
        if (byte == 0 || (byte >= 4 && byte <= 10 && byte % 2 == 0))
            text += '-';
        text += "0123456789abcdef"[uuid[byte] >> 4];
        text += "0123456789abcdef"[uuid[byte] & 0xf];
    }
    return text;
}

std::optional<Uuid> parse_uuid(std::string_view text) {
    constexpr std::string_view prefix = "GPU-";
    if (!text.starts_with(prefix))
        return std::nullopt;
    Uuid uuid{};
    std::string digits;
    for (const char c : text.substr(prefix.size()))
        if (c != '-')
            digits += c;
    if (digits.size() != 2 * uuid.size())
        return std::nullopt;
    for (std::size_t byte = 0; byte < uuid.size(); byte++) {
        const auto value = number(std::string_view(digits).substr(2 * byte, 2), 16);
        if (!value)
            return std::nullopt;
        uuid[byte] = static_cast<std::uint8_t>(*value);
    }
    return uuid_text(uuid) == text ? std::optional(uuid) : std::nullopt;
}

std::string partition_text(const Partition &partition) {
    return uuid_text(partition.uuid) + ":" + bits_text(partition.disabled) + ":" +
           bits_text(partition.exists) + ":" + std::to_string(partition.sms) + ":" +
           std::to_string(partition.largest_gpc);
}

std::optional<Partition> parse_partition(std::string_view text) {
    const auto uuid = parse_uuid(take_until(text, ':'));
    const auto disabled = parse_bits(take_until(text, ':'));
    const auto exists = parse_bits(take_until(text, ':'));
    const auto sms = number(take_until(text, ':'));
    const auto largest_gpc = number(text);
    if (!uuid || !disabled || !exists || !sms || !largest_gpc)
        return std::nullopt;
    return Partition{*uuid, *disabled, *exists, *sms, *largest_gpc};
}

} // namespace nvtaskset
