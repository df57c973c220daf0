// SPDX-License-Identifier: MIT OR GPL-2.0
#include "capture.hpp"
#include "driver_tree.hpp"
#include "error.hpp"
#include "file.hpp"
#include "nvdebug/surroundings.hpp"

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <dirent.h>
#include <fcntl.h>
#include <filesystem>
#include <linux/magic.h>
#include <sys/stat.h>
#include <sys/vfs.h>

namespace nvdebug {
namespace {

/// Far larger than the text of a runlist with every channel and everything below it.
constexpr std::size_t longest_file = std::size_t{256} << 20;

struct CloseFolder {
    void operator()(DIR *folder) const { ::closedir(folder); }
};

/// Returns whether the name leads out of the tree.
bool leaves(std::string_view name) {
    return name.starts_with('/') || name == ".." || name.starts_with("../") ||
           name.ends_with("/..") || name.find("/../") != name.npos || name.find('\0') != name.npos;
}

class FolderTree final : public Tree::Impl {
  public:
    Result<std::vector<std::string>> list(std::string_view folder) const override {
        const std::string where = path_in(*this, folder);
        if (leaves(folder))
            return tl::unexpected(cannot_read(*this, folder, ENOENT));
        const std::unique_ptr<DIR, CloseFolder> opened(::opendir(where.c_str()));
        if (!opened)
            return tl::unexpected(cannot_read(*this, folder, errno));
        std::vector<std::string> names;
        errno = 0;
        while (const dirent *const entry = ::readdir(opened.get()))
            if (entry->d_name[0] != '.')
                names.emplace_back(entry->d_name);
        if (errno)
            return tl::unexpected(cannot_read(*this, folder, errno));
        std::sort(names.begin(), names.end(), natural_less);
        return names;
    }

    Result<std::string> read(std::string_view name) const override {
        std::string text;
        if (const int error = read_to(name, text))
            return tl::unexpected(cannot_read(*this, name, error));
        return text;
    }

    bool readable(std::string_view name) const override {
        struct stat about {};
        const bool there = ::stat(path_in(*this, name).c_str(), &about) == 0;
        return there && S_ISREG(about.st_mode) && about.st_mode & (S_IRUSR | S_IRGRP | S_IROTH);
    }

  private:
    int read_to(std::string_view name, std::string &text) const {
        if (leaves(name))
            return ENOENT;
        // An entry that is not a file must not make open() wait.
        const Descriptor file(
            ::open(path_in(*this, name).c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
        if (!file)
            return errno;
        struct stat about {};
        if (::fstat(file.number(), &about))
            return errno;
        if (!S_ISREG(about.st_mode))
            return S_ISDIR(about.st_mode) ? EISDIR : EINVAL;
        return read_rest(file.number(), text, longest_file);
    }
};

/// Returns the error with an obstacle in front, if the machine has one that may hide the files.
Error not_found_here(Error error) {
    if (const std::string obstacle = first_obstacle(); !obstacle.empty())
        error.sentence = obstacle + " (" + error.sentence + ")";
    return error;
}

/// Returns whether the path is this machine's /proc, mounted or not.
bool is_proc(const std::string &path) {
    return std::filesystem::path(path).lexically_normal() / "" == "/proc/";
}

OpenedTree open_folder(const std::string &path, const Advice &advice) {
    struct stat about {};
    struct statfs system {};
    if (::stat(path.c_str(), &about) || ::statfs(path.c_str(), &system)) {
        Error error = cannot_open(path, errno);
        return tl::unexpected(is_proc(path) ? not_found_here(std::move(error)) : error);
    }
    if (!S_ISDIR(about.st_mode))
        return tl::unexpected(cannot_open(path, ENOTDIR));
    auto tree = std::make_shared<FolderTree>();
    tree->path = path;
    tree->advice = advice;
    tree->live = system.f_type == PROC_SUPER_MAGIC;
    tree->source = tree->live || is_proc(path) ? Source::module : Source::file;
    return tree;
}

} // namespace

Tree::Tree(std::shared_ptr<const Impl> impl) : impl_(std::move(impl)) {}

Result<Tree> Tree::folder(const std::string &path, const Advice &advice) {
    return open_folder(path, advice).map([](auto impl) { return Tree(std::move(impl)); });
}

Result<Tree> Tree::capture(const std::string &path, const Advice &advice) {
    return open_capture(path, advice).map([](auto impl) { return Tree(std::move(impl)); });
}

Result<Tree> Tree::capture(int descriptor, const Advice &advice) {
    return open_capture(descriptor, advice).map([](auto impl) { return Tree(std::move(impl)); });
}

Result<Tree> Tree::driver(const Advice &advice) {
    return driver::open_tree(driver::running_kernel(), advice)
        .map([](auto impl) { return Tree(std::move(impl)); })
        .map_error(not_found_here);
}

Result<Tree> Tree::running(const Advice &advice) {
    auto module = folder("/proc", advice);
    if (!module)
        return module;
    const auto names = module->list("");
    const bool loaded = names && std::ranges::any_of(*names, [](const std::string &name) {
                            return name.starts_with("gpu") && name.size() > 3 &&
                                   std::isdigit(static_cast<unsigned char>(name[3]));
                        });
    if (loaded)
        return module;
    auto other = driver(advice);
    return other ? other : module;
}

Result<Tree> Tree::open(const std::string &path, const Advice &advice) {
    struct stat about {};
    const bool is_folder = ::stat(path.c_str(), &about) == 0 && S_ISDIR(about.st_mode);
    return is_folder ? folder(path, advice) : capture(path, advice);
}

bool Tree::live() const {
    return impl_->live;
}

Source Tree::source() const {
    return impl_->source;
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

} // namespace nvdebug
