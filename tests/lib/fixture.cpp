// SPDX-License-Identifier: MIT OR GPL-2.0
#include "fixture.hpp"
#include "tests/support/sections.hpp"

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <sstream>
#include <stdexcept>

namespace fixture {

namespace fs = std::filesystem;

Folder::Folder() {
    std::string pattern = (fs::temp_directory_path() / "nvdebug-test-XXXXXX").string();
    if (!::mkdtemp(pattern.data()))
        throw std::runtime_error("mkdtemp");
    path_ = pattern;
}

Folder::~Folder() {
    std::error_code ignored;
    fs::remove_all(path_, ignored);
}

void Folder::write(const std::string &name, std::string_view text) const {
    fs::create_directories((path_ / name).parent_path());
    std::ofstream(path_ / name, std::ios::binary) << text;
}

nvdebug::Tree Folder::tree() const {
    return value(nvdebug::Tree::folder(path_.string()));
}

std::vector<std::string> boards() {
    std::vector<std::string> names;
    for (const auto &entry : fs::directory_iterator(GOLDEN))
        names.push_back(entry.path().filename().string());
    std::sort(names.begin(), names.end());
    return names;
}

Files golden(const std::string &board, const std::string &set) {
    Files files;
    for (auto &[name, text] : sections::load(fs::path(GOLDEN) / board / set))
        files[name] += text;
    std::erase_if(files, [](const auto &entry) { return entry.second.starts_with("cat: "); });
    return files;
}

Board::Board(const std::string &board, const std::string &set) {
    for (const std::string &part : {std::string("topology"), std::string("idle"), set})
        for (const auto &[name, text] : golden(board, part))
            folder_.write("gpu0/" + name, text);
}

} // namespace fixture
