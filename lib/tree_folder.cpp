// SPDX-License-Identifier: MIT OR GPL-2.0
#include "descriptor.hpp"
#include "explain.hpp"
#include "natural_order.hpp"
#include "open_tree.hpp"

#include <algorithm>
#include <cerrno>
#include <dirent.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <sys/stat.h>
#include <sys/vfs.h>

namespace nvdebug {
namespace {

/** Far more than a runlist of every channel with all that is below it. */
constexpr std::size_t longest_file = std::size_t{256} << 20;

struct CloseFolder {
    void operator()(DIR *folder) const { ::closedir(folder); }
};

/** Does the name leave the tree? */
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
        // Something that is no file must not keep open() waiting.
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

} // namespace

OpenedTree open_folder(const std::string &path) {
    struct stat about {};
    struct statfs system {};
    if (::stat(path.c_str(), &about) || ::statfs(path.c_str(), &system))
        return tl::unexpected(cannot_open(path, errno));
    if (!S_ISDIR(about.st_mode))
        return tl::unexpected(cannot_open(path, ENOTDIR));
    auto tree = std::make_shared<FolderTree>();
    tree->path = path;
    tree->live = system.f_type == PROC_SUPER_MAGIC;
    return tree;
}

} // namespace nvdebug
