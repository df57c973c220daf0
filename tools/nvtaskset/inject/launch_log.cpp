// SPDX-License-Identifier: MIT OR GPL-2.0
#include "launch_log.hpp"

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <dlfcn.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <new>
#include <string_view>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <utility>

#include "lib/partition/page.hpp"

namespace nvtaskset {
namespace {

constexpr long period_ns = 50'000'000;
/// Longer names are cut. A line with one has to fit into the text.
constexpr std::size_t longest_name = 4000;

/// The launch that the thread is in. Where CUDA makes it by calling another of its functions, the
/// inner call counts.
struct OpenLaunch {
    std::uint32_t id; ///< of the function; 0: the thread is in no launch
    std::uint64_t begin_ns;
};
constinit thread_local OpenLaunch open_launch{};
constinit thread_local std::uint32_t thread_number = 0;

LaunchLog *log_of_process;

std::uint64_t clock_ns(clockid_t clock) {
    timespec now{};
    clock_gettime(clock, &now);
    return static_cast<std::uint64_t>(now.tv_sec) * 1'000'000'000 +
           static_cast<std::uint64_t>(now.tv_nsec);
}

bool is_launch(std::uint32_t id) {
    switch (id) {
    case hooks::launch_kernel:
    case hooks::launch_kernel_ptsz:
    case hooks::launch_cooperative:
    case hooks::launch_cooperative_ptsz:
    case hooks::launch_ex:
    case hooks::launch_ex_ptsz:
    case hooks::graph_launch:
    case hooks::graph_launch_ptsz:
        return true;
    default:
        return false;
    }
}

/// Returns true if the function may unload modules.
bool is_unload(std::uint32_t id) {
    return id == hooks::module_unload || id == hooks::library_unload || id == hooks::ctx_destroy ||
           std::ranges::count(hooks::primary_ends, static_cast<int>(id));
}

/// Returns a function of the C library. pthread_create() and pthread_join() were in a library of
/// their own before C library 2.34, which CUDA has loaded by then.
template <typename Function>
Function *find(const char *name) {
    void *const threads = dlopen("libpthread.so.0", RTLD_NOW);
    return reinterpret_cast<Function *>(dlsym(threads ? threads : RTLD_DEFAULT, name));
}

/// Returns a name of C++ as people write it, or nullptr if it is none, or if the process has not
/// loaded the C++ library. The caller frees it. It is done here and not by the reader, because a
/// short name may stand for an endless one.
char *demangled(const char *name) {
    using Demangle = char *(const char *, char *, std::size_t *, int *);
    if (!std::string_view(name).starts_with("_Z"))
        return nullptr;
    void *const library = dlopen("libstdc++.so.6", RTLD_NOW | RTLD_NOLOAD);
    void *const function = library ? dlsym(library, "__cxa_demangle") : nullptr;
    return function ? reinterpret_cast<Demangle *>(function)(name, nullptr, nullptr, nullptr)
                    : nullptr;
}

} // namespace

/// Returns the identity of an open file. fstat() would need C library 2.33.
std::optional<LaunchLog::File> LaunchLog::about(int descriptor) {
    struct statx found {};
    if (statx(descriptor, "", AT_EMPTY_PATH | AT_STATX_DONT_SYNC, STATX_INO, &found))
        return std::nullopt;
    return File{found.stx_dev_major, found.stx_dev_minor, found.stx_ino};
}

LaunchLog *LaunchLog::start(const cuda::Library &cuda, const char *folder) {
    const auto fail = [](const char *what, const char *where) -> LaunchLog * {
        std::fprintf(stderr, "nvtaskset: process %d: its launches are not noted: %s%s: %s\n",
                     getpid(), what, where, std::strerror(errno));
        return nullptr;
    };
    // MAP_POPULATE gives the log all of its pages now, so that no launch has to wait for one.
    void *const memory = mmap(nullptr, sizeof(LaunchLog), PROT_READ | PROT_WRITE,
                              MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
    if (memory == MAP_FAILED)
        return fail("no memory", "");
    auto *const log = new (memory) LaunchLog(cuda);
    if (!log->open_file(folder))
        return fail("cannot make a file in ", folder);
    auto *const create = find<decltype(pthread_create)>("pthread_create");
    log->join_ = find<decltype(pthread_join)>("pthread_join");
    sigset_t all, before;
    sigfillset(&all);
    // The program's signals are not for this thread. sigprocmask() changes the calling thread.
    sigprocmask(SIG_SETMASK, &all, &before);
    errno = create && log->join_ ? create(&log->thread_, nullptr, run, log) : ENOSYS;
    const int error = errno;
    sigprocmask(SIG_SETMASK, &before, nullptr);
    errno = error;
    if (error)
        return fail("no thread", "");
    log_of_process = log;
    std::atexit(finish);
    return log;
}

/// Makes the file and writes its first line.
bool LaunchLog::open_file(const char *folder) {
    const std::uint64_t now = clock_ns(CLOCK_MONOTONIC);
    const std::uint64_t realtime = clock_ns(CLOCK_REALTIME), boottime = clock_ns(CLOCK_BOOTTIME);
    char path[4096];
    const int length = std::snprintf(path, sizeof(path), "%s/%d-%020llu.launches", folder, getpid(),
                                     static_cast<unsigned long long>(now));
    if (length >= static_cast<int>(sizeof(path))) {
        errno = ENAMETOOLONG;
        return false;
    }
    file_ = ::open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    file_ = file_ < 0 ? -1 : lift(file_);
    const auto made = file_ < 0 ? std::nullopt : about(file_);
    if (!made)
        return false;
    made_ = *made;
    origin_ns_ = now;
    char command[32] = {};
    const int comm = ::open("/proc/self/comm", O_RDONLY | O_CLOEXEC);
    const ssize_t got = comm < 0 ? 0 : read(comm, command, sizeof(command) - 1);
    if (comm >= 0)
        close(comm);
    command[std::max<ssize_t>(got - 1, 0)] = 0;
    add("{\"kind\":\"launches\",\"version\":\"1.0\"");
    add_number("pid", static_cast<std::uint64_t>(getpid()));
    add_text("process", command);
    for (const auto &[key, ns] :
         {std::pair("monotonic_ns", now), {"realtime_ns", realtime}, {"boottime_ns", boottime}}) {
        char text[24] = {};
        std::to_chars(text, text + sizeof(text), ns);
        add_text(key, text);
    }
    add("}\n");
    return flush();
}

void LaunchLog::before(const hooks::Api &call) {
    if (is_launch(call.id)) {
        open_launch = {call.id, clock_ns(CLOCK_MONOTONIC)};
    } else if (is_unload(call.id)) {
        names_.unloaded();
    }
}

void LaunchLog::after(const hooks::Api &call) {
    if (open_launch.id != call.id || !is_launch(call.id))
        return;
    open_launch.id = 0;
    if (*call.result == cuda::success)
        put(call, open_launch.begin_ns);
}

void LaunchLog::put(const hooks::Api &call, std::uint64_t begin_ns) {
    const std::uint64_t took = clock_ns(CLOCK_MONOTONIC) - begin_ns;
    if (!thread_number)
        thread_number = static_cast<std::uint32_t>(syscall(SYS_gettid));
    Launch launch{.begin_ns = begin_ns,
                  .took_ns = static_cast<std::uint32_t>(std::min<std::uint64_t>(took, UINT32_MAX)),
                  .kernel = 0,
                  .graph = nullptr,
                  .context = call.context,
                  .stream = nullptr,
                  .thread = thread_number,
                  .grid_yz = {},
                  .grid_x = 0,
                  .block = {}};
    const auto take = [&](cuda::Handle function, const auto &from) {
        launch.kernel = names_.number(function);
        launch.stream = from.stream;
        launch.grid_x = from.grid[0];
        for (std::size_t n = 0; n < 2; n++)
            launch.grid_yz[n] = static_cast<std::uint16_t>(from.grid[n + 1]);
        for (std::size_t n = 0; n < 3; n++)
            launch.block[n] = static_cast<std::uint16_t>(from.block[n]);
    };
    if (call.id == hooks::launch_ex || call.id == hooks::launch_ex_ptsz) {
        const auto &made = *static_cast<const hooks::ExArguments *>(call.arguments);
        take(made.function, *made.config);
    } else if (call.id == hooks::graph_launch || call.id == hooks::graph_launch_ptsz) {
        const auto &made = *static_cast<const hooks::GraphLaunchArguments *>(call.arguments);
        launch.graph = made.exec;
        launch.stream = made.stream;
    } else {
        const auto &made = *static_cast<const hooks::KernelArguments *>(call.arguments);
        take(made.function, made);
    }
    if (!ring_.put(launch))
        lost_.fetch_add(1, std::memory_order_relaxed);
}

// --- the thread ---

void *LaunchLog::run(void *of) {
    auto &log = *static_cast<LaunchLog *>(of);
    constexpr timespec period{0, period_ns};
    for (bool ends = false; !ends; log.write_waiting()) {
        syscall(SYS_futex, &log.ends_, FUTEX_WAIT_PRIVATE, 0, &period, nullptr, 0);
        ends = log.ends_;
    }
    return nullptr;
}

/// Has the thread write everything at the end of the process. It is the thread that writes, since
/// a write beyond the limit of file sizes would end a process that does not block SIGXFSZ.
void LaunchLog::finish() {
    LaunchLog *const log = log_of_process;
    // A child that did not execute another program has no such thread, and cannot use CUDA.
    if (log->process_ != getpid())
        return;
    log->ends_ = 1;
    syscall(SYS_futex, &log->ends_, FUTEX_WAKE_PRIVATE, 1, nullptr, nullptr, 0);
    log->join_(log->thread_, nullptr);
}

void LaunchLog::write_waiting() {
    // The number of steps is limited, because other threads go on filling the ring.
    for (std::size_t n = 0; n < most_waiting; n++) {
        if (!holds_)
            holds_ = ring_.take(held_);
        if (!holds_)
            break;
        while (names_written_ < held_.kernel) {
            if (!has_room())
                return;
            add_name(++names_written_);
        }
        if (!has_room())
            return;
        add_launch(held_);
        holds_ = false;
    }
    if (const std::uint64_t lost = lost_; lost != lost_written_ && has_room()) {
        add("{\"kind\":\"lost\"");
        add_number("launches", lost - lost_written_);
        add("}\n");
        lost_written_ = lost;
    }
    flush();
}

/// Returns true if the text has room for a line. Returns false if the file takes no more at the
/// moment; then launches stay in the ring.
bool LaunchLog::has_room() {
    return used_ <= text_.size() / 2 || flush();
}

void LaunchLog::add_name(std::uint32_t number) {
    const char *const name = names_.name(number);
    char *const readable = demangled(name);
    add("{\"kind\":\"kernel\"");
    add_number("kernel", number);
    add_text("name", readable ? readable : name);
    add("}\n");
    std::free(readable);
}

void LaunchLog::add_launch(const Launch &launch) {
    const auto address = [](cuda::Handle handle) {
        return static_cast<std::uint64_t>(reinterpret_cast<std::uintptr_t>(handle));
    };
    add("{\"kind\":\"launch\"");
    add_number("ns", launch.begin_ns - origin_ns_);
    add_number("took_ns", launch.took_ns);
    add_number("thread", launch.thread);
    add_number("context", address(launch.context));
    add_number("stream", address(launch.stream));
    if (launch.graph) {
        add_number("graph", address(launch.graph));
    } else {
        add_number("kernel", launch.kernel);
        add_sizes("grid", {launch.grid_x, launch.grid_yz[0], launch.grid_yz[1]});
        add_sizes("block", {launch.block[0], launch.block[1], launch.block[2]});
    }
    add("}\n");
}

void LaunchLog::add(std::string_view text) {
    used_ += text.copy(text_.data() + used_, text_.size() - used_);
}

void LaunchLog::add_number(const char *key, std::uint64_t number) {
    char text[24];
    const char *const end = std::to_chars(text, text + sizeof(text), number).ptr;
    add(",\"");
    add(key);
    add("\":");
    add({text, static_cast<std::size_t>(end - text)});
}

void LaunchLog::add_sizes(const char *key, const std::array<std::uint32_t, 3> &sizes) {
    add(",\"");
    add(key);
    add("\":");
    for (std::size_t n = 0; n < sizes.size(); n++) {
        char text[16] = {n ? ',' : '['};
        const char *const end = std::to_chars(text + 1, text + sizeof(text), sizes[n]).ptr;
        add({text, static_cast<std::size_t>(end - text)});
    }
    add("]");
}

/// Adds a text of which JSON can have each character. Others are replaced by a question mark.
void LaunchLog::add_text(const char *key, std::string_view text) {
    add(",\"");
    add(key);
    add("\":\"");
    for (const char letter : text.substr(0, longest_name)) {
        if (letter == '"' || letter == '\\')
            add("\\");
        add({letter < ' ' || letter > '~' ? "?" : &letter, 1});
    }
    add("\"");
}

/// Writes the text. Returns false if some of it is left.
bool LaunchLog::flush() {
    std::size_t done = 0;
    while (done < used_) {
        // A program that closes all of its descriptors may get this one for another file.
        const bool is_own = is_own_file();
        const ssize_t written = is_own ? write(file_, text_.data() + done, used_ - done) : -1;
        if (written > 0) {
            done += static_cast<std::size_t>(written);
        } else if (!is_own || errno != EINTR) {
            if (!std::exchange(complained_, true))
                std::fprintf(stderr,
                             "nvtaskset: process %d: its launches cannot be written: %s; those "
                             "that do not fit into memory are lost\n",
                             getpid(),
                             is_own ? std::strerror(errno) : "the program closed the file");
            break;
        }
    }
    std::memmove(text_.data(), text_.data() + done, used_ - done);
    used_ -= done;
    return !used_;
}

bool LaunchLog::is_own_file() const {
    const auto found = about(file_);
    return found && *found == made_;
}

} // namespace nvtaskset
