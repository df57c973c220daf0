// SPDX-License-Identifier: MIT OR GPL-2.0
#include "open_tree.hpp"

#include <sys/stat.h>

namespace nvdebug {

Tree::Tree(std::shared_ptr<const Impl> impl) : impl_(std::move(impl)) {}

Result<Tree> Tree::folder(const std::string &path) {
    return open_folder(path).map([](auto impl) { return Tree(std::move(impl)); });
}

Result<Tree> Tree::capture(const std::string &path) {
    return open_capture(path).map([](auto impl) { return Tree(std::move(impl)); });
}

Result<Tree> Tree::open(const std::string &path) {
    struct stat about {};
    const bool is_folder = ::stat(path.c_str(), &about) == 0 && S_ISDIR(about.st_mode);
    return is_folder ? folder(path) : capture(path);
}

bool Tree::live() const {
    return impl_->live;
}

const std::string &Tree::path() const {
    return impl_->path;
}

const std::map<std::string, std::string> &Tree::facts() const {
    return impl_->facts;
}

Result<std::vector<std::string>> Tree::list(std::string_view folder) const {
    return impl_->list(folder);
}

Result<std::string> Tree::read(std::string_view name) const {
    return impl_->read(name);
}

std::string path_in(const Tree::Impl &tree, std::string_view name) {
    std::string path = tree.path;
    if (!path.ends_with('/') && !name.empty())
        path += '/';
    return path += name;
}

} // namespace nvdebug
