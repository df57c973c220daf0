// SPDX-License-Identifier: MIT OR GPL-2.0
#include "tree_impl.hpp"

#include <cstring>

namespace nvdebug {

Result<Performed> Tree::Impl::request(std::string_view name, const std::string &) const {
    const std::string file = path_in(*this, name);
    return tl::unexpected(Error{ErrorCode::unsupported, 0, file,
                                path + " is not the running kernel's /proc, so nothing can be "
                                       "asked or changed there; use the live /proc"});
}

Result<std::unique_ptr<SwitchReader>> Tree::Impl::follow_switches(std::string_view gpu) const {
    return tl::unexpected(
        Error{ErrorCode::unsupported, 0, path_in(*this, std::string(gpu) + "/context_switches"),
              "only NVIDIA's driver records context switches, and " + path + " is not from it"});
}

Result<TaskHolds> Tree::Impl::hold(std::string_view gpu,
                                   const std::vector<std::vector<std::uint32_t>> &,
                                   const HoldOptions &) const {
    return tl::unexpected(
        Error{ErrorCode::unsupported, 0, path_in(*this, gpu),
              "tasks are held through NVIDIA's driver, and " + path + " is not from it"});
}

Result<LeftOvers> Tree::Impl::left_overs(std::string_view gpu) const {
    return tl::unexpected(
        Error{ErrorCode::unsupported, 0, path_in(*this, gpu),
              "only changes that were made through NVIDIA's driver are written down, and " + path +
                  " is not from it"});
}

Result<LeftOvers> Tree::Impl::restore(std::string_view gpu,
                                      const std::vector<std::uint32_t> &) const {
    return left_overs(gpu);
}

std::optional<Error> Tree::Impl::withheld(std::string_view) const {
    return std::nullopt;
}

std::string Tree::Impl::record(std::string_view) const {
    return {};
}

std::map<std::string, std::string> Tree::Impl::words() const {
    return {};
}

std::string path_in(const Tree::Impl &tree, std::string_view name) {
    std::string path = tree.path;
    if (!path.ends_with('/') && !name.empty())
        path += '/';
    return path += name;
}

bool natural_less(const std::string &a, const std::string &b) {
    return ::strverscmp(a.c_str(), b.c_str()) < 0;
}

} // namespace nvdebug
