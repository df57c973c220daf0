// SPDX-License-Identifier: MIT OR GPL-2.0
#include "journal.hpp"

#include "lib/base/runtime_folder.hpp"
#include "lib/base/text.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <fcntl.h>
#include <filesystem>
#include <optional>
#include <string_view>
#include <sys/random.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace nvdebug::driver {
namespace {

constexpr std::string_view first_line = "nvdebug changes 1", last_line = "end";
constexpr std::string_view prefix = "changes-";
/// The states of a keeper. They have the same length, so that one can replace the other in the
/// text.
constexpr std::string_view holding = "holding", undoing = "undoing";
static_assert(holding.size() == undoing.size());
/// The digits of each number that is filled into the text later.
constexpr int digits = 20;
constexpr std::array<std::string_view, 4> kinds = {"channel", "timeslice", "interleave", "mode"};

/// Writes a number with `digits` digits. Async-signal-safe.
void put_digits(char *at, std::uint64_t value) {
    for (int n = digits; n > 0; n--, value /= 10)
        at[n - 1] = static_cast<char>('0' + value % 10);
}

/// Returns the PID namespace of this process; 0: unknown.
std::uint64_t own_namespace() {
    struct stat about {};
    return ::stat("/proc/self/ns/pid", &about) ? 0 : about.st_ino;
}

/// Returns when this process was started, in ticks; 0: unknown. Async-signal-safe.
std::uint64_t own_start() {
    constexpr int starttime = 22;
    const int file = ::open("/proc/self/stat", O_RDONLY | O_CLOEXEC);
    if (file < 0)
        return 0;
    char text[1024];
    const ssize_t got = ::read(file, text, sizeof(text));
    ::close(file);
    const std::string_view word = base::stat_field(
        std::string_view(text, static_cast<std::size_t>(std::max<ssize_t>(got, 0))), starttime);
    std::uint64_t ticks = 0;
    std::from_chars(word.data(), word.data() + word.size(), ticks);
    return ticks;
}

/// Writes the whole text. Returns 0 or the errno.
int write_all(int file, std::string_view text) {
    while (!text.empty()) {
        const ssize_t written = ::write(file, text.data(), text.size());
        if (written < 0 && errno == EINTR)
            continue;
        if (written <= 0)
            return written < 0 ? errno : EIO;
        text.remove_prefix(static_cast<std::size_t>(written));
    }
    return 0;
}

template <typename Params>
Params read_params(const Call &call) {
    Params params{};
    std::memcpy(&params, call.params.data(), std::min(sizeof(params), call.params.size()));
    return params;
}

/// Adds the values that a call restores.
void add_originals(Originals &originals, const Process &process, const Call &call) {
    const auto add = [&](Property::Kind kind, std::uint32_t object, std::uint64_t value) {
        originals[{kind, process.pid, process.started, call.client, object}] = value;
    };
    switch (call.command) {
    case rm::DisableChannels::command: {
        const auto all = read_params<rm::DisableChannels>(call);
        for (std::uint32_t n = 0; n < all.count; n++)
            add(Property::Kind::channel, all.channels[n], !all.disable);
        break;
    }
    case rm::SetTimeslice::command:
        add(Property::Kind::timeslice, call.object, read_params<rm::SetTimeslice>(call).us);
        break;
    case rm::SetInterleave::command:
        add(Property::Kind::interleave, call.object, read_params<rm::SetInterleave>(call).level);
        break;
    case rm::SetPreemptionMode::command: {
        const auto mode = read_params<rm::SetPreemptionMode>(call);
        add(Property::Kind::mode, mode.channel, mode.compute);
        break;
    }
    default:
        break;
    }
}

/// Returns a line up to its value: `timeslice 4711 12345 0xc1d00001 0x5c000012 `.
std::string begin_of_line(const Property &property) {
    return std::string(kinds.at(static_cast<std::size_t>(property.kind))) + " " +
           std::to_string(property.pid) + " " + std::to_string(property.started) + " " +
           hex(property.client) + " " + hex(property.object) + " ";
}

// --- reading ---

std::vector<std::string_view> words_of(std::string_view line) {
    std::vector<std::string_view> words;
    while (!line.empty())
        words.push_back(text::take_until(line, ' '));
    return words;
}

template <typename T>
bool take_number(std::string_view word, T &value) {
    int base = 10;
    if (text::take_prefix(word, "0x"))
        base = 16;
    const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), value, base);
    return !word.empty() && error == std::errc() && end == word.data() + word.size();
}

bool is_possible(Property::Kind kind, std::uint64_t value) {
    switch (kind) {
    case Property::Kind::channel:
        return value <= 1;
    case Property::Kind::timeslice:
        return value > 0;
    default:
        return value <= 2; // rm::Interleave::highest, and modes from WFI to CILP
    }
}

