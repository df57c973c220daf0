// SPDX-License-Identifier: MIT OR GPL-2.0
#include "capture.hpp"
#include "error.hpp"
#include "file.hpp"
#include "lib/base/packing.hpp"
#include "lib/base/text.hpp"
#include "nvdebug/capture.hpp"
#include "nvdebug/gpu.hpp"
#include "nvdebug/surroundings.hpp"
#include "tree_impl.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <ctime>
#include <fcntl.h>
#include <nlohmann/json.hpp>
#include <poll.h>
#include <set>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <zlib.h>

namespace nvdebug {
namespace {

using Json = nlohmann::json;

constexpr const char *format = "nvdebug-capture";
constexpr int version = 1;

Error no_capture(const std::string &path, const std::string &why) {
    return {ErrorCode::malformed, 0, path, path + " is no capture: " + why};
}

/// Returns the strings of an object by name. Other values are additions of a newer version and
/// skipped.
std::map<std::string, std::string> strings(const Json &capture, const char *key) {
    std::map<std::string, std::string> found;
    const auto object = capture.find(key);
    if (object != capture.end() && object->is_object())
        for (const auto &[name, value] : object->items())
            if (value.is_string())
                found.emplace(name, value.get_ref<const std::string &>());
    return found;
}

} // namespace

std::string to_json(const CaptureContent &content) {
    Json errors = Json::object();
    for (const auto &[name, number] : content.errors)
        errors[name] = errno_name(number);
    const Json capture = {{"format", format},       {"version", version}, {"facts", content.facts},
                          {"files", content.files}, {"errors", errors},   {"words", content.words}};
    return capture.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";
}

Result<CaptureContent> capture_from_json(const std::string &json, const std::string &path) {
    // All known values are less deep. Deeper ones are dropped while parsing, so that hostile
    // nesting takes no memory.
    const auto shallow = [](int depth, Json::parse_event_t, Json &) { return depth <= 2; };
    const Json capture = Json::parse(json, shallow, false);
    if (json.empty())
        return tl::unexpected(no_capture(path, "it is empty"));
    if (!capture.is_object())
        return tl::unexpected(no_capture(path, "it is no JSON object, or was cut off"));
    if (capture.value("format", Json()) != format)
        return tl::unexpected(no_capture(path, "'format' is not 'nvdebug-capture'"));
    if (capture.value("version", Json()) != version)
        return tl::unexpected(Error{ErrorCode::unsupported, 0, path,
                                    path + " is a capture of a version that this library does not "
                                           "read (it reads 1); use a newer one"});
    CaptureContent content;
    content.facts = strings(capture, "facts");
    content.files = strings(capture, "files");
    content.words = strings(capture, "words");
    for (const auto &[name, error] : strings(capture, "errors")) {
        const int number = errno_of_name(error);
        if (!number)
            return tl::unexpected(
                no_capture(path, "the error of '" + text::quote(name) + "' is no errno"));
        content.errors.emplace(name, number);
    }
    return content;
}

namespace {

/// Limit of a capture's JSON in bytes, above the size for the largest GPUs with every channel in
/// use (capture.hpp).
constexpr std::size_t longest_capture = std::size_t{256} << 20;

struct CloseGzip {
    void operator()(gzFile file) const { ::gzclose(file); }
};

class CaptureTree final : public Tree::Impl {
  public:
    CaptureTree(std::string from, CaptureContent content, const Advice &to)
        : files_(std::move(content.files)), errors_(std::move(content.errors)),
          words_(std::move(content.words)) {
        path = std::move(from);
        advice = to;
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

    std::map<std::string, std::string> words() const override { return words_; }

  private:
    /// Adds the part of @p name directly below @p folder, if @p name is below it.
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
    std::map<std::string, std::string> words_;
};

/// Waits until a pipe has a writer, as a blocking open() would. @returns 0 or the errno
int wait_for_writer(int pipe) {
    pollfd readable{pipe, POLLIN, 0};
    while (::poll(&readable, 1, -1) < 0)
        if (errno != EINTR)
            return errno;
    return ::fcntl(pipe, F_SETFL, 0) ? errno : 0;
}

/// Uncompresses a file into @p json. @returns 0, the errno, or EBADMSG if the compression is
/// damaged.
int inflate(Descriptor opened, std::string &json) {
    constexpr unsigned buffer = 128 * 1024;
    if (!opened)
        return errno;
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

int inflate_file(const std::string &path, std::string &json) {
    // The file is opened without waiting and without acting on a device, and its kind is checked
    // then.
    Descriptor opened(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
    if (!opened)
        return errno;
    struct stat about {};
    if (::fstat(opened.number(), &about))
        return errno;
    if (S_ISDIR(about.st_mode))
        return EISDIR;
    if (!S_ISREG(about.st_mode) && !S_ISFIFO(about.st_mode))
        return EINVAL;
    if (S_ISFIFO(about.st_mode))
        if (const int error = wait_for_writer(opened.number()))
            return error;
    return inflate(std::move(opened), json);
}

/// @param error the errno of reading @p json
OpenedTree make_tree(const std::string &path, const std::string &json, int error,
                     const Advice &advice) {
    if (error == EBADMSG)
        return tl::unexpected(Error{ErrorCode::malformed, 0, path,
                                    path + " is damaged or was cut off: it cannot be unpacked; "
                                           "make another capture"});
    if (error)
        return tl::unexpected(cannot_open(path, error));
    if (const auto refused = base::packing_refused(json))
        return tl::unexpected(Error{ErrorCode::malformed, 0, path, path + " " + *refused});
    return capture_from_json(json, path)
        .map([&](CaptureContent content) {
            return std::shared_ptr<const Tree::Impl>(
                std::make_shared<CaptureTree>(path, std::move(content), advice));
        })
        .map_error([&](Error why) {
            if (why.code == ErrorCode::malformed)
                why.sentence += advised("; make one with '$'", advice.capture);
            return why;
        });
}

} // namespace

OpenedTree open_capture(const std::string &path, const Advice &advice) {
    std::string json;
    const int error = inflate_file(path, json);
    return make_tree(path, json, error, advice);
}

OpenedTree open_capture(int descriptor, const Advice &advice) {
    std::string json;
    const int error = inflate(Descriptor(::dup(descriptor)), json);
    return make_tree("standard input", json, error, advice);
}

namespace {

std::string now() {
    std::array<char, sizeof("2026-01-31T12:00:00Z") + 8> text{};
    const std::time_t seconds = std::time(nullptr);
    std::tm utc{};
    ::gmtime_r(&seconds, &utc);
    std::strftime(text.data(), text.size(), "%Y-%m-%dT%H:%M:%SZ", &utc);
    return text.data();
}

/// Returns the version of the loaded module, or else the hash of its source.
std::string module_version() {
    constexpr std::size_t longest = 256;
    for (const char *const file : {"version", "srcversion"}) {
        const std::string path = std::string("/sys/module/nvdebug/") + file;
        const Descriptor opened(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
        std::string text;
        if (opened && read_rest(opened.number(), text, longest) == 0)
            return text.substr(0, text.find('\n'));
    }
    return "unknown";
}

/// Returns when and where the capture is made. A capture of a capture keeps the facts of the first
/// one.
std::map<std::string, std::string> facts_about(const Tree &tree) {
    std::map<std::string, std::string> facts = tree.facts();
    if (tree.source() == Source::file && !facts.empty())
        return facts;
    facts["captured_at"] = now();
    facts["library"] = NVDEBUG_VERSION;
    utsname kernel{};
    if (tree.source() != Source::file && ::uname(&kernel) == 0)
        facts["kernel"] = kernel.release;
    if (tree.live())
        facts["module"] = module_version();
    return facts;
}

/// Returns whether the error does not depend on the reader, so that the capture records it.
bool is_kept(int number) {
    return number == ENODEV || number == EIO || number == EOPNOTSUPP;
}

/// Returns whether the error is an answer in itself: this PCE or GRCE serves no LCE.
bool says_none(std::string_view file, int number) {
    return number == ENODEV &&
           (file.starts_with("lce_for_pce") || file.starts_with("shared_lce_for_grce"));
}

Result<std::vector<std::string>> folders_of(const Tree &tree) {
    return gpus(tree).map([](const std::vector<Gpu> &found) {
        std::vector<std::string> folders;
        for (const Gpu &gpu : found)
            folders.push_back(gpu.folder());
        return folders;
    });
}

void capture_file(const Tree &tree, const std::string &folder, const std::string &file,
                  CaptureContent &content, CaptureReport &report) {
    const std::string name = folder + "/" + file;
    auto text = tree.read(name);
    if (std::string words = tree.impl().record(name); !words.empty())
        content.words.emplace(name, std::move(words));
    if (text) {
        content.files.emplace(name, std::move(*text));
        report.files++;
        return;
    }
    const int number = text.error().number;
    if (is_kept(number))
        content.errors.emplace(name, number);
    if (!says_none(file, number))
        report.failed.push_back(std::move(text.error()));
}

/// Writes all readable files with @p write, which returns the errno. Errors name @p path.
template <typename Write>
Result<CaptureReport> write_with(const Tree &tree, const std::vector<std::string> &gpus,
                                 const std::string &path, Write write) {
    CaptureContent content;
    content.facts = facts_about(tree);
    CaptureReport report{};
    const auto folders = gpus.empty() ? folders_of(tree) : gpus;
    if (!folders)
        return tl::unexpected(folders.error());
    for (const std::string &folder : *folders) {
        const auto files = tree.list(folder);
        if (!files)
            return tl::unexpected(files.error());
        // The folder's record has the words that identified the GPU.
        if (std::string words = tree.impl().record(folder); !words.empty())
            content.words.emplace(folder, std::move(words));
        // A GPU that NVIDIA's driver does not open has few files, and no error of the others.
        if (tree.source() == Source::driver && !std::ranges::count(*files, "engines"))
            if (auto why = tree.read(folder + "/engines");
                !why && why.error().code != ErrorCode::not_found)
                report.failed.push_back(std::move(why.error()));
        for (const std::string &file : *files)
            if (!answers(file) && tree.impl().readable(folder + "/" + file))
                capture_file(tree, folder, file, content, report);
    }
    if (content.files.empty()) {
        const std::string obstacle = tree.source() == Source::file ? "" : first_obstacle();
        return tl::unexpected(Error{
            ErrorCode::not_found, 0, path,
            !obstacle.empty() ? obstacle
                              : "there is nothing to capture below " + tree.path() +
                                    ": it has no GPU, or none of the files may be read" +
                                    advised("; '$' says which", tree.impl().advice.diagnose)});
    }
    if (const int error = write(to_json(content)))
        return tl::unexpected(cannot_write(path, error));
    return report;
}

} // namespace

Result<CaptureReport> write_capture(const Tree &tree, const std::vector<std::string> &gpus,
                                    const std::string &path) {
    return write_with(tree, gpus, path,
                      [&](const std::string &json) { return write_whole_gzip(path, json); });
}

Result<CaptureReport> write_capture(const Tree &tree, const std::vector<std::string> &gpus,
                                    int descriptor) {
    return write_with(tree, gpus, "standard output",
                      [&](const std::string &json) { return write_gzip(descriptor, json); });
}

} // namespace nvdebug
