// SPDX-License-Identifier: MIT OR GPL-2.0
#include "goals_text.hpp"

#include <array>
#include <cerrno>
#include <cstring>
#include <ctime>
#include <fcntl.h>
#include <string_view>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/base/printable.hpp"

namespace nvdebug::exporter {
namespace {

/// Returns whether each line is one that nvqos writes. Another line could change what the exporter's
/// own lines mean.
bool is_of_nvqos(std::string_view text) {
    while (!text.empty()) {
        const std::size_t end = text.find('\n');
        if (end == text.npos)
            return false;
        const std::string_view line = text.substr(0, end);
        bool fits = false;
        for (const std::string_view begin : {"nvqos_", "# HELP nvqos_", "# TYPE nvqos_"})
            fits = fits || line.starts_with(begin);
        if (!fits)
            return false;
        text.remove_prefix(end + 1);
    }
    return true;
}

/// A file that is closed at the end.
struct OpenFile {
    const int descriptor;
    explicit OpenFile(const std::string &path)
        : descriptor(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOFOLLOW)) {}
    OpenFile(const OpenFile &) = delete;
    OpenFile &operator=(const OpenFile &) = delete;
    ~OpenFile() {
        if (descriptor >= 0)
            ::close(descriptor);
    }
};

} // namespace

tl::expected<std::string, std::string> goals_text(const std::string &path) {
    const auto wrong = [&](const std::string &why) {
        return tl::unexpected("metrics of goals are left out: " + base::printable(path) + " " +
                              why + "; --goals takes the file of 'nvqos --metrics'");
    };
    const OpenFile file(path);
    if (file.descriptor < 0 && errno == ENOENT)
        return "";
    if (file.descriptor < 0)
        return wrong(std::string("cannot be opened: ") + ::strerrordesc_np(errno));
    struct stat found {};
    if (::fstat(file.descriptor, &found) || !S_ISREG(found.st_mode))
        return wrong("is no file");
    if (::time(nullptr) - found.st_mtim.tv_sec > oldest_goals.count())
        return "";
    std::string text;
    std::array<char, 65'536> part{};
    for (ssize_t more; (more = ::read(file.descriptor, part.data(), part.size())) != 0;) {
        if (more < 0 && errno == EINTR)
            continue;
        if (more < 0)
            return wrong(std::string("cannot be read: ") + ::strerrordesc_np(errno));
        text.append(part.data(), static_cast<std::size_t>(more));
        if (text.size() > longest_goals)
            return wrong("is longer than 4 MiB");
    }
    if (!is_of_nvqos(text))
        return wrong("has a line that is no metric of nvqos");
    return text;
}

} // namespace nvdebug::exporter