bool take_original(std::string_view line, Originals &originals) {
    const auto words = words_of(line);
    const auto kind = words.empty() ? kinds.end() : std::ranges::find(kinds, words[0]);
    Property property{};
    std::uint64_t value = 0;
    if (words.size() != 6 || kind == kinds.end() || !take_number(words[1], property.pid) ||
        !take_number(words[2], property.started) || !take_number(words[3], property.client) ||
        !take_number(words[4], property.object) || !take_number(words[5], value))
        return false;
    property.kind = static_cast<Property::Kind>(kind - kinds.begin());
    return is_possible(property.kind, value) && originals.emplace(property, value).second;
}

struct Parsed {
    FoundEntry entry;
    std::uint64_t of_namespace = 0;
};

/// Parses the text; empty: it is not a complete file of a helper.
std::optional<Parsed> parse_entry(std::string_view text) {
    Parsed parsed;
    const auto line = [&] { return text::take_until(text, '\n'); };
    if (!text.ends_with("\n") || line() != first_line)
        return std::nullopt;
    const auto keeper = words_of(line());
    if (keeper.size() != 5 || keeper[0] != "keeper" ||
        (keeper[4] != holding && keeper[4] != undoing) ||
        !take_number(keeper[1], parsed.entry.keeper.pid) ||
        !take_number(keeper[2], parsed.entry.keeper.started) ||
        !take_number(keeper[3], parsed.of_namespace))
        return std::nullopt;
    parsed.entry.is_undoing = keeper[4] == undoing;
    const auto gpu = words_of(line());
    if (gpu.size() != 2 || gpu[0] != "gpu")
        return std::nullopt;
    parsed.entry.gpu = gpu[1];
    for (;;) {
        const std::string_view next = line();
        if (next == last_line)
            return text.empty() ? std::optional(std::move(parsed)) : std::nullopt;
        if (!take_original(next, parsed.entry.originals))
            return std::nullopt;
    }
}

/// Reads a small file that no other user can have written; empty: the file is of another kind.
std::optional<std::string> read_own(const std::string &path) {
    constexpr off_t longest = 16 << 20;
    const int file = ::open(path.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    if (file < 0)
        return std::nullopt;
    std::optional<std::string> text;
    struct stat about {};
    if (::fstat(file, &about) == 0 && S_ISREG(about.st_mode) && about.st_size <= longest &&
        about.st_uid == ::geteuid() && !(about.st_mode & (S_IWGRP | S_IWOTH))) {
        text.emplace(static_cast<std::size_t>(about.st_size), '\0');
        std::size_t at = 0;
        while (at < text->size()) {
            const ssize_t got = ::read(file, text->data() + at, text->size() - at);
            if (got <= 0)
                break;
            at += static_cast<std::size_t>(got);
        }
        text->resize(at);
    }
    ::close(file);
    return text;
}

} // namespace

JournalEntry::JournalEntry(const std::string &gpu, const std::vector<Process> &processes,
                           std::initializer_list<const std::vector<Call> *> undo) {
    std::uint64_t random = 0;
    static_cast<void>(!::getrandom(&random, sizeof(random), 0));
    name_ = std::string(prefix) + hex(random).substr(2);
    temporary_ = "." + name_;
    const std::string folder = std::string(base::runtime_folder) + "/";
    path_ = folder + name_;
    temporary_path_ = folder + temporary_;
    text_ = std::string(first_line) + "\nkeeper ";
    keeper_at_ = text_.size();
    text_ += std::string(digits, '0') + " " + std::string(digits, '0') + " " +
             std::to_string(own_namespace()) + " ";
    state_at_ = text_.size();
    text_ += std::string(holding) + "\ngpu " + gpu + "\n";
    for (const std::vector<Call> *const calls : undo)
        for (const Call &call : *calls) {
            Originals originals;
            add_originals(originals, processes[call.process], call);
            for (const auto &[property, value] : originals) {
                is_empty_ = false;
                const std::string begin = begin_of_line(property);
                text_ += begin;
                if (property.kind == Property::Kind::timeslice) {
                    timeslices_at_.push_back(text_.size());
                    timeslices_.push_back("\n" + begin);
                    text_.append(digits, '0');
                    put_digits(text_.data() + text_.size() - digits, value);
                } else {
                    text_ += std::to_string(value);
                }
                text_ += "\n";
            }
        }
    text_ += std::string(last_line) + "\n";
}

