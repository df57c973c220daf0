// SPDX-License-Identifier: MIT OR GPL-2.0
#include "image.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <linux/openat2.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "elf_file.hpp"
#include "lib/base/container_device.hpp"
#include "messages.hpp"

namespace nvtaskset {
namespace {

namespace base = nvdebug::base;

constexpr unsigned minor_needed = 28;
constexpr std::size_t config_bytes_max = 16 << 20;
constexpr const char *advice =
    "; use another image, or write the CDI file anew with --best-effort to have programs run on "
    "the whole GPU";

#if defined(__aarch64__)
#define NVTASKSET_TRIPLET "aarch64-linux-gnu"
constexpr const char *musl_loader = "lib/ld-musl-aarch64.so.1";
#else
#define NVTASKSET_TRIPLET "x86_64-linux-gnu"
constexpr const char *musl_loader = "lib/ld-musl-x86_64.so.1";
#endif
/// The folders in which glibc's loader looks on Debian, Ubuntu, RHEL, SUSE and Arch.
constexpr std::array library_folders = {"lib/" NVTASKSET_TRIPLET "/",
                                        "usr/lib/" NVTASKSET_TRIPLET "/",
                                        "lib64/",
                                        "usr/lib64/",
                                        "lib/",
                                        "usr/lib/"};
/// The only other library with which nvtaskset's is linked. It is part of glibc, and empty since
/// 2.34.
constexpr const char *loading_library = "libdl.so.2";

class Descriptor {
  public:
    explicit Descriptor(int number) : number_(number) {}
    ~Descriptor() {
        if (number_ >= 0)
            close(number_);
    }
    Descriptor(const Descriptor &) = delete;
    Descriptor &operator=(const Descriptor &) = delete;

    int number() const { return number_; }

  private:
    int number_;
};

/// Opens a path as a process in the container would find it below its root. O_PATH does not disturb
/// a device or a FIFO. Returns -1 with errno on failure.
int find_below(int root, const char *path) {
    open_how how{};
    how.flags = O_PATH | O_CLOEXEC;
    how.resolve = RESOLVE_IN_ROOT | RESOLVE_NO_MAGICLINKS;
    return static_cast<int>(syscall(SYS_openat2, root, path, &how, sizeof(how)));
}

/// Returns the folder that becomes the container's root.
Outcome<std::string> root_of_state() {
    const auto state = base::read_container_state();
    if (!state)
        return fail(state.error());
    const std::string bundle = base::text_at(*state, "/bundle");
    if (bundle.empty())
        return fail("stdin has no state of a container with a bundle; container runtimes call "
                    "--check-image as a createContainer hook",
                    Exit::bad_usage);
    const std::string file = bundle + "/config.json";
    const Descriptor opened(open(file.c_str(), O_RDONLY | O_CLOEXEC));
    if (opened.number() < 0)
        return fail("cannot open " + file + ": " + std::strerror(errno));
    const auto config = base::read_json(opened.number(), config_bytes_max, file);
    if (!config)
        return fail(config.error());
    const std::string root = base::text_at(*config, "/root/path");
    if (root.empty())
        return fail(file + " has no root.path");
    return root.front() == '/' ? root : bundle + "/" + root;
}

} // namespace

Outcome<void> check_image(int root) {
    bool found = false;
    for (const char *const folder : library_folders) {
        const std::string path = std::string(folder) + "libc.so.6",
                          name = "the image's /" + path + " ";
        const Descriptor place(find_below(root, path.c_str()));
        if (place.number() < 0) {
            if (errno == ENOENT || errno == ENOTDIR)
                continue;
            return fail("cannot open " + name + "below its root: " + std::strerror(errno) + advice);
        }
        struct stat what {};
        if (fstat(place.number(), &what) < 0 || !S_ISREG(what.st_mode))
            return fail(name + "is no file" + advice);
        const std::string link = "/proc/self/fd/" + std::to_string(place.number());
        const Descriptor file(open(link.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
        if (file.number() < 0)
            return fail("cannot open " + name + "for reading: " + std::strerror(errno) + advice);
        const auto library = read_c_library(file.number());
        if (!library)
            return fail(name + library.error() + advice);
        if (!*library)
            continue;
        if ((*library)->minor < minor_needed)
            return fail(name +
                        ((*library)->minor
                             ? "is GNU's C library 2." + std::to_string((*library)->minor)
                             : std::string("is not GNU's C library")) +
                        ", and nvtaskset's library needs 2." + std::to_string(minor_needed) +
                        ": CUDA could not load it, and would go on without the partition" + advice);
        found = true;
    }
    const auto has = [root](const std::string &path) {
        return Descriptor(find_below(root, path.c_str())).number() >= 0;
    };
    if (found && std::ranges::any_of(library_folders, [&](const char *folder) {
            return has(std::string(folder) + loading_library);
        }))
        return {};
    if (found)
        return fail("the image has GNU's C library without its " + std::string(loading_library) +
                    ", which nvtaskset's library needs: CUDA could not load it, and would go on "
                    "without the partition" +
                    advice);
    const bool musl = has(musl_loader);
    return fail(
        std::string(musl ? "the image has musl's C library, and nvtaskset's library needs GNU's 2."
                         : "the image has no GNU C library (libc.so.6) at the usual places, and "
                           "nvtaskset's library needs one from 2.") +
        std::to_string(minor_needed) +
        " on: CUDA could not load it, and would go on without the partition" + advice);
}

Exit check_image_of_state() {
    const auto root = root_of_state();
    if (!root)
        return refuse(root.error());
    const Descriptor folder(open(root->c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
    if (folder.number() < 0)
        return refuse("cannot open the container's root " + *root + ": " + std::strerror(errno));
    const auto checked = check_image(folder.number());
    return checked ? Exit::done : refuse(checked.error());
}

} // namespace nvtaskset
