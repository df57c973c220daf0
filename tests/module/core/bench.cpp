// SPDX-License-Identifier: MIT OR GPL-2.0
#include "bench.hpp"

#include "host/group.hpp"

#include <algorithm>
#include <sstream>

namespace core {

std::uint64_t number(const Json &text) {
    return std::stoull(text.get<std::string>(), nullptr, 16);
}

std::string hex(std::uint64_t value) {
    std::ostringstream out;
    out << "0x" << std::hex << value;
    return out.str();
}

Bench::Bench(const std::string &board, const std::string &workload)
    : machine(board, workload), board_(board) {
    EXPECT_EQ(machine.probe(), 0);
    files_ = files(machine);
}

Json Bench::ask(const std::string &line) {
    Json reply = Json::parse(machine.answer(line));
    EXPECT_TRUE(reply.at("ok")) << line << ": " << reply;
    return reply;
}

Json Bench::list() {
    const Json all = layout();
    for (const Json &one : all.at("runlists"))
        if (one.at("id") == 0)
            return one;
    ADD_FAILURE() << "no runlist 0";
    return {};
}

const File *Bench::find(const std::string &file) const {
    const auto found = std::ranges::find(files_, file, &File::name);
    return found == files_.end() ? nullptr : &*found;
}

Text Bench::read(const std::string &file) {
    const File *const found = find(file);
    if (found != nullptr)
        return core::read(machine, *found);
    ADD_FAILURE() << "no file " << file;
    return {-ENOENT, {}};
}

std::string Bench::text(const std::string &file) {
    const Text got = read(file);
    EXPECT_EQ(got.error, 0) << file;
    return got.text;
}

Text Bench::write(const std::string &file, const std::string &request) {
    const File *const found = find(file);
    if (found != nullptr)
        return Open(machine, *found).write(request);
    ADD_FAILURE() << "no file " << file;
    return {-ENOENT, {}};
}

namespace {

nvmodel::PhysicalAddress address_of(const Json &at, std::uint64_t offset) {
    const std::string aperture = at.at("aperture");
    for (const auto one :
         {nvmodel::Aperture::video, nvmodel::Aperture::coherent, nvmodel::Aperture::noncoherent})
        if (aperture == name_of(one))
            return {one, number(at.at("address")) + offset};
    ADD_FAILURE() << "no aperture " << aperture;
    return {};
}

} // namespace

std::vector<std::uint32_t> Bench::peek(const Json &at, std::uint64_t offset, std::size_t count) {
    std::vector<std::uint32_t> words(count);
    EXPECT_TRUE(machine.model().memory().read_words(address_of(at, offset), words)) << at;
    return words;
}

void Bench::poke(const Json &at, std::uint64_t offset, std::span<const std::uint32_t> words) {
    EXPECT_TRUE(machine.model().memory().write_words(address_of(at, offset), words)) << at;
}

bool Bench::since(const std::string &card) const {
    return std::ranges::count(cards_since(card), board_) != 0;
}

std::size_t Bench::entry_words() {
    return nvmodel::entry_size(machine.model().board().generation->entry) / 4;
}

std::vector<std::string> cards_since(const std::string &card) {
    return {std::ranges::find(cards, card), cards.end()};
}

std::string name_of_board(const testing::TestParamInfo<std::string> &board) {
    std::string name = board.param;
    std::erase(name, '-');
    return name;
}

} // namespace core
