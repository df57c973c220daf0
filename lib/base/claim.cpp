// SPDX-License-Identifier: MIT OR GPL-2.0
#include "claim.hpp"

#include <cerrno>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

namespace nvdebug::base {

std::shared_ptr<const void> claim_shares(const std::string &folder, const std::string &gpu) {
    struct Claim {
        explicit Claim(const std::string &path)
            : file(::open(path.c_str(), O_RDONLY | O_CREAT | O_CLOEXEC, S_IRUSR | S_IWUSR)) {}
        Claim(const Claim &) = delete;
        Claim &operator=(const Claim &) = delete;
        ~Claim() { ::close(file); }
        int file;
    };
    static_cast<void>(::mkdir(folder.c_str(), S_IRWXU)); // the folder may exist
    // The file stays, because removing it could remove another process's claim.
    auto claim = std::make_shared<const Claim>(folder + "/shares-" + gpu);
    if (::flock(claim->file, LOCK_EX | LOCK_NB) && errno == EWOULDBLOCK)
        return nullptr;
    return claim;
}

} // namespace nvdebug::base
