// SPDX-License-Identifier: MIT OR GPL-2.0
#include "container_device.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <sys/stat.h>
#include <unistd.h>

#include "new_file.hpp"
#include "private_path.hpp"

namespace nvdebug::base {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

int write_whole(int descriptor, std::string_view text) {
    while (!text.empty()) {
        const ssize_t sent = write(descriptor, text.data(), text.size());
        if (sent < 0 && errno != EINTR)
            return errno;
        text.remove_prefix(sent > 0 ? static_cast<std::size_t>(sent) : 0);
    }
    return 0;
}

} // namespace

bool is_device_name(std::string_view name) {
    constexpr std::size_t most = 63;
    const auto is_plain = [](char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0; };
    return !name.empty() && name.size() <= most && is_plain(name.front()) &&
           is_plain(name.back()) && std::ranges::all_of(name, [&](char c) {
               return is_plain(c) || std::string_view("_-.:").find(c) != std::string_view::npos;
           });
}

std::string device_file(const std::string &kind, const std::string &name,
                        const std::string &folder) {
    std::string prefix = kind;
    std::ranges::replace(prefix, '/', '-');
    return fs::path(folder) / (prefix + "-" + name + ".json");
}

OrSentence<void> write_device(const ContainerDevice &device, const std::string &folder) {
    return write_devices({&device, 1}, device.name, folder);
}

OrSentence<void> write_devices(std::span<const ContainerDevice> devices, const std::string &name,
                               const std::string &folder) {
    Json listed = Json::array();
    for (const ContainerDevice &device : devices)
        listed.push_back(Json{{"name", device.name}, {"containerEdits", device.edits}});
    const std::string &kind = devices.front().kind;
    const Json document = {{"cdiVersion", "0.5.0"}, {"kind", kind}, {"devices", std::move(listed)}};
    const std::string path = device_file(kind, name, folder);
    const auto failed = [&](const std::string &why) {
        return tl::unexpected("cannot write " + path + ": " + why +
                              "; --cdi-folder names another folder");
    };
    std::error_code error;
    fs::create_directories(folder, error);
    if (error)
        return failed(error.message());
    auto file = NewFile::make(path);
    if (!file)
        return failed(std::strerror(file.error()));
    int number = write_whole(file->descriptor(), document.dump(1) + "\n");
    if (!number && fchmod(file->descriptor(), 0644) < 0)
        number = errno;
    if (!number)
        number = file->appear();
    return number ? failed(std::strerror(number)) : OrSentence<void>();
}

OrSentence<void> expect_private(const std::string &path) {
    if (!is_private(path))
        return tl::unexpected("others than you and root can change " + path +
                              ", which containers would run; install it where only root writes");
    return {};
}

OrSentence<std::string> own_path_for_hooks() {
    std::error_code error;
    const std::string path = fs::read_symlink("/proc/self/exe", error).string();
    return expect_private(path).map([&] { return path; });
}

OrSentence<nlohmann::json> read_json(int descriptor, std::size_t bytes_max,
                                     const std::string &what) {
    std::string text;
    std::array<char, 4096> part;
    for (ssize_t n = 0; (n = read(descriptor, part.data(), part.size())) != 0;) {
        if (n < 0)
            return tl::unexpected("cannot read " + what + ": " + std::strerror(errno));
        text.append(part.data(), static_cast<std::size_t>(n));
        if (text.size() > bytes_max)
            return tl::unexpected(what + " is longer than " + std::to_string(bytes_max >> 20) +
                                  " MiB");
    }
    auto json = nlohmann::json::parse(text, nullptr, false);
    return json.is_discarded() ? nlohmann::json() : json;
}

OrSentence<nlohmann::json> read_container_state() {
    return read_json(STDIN_FILENO, 1 << 20, "the container's state on stdin");
}

std::string text_at(const nlohmann::json &document, const char *pointer) {
    const nlohmann::json::json_pointer place(pointer);
    if (!document.contains(place) || !document.at(place).is_string())
        return "";
    return document.at(place).get<std::string>();
}

} // namespace nvdebug::base
