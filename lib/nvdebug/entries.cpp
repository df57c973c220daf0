// SPDX-License-Identifier: MIT OR GPL-2.0
#include "nvdebug/entries.hpp"

#include <algorithm>
#include <charconv>
#include <map>
#include <optional>
#include <string_view>

#include "lib/driver/entry_fields.hpp"
#include "nvdebug/gpu.hpp"
#include "tree_impl.hpp"

namespace nvdebug {
namespace {

using driver::EntryForm;

/// Takes a word of @p text up to a blank or a colon, as a hexadecimal number.
std::optional<std::uint64_t> take_number(std::string_view &text) {
    std::uint64_t number = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number, 16);
    if (error != std::errc())
        return std::nullopt;
    text.remove_prefix(static_cast<std::size_t>(end - text.data()));
    return number;
}

/// Returns the words of memory of a record (Record in lib/driver/words.hpp), by their addresses. The
/// last reading of each word counts.
std::map<std::uint64_t, std::uint32_t> memory_of(std::string_view record) {
    std::map<std::uint64_t, std::uint32_t> memory;
    while (!record.empty()) {
        std::string_view line = record.substr(0, record.find('\n'));
        record.remove_prefix(std::min(record.size(), line.size() + 1));
        std::optional<std::uint64_t> address = take_number(line);
        if (!address || !line.starts_with(':'))
            continue; // a register
        line.remove_prefix(1);
        while (line.starts_with(' ')) {
            line.remove_prefix(1);
            const std::optional<std::uint64_t> word = take_number(line);
            if (!word)
                break;
            memory.insert_or_assign(*address, static_cast<std::uint32_t>(*word));
            *address += sizeof(std::uint32_t);
        }
    }
    return memory;
}

EntryForm form_of(const Info &info) {
    const std::string generation = info.generation.value_or("");
    if (generation == "Kepler" || generation == "Maxwell" || generation == "Pascal")
        return EntryForm::kepler;
    return generation == "Blackwell" ? EntryForm::blackwell : EntryForm::volta;
}

} // namespace

Result<std::vector<RawEntry>> runlist_entries(const Gpu &gpu, std::uint32_t runlist) {
    const std::string file = "runlist" + std::to_string(runlist) + "_brief";
    const std::string name = gpu.folder() + "/" + file;
    const Result<Info> info = gpu.info();
    if (!info)
        return tl::unexpected(info.error());
    const Result<Runlist> list = gpu.runlist(runlist, Detail::brief);
    if (!list)
        return tl::unexpected(list.error());
    const Tree::Impl &tree = gpu.tree().impl();
    // The driver has the record of its last file, and a capture those of all files.
    std::string record = tree.record(name);
    if (const auto kept = tree.words(); kept.contains(name))
        record = kept.at(name);
    const std::map<std::uint64_t, std::uint32_t> memory = memory_of(record);
    const EntryForm form = form_of(*info);
    const std::size_t size = driver::words_of(form);
    std::vector<RawEntry> entries;
    for (std::uint32_t index = 0; index < list->entries; index++) {
        RawEntry entry{
            index, list->place.address.value_or(0) + index * size * sizeof(std::uint32_t), {}, {}};
        for (std::size_t word = 0; word < size; word++) {
            const auto found = memory.find(entry.address + word * sizeof(std::uint32_t));
            if (found == memory.end())
                return tl::unexpected(
                    Error{ErrorCode::unsupported, 0, gpu.path(file),
                          "the words of " + gpu.path(file) +
                              " are not known: NVIDIA's driver shows them (--from driver), and so "
                              "does a capture that was made through it"});
            entry.words.push_back(found->second);
        }
        entry.fields = driver::entry_fields(entry.words, form);
        entries.push_back(std::move(entry));
    }
    return entries;
}

} // namespace nvdebug
