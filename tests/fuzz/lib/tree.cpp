// SPDX-License-Identifier: MIT OR GPL-2.0
// The files of a GPU together, as in tests/golden: what a capture keeps of them, and all answers.
#include "lib/nvdebug/capture.hpp"
#include "memory_file.hpp"
#include "read_all.hpp"

#include <cerrno>
#include <filesystem>

using namespace nvdebug;

namespace {

constexpr std::string_view begin = "==> ";

/** Returns the content of a capture. A file is `==> NAME` and its text, or `==> NAME!` for a file
 * that answered with an error. */
CaptureContent content_of(std::string_view input) {
    CaptureContent content;
    std::string *file = nullptr;
    while (!input.empty()) {
        const std::size_t end = std::min(input.find('\n'), input.size() - 1) + 1;
        std::string_view line = input.substr(0, end);
        input.remove_prefix(end);
        if (!line.starts_with(begin)) {
            if (file)
                file->append(line);
            continue;
        }
        line.remove_prefix(begin.size());
        if (line.ends_with('\n'))
            line.remove_suffix(1);
        file = nullptr;
        if (line.ends_with('!'))
            content.errors["gpu0/" + std::string(line.substr(0, line.size() - 1))] = EIO;
        else
            file = &content.files["gpu0/" + std::string(line)];
    }
    return content;
}

/** Returns true if JSON keeps the text unchanged. JSON is UTF-8, and other bytes are replaced. */
bool is_ascii(std::string_view text) {
    return std::none_of(text.begin(), text.end(), [](char c) { return c & 0x80; });
}

void same_files(const Tree &a, const Tree &b) {
    const auto names = a.list("gpu0");
    if (!names)
        return;
    for (const std::string &name : *names) {
        const auto text = a.read("gpu0/" + name);
        const auto other = b.read("gpu0/" + name);
        if (text)
            FUZZ_REQUIRE(other && *other == *text);
    }
}

/** The folder for captures. It is removed when the process ends. */
class Folder {
  public:
    Folder() {
        std::string pattern = std::filesystem::temp_directory_path() / "nvdebug-fuzz-XXXXXX";
        FUZZ_REQUIRE(::mkdtemp(pattern.data()));
        path_ = pattern;
    }
    ~Folder() { std::filesystem::remove_all(path_); }
    const std::filesystem::path &path() const { return path_; }

  private:
    std::filesystem::path path_;
};

/** Checks that a capture of a capture has the same files. */
void capture_again(const Tree &tree) {
    static const Folder folder;
    const std::string path = folder.path() / "capture";
    if (!fuzz::fine(write_capture(tree, {"gpu0"}, path)))
        return;
    const auto again = Tree::open(path);
    FUZZ_REQUIRE(fuzz::fine(again));
    for (const auto &[key, value] : tree.facts())
        FUZZ_REQUIRE(again->facts().at(key) == value);
    same_files(*again, tree);
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    const std::string_view input(reinterpret_cast<const char *>(data), size);
    const CaptureContent content = content_of(input);
    const fuzz::MemoryFile file(to_json(content));
    const auto tree = Tree::open(file.path());
    FUZZ_REQUIRE(fuzz::fine(tree));
    if (is_ascii(input))
        for (const auto &[name, text] : content.files) {
            const auto read = tree->read(name);
            FUZZ_REQUIRE(read && *read == text);
        }
    fuzz::read_all(*tree);
    capture_again(*tree);
    return 0;
}
