// SPDX-License-Identifier: MIT OR GPL-2.0
#include "capture_format.hpp"
#include "descriptor.hpp"
#include "explain.hpp"
#include "natural_order.hpp"
#include "open_tree.hpp"

#include <algorithm>
#include <cerrno>
#include <fcntl.h>
#include <set>
#include <sys/stat.h>
#include <zlib.h>

namespace nvdebug {
namespace {

/** Bytes of JSON: more than the largest GPUs with every channel in use give (capture.hpp). */
constexpr std::size_t longest_capture = std::size_t{256} << 20;

struct CloseGzip {
    void operator()(gzFile file) const { ::gzclose(file); }
};

class CaptureTree final : public Tree::Impl {
  public:
    CaptureTree(std::string from, CaptureContent content)
        : files_(std::move(content.files)), errors_(std::move(content.errors)) {
        path = std::move(from);
        facts = std::move(content.facts);
    }

    Result<std::vector<std::string>> list(std::string_view folder) const override {
        std::set<std::string> found;
        for (const auto &[name, text] : files_)
            add(folder, name, found);
        for (const auto &[name, error] : errors_)
            add(folder, name, found);
        if (found.empty() && !folder.empty())
            return tl::unexpected(cannot_read(*this, folder, ENOENT));
        std::vector<std::string> names(found.begin(), found.end());
        std::sort(names.begin(), names.end(), natural_less);
        return names;
    }

    Result<std::string> read(std::string_view name) const override {
        const std::string key(name);
        if (const auto file = files_.find(key); file != files_.end())
            return file->second;
        const auto error = errors_.find(key);
        return tl::unexpected(
            cannot_read(*this, name, error == errors_.end() ? ENOENT : error->second));
    }

    bool readable(std::string_view name) const override {
        const std::string key(name);
        return files_.contains(key) || errors_.contains(key);
    }

  private:
    /** The component of @p name that is in @p folder, if it is below that. */
    static void add(std::string_view folder, std::string_view name, std::set<std::string> &to) {
        if (!folder.empty()) {
            if (!name.starts_with(folder) || !name.substr(folder.size()).starts_with('/'))
                return;
            name.remove_prefix(folder.size() + 1);
        }
        to.emplace(name.substr(0, name.find('/')));
    }

    std::map<std::string, std::string> files_;
    std::map<std::string, int> errors_;
};

/** @returns the errno, 0, or EBADMSG if the compression is damaged. */
int inflate_file(const std::string &path, std::string &json) {
    constexpr unsigned buffer = 128 * 1024;
    // A pipe must not block the opening; what it is, is asked of what was opened.
    Descriptor opened(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
    if (!opened)
        return errno;
    struct stat about {};
    if (::fstat(opened.number(), &about))
        return errno;
    if (S_ISDIR(about.st_mode))
        return EISDIR;
    if (!S_ISREG(about.st_mode))
        return EINVAL;
    const std::unique_ptr<gzFile_s, CloseGzip> file(::gzdopen(opened.number(), "rb"));
    if (!file)
        return ENOMEM;
    opened.release();
    ::gzbuffer(file.get(), buffer);
    for (;;) {
        const std::size_t have = json.size();
        if (have > longest_capture)
            return EFBIG;
        json.resize(have + buffer);
        errno = 0;
        const int got = ::gzread(file.get(), json.data() + have, buffer);
        json.resize(have + static_cast<std::size_t>(std::max(got, 0)));
        int error = Z_OK;
        ::gzerror(file.get(), &error);
        if (got < 0 || error == Z_BUF_ERROR)
            return error == Z_ERRNO && errno ? errno : EBADMSG;
        if (got == 0)
            return 0;
    }
}

} // namespace

OpenedTree open_capture(const std::string &path) {
    std::string json;
    const int error = inflate_file(path, json);
    if (error == EBADMSG)
        return tl::unexpected(Error{ErrorCode::malformed, 0, path,
                                    path + " is damaged or was cut off: its compression makes no "
                                           "sense; make another capture"});
    if (error)
        return tl::unexpected(cannot_open(path, error));
    return capture_from_json(json, path).map([&](CaptureContent content) {
        return std::shared_ptr<const Tree::Impl>(
            std::make_shared<CaptureTree>(path, std::move(content)));
    });
}

} // namespace nvdebug