int JournalEntry::write_text() const {
    if (const int error = base::make_private_folder(base::runtime_folder))
        return error;
    ::unlink(temporary_path_.c_str());
    const int file =
        ::open(temporary_path_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC,
               S_IRUSR | S_IWUSR);
    if (file < 0)
        return errno;
    int error = write_all(file, text_);
    if (::close(file) && !error)
        error = errno;
    if (!error && ::rename(temporary_path_.c_str(), path_.c_str()))
        error = errno;
    if (error)
        ::unlink(temporary_path_.c_str());
    return error;
}

int JournalEntry::write() {
    if (is_empty_)
        return 0;
    put_digits(text_.data() + keeper_at_, static_cast<std::uint64_t>(::getpid()));
    put_digits(text_.data() + keeper_at_ + digits + 1, own_start());
    const int error = write_text();
    // Other users have no such folder, and change only their own processes.
    return ::geteuid() && (error == EACCES || error == EPERM || error == EROFS) ? 0 : error;
}

void JournalEntry::set_timeslice(std::size_t n, std::uint64_t us) {
    put_digits(text_.data() + timeslices_at_[n], us);
    static_cast<void>(write_text()); // on failure the file keeps the previous value
}

void JournalEntry::set_undoing() {
    if (is_empty_)
        return;
    undoing.copy(text_.data() + state_at_, undoing.size());
    static_cast<void>(write_text());
}

/// Returns whether a file has a line that begins with @p begin, which includes the preceding line
/// break.
bool JournalEntry::has_line(int folder, const char *name, const std::string &begin) const {
    const int file = ::openat(folder, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    if (file < 0)
        return false;
    char text[8192];
    std::size_t kept = 0; // bytes from the previous read, which may end within @p begin
    bool found = false;
    for (;;) {
        const ssize_t got = ::read(file, text + kept, sizeof(text) - kept);
        if (got <= 0)
            break;
        const std::size_t length = kept + static_cast<std::size_t>(got);
        found = std::string_view(text, length).find(begin) != std::string_view::npos;
        if (found)
            break;
        kept = std::min(length, begin.size() - 1);
        std::memmove(text, text + length - kept, kept);
    }
    ::close(file);
    return found;
}

bool JournalEntry::is_elsewhere(std::size_t n) const {
    const int folder = ::open(base::runtime_folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (folder < 0)
        return false;
    // linux_dirent64 of getdents64(2): 64 bits each for inode and offset, 16 for the length.
    constexpr std::size_t length_at = 16, name_at = 19;
    alignas(8) char entries[4096];
    bool found = false;
    for (long got;
         !found && (got = ::syscall(SYS_getdents64, folder, entries, sizeof(entries))) > 0;) {
        std::uint16_t length = 0;
        for (long at = 0; !found && at < got; at += length) {
            std::memcpy(&length, entries + at + length_at, sizeof(length));
            const char *const name = entries + at + name_at;
            found = std::string_view(name).starts_with(prefix) && name != name_ &&
                    has_line(folder, name, timeslices_[n]);
        }
    }
    ::close(folder);
    return found;
}

void JournalEntry::remove() const {
    if (!is_empty_)
        ::unlink(path_.c_str());
}

Error not_written(int number) {
    return {code_of_errno(number), number, base::runtime_folder,
            std::string("the change cannot be written down in ") + base::runtime_folder + " (" +
                ::strerrordesc_np(number) +
                "), so that nobody could undo it if this program were killed, and nothing was "
                "changed; the folder must be root's, on a file system that has room and can be "
                "written to"};
}

Result<Journal> read_journal() {
    Journal journal;
    std::error_code error;
    std::vector<std::string> paths;
    for (std::filesystem::directory_iterator at(base::runtime_folder, error), end;
         !error && at != end; at.increment(error))
        if (at->path().filename().native().starts_with(prefix))
            paths.push_back(at->path());
    if (error && error.value() != ENOENT)
        return tl::unexpected(
            Error{code_of_errno(error.value()), error.value(), base::runtime_folder,
                  std::string("changes that are to be undone cannot be looked for in ") +
                      base::runtime_folder + " (" + ::strerrordesc_np(error.value()) + ")"});
    std::ranges::sort(paths);
    const std::uint64_t here = own_namespace();
    for (const std::string &path : paths) {
        const auto text = read_own(path);
        if (!text && ::access(path.c_str(), F_OK))
            continue; // its helper has removed the file
        auto parsed = text ? parse_entry(*text) : std::nullopt;
        if (!parsed) {
            journal.troubles.push_back(text::printable(path) +
                                       " is no whole list of changes, so that nothing of it is "
                                       "undone: look at it, and remove it");
        } else if (parsed->of_namespace == here) {
            parsed->entry.path = path;
            journal.entries.push_back(std::move(parsed->entry));
        }
    }
    return journal;
}

} // namespace nvdebug::driver
