// SPDX-License-Identifier: MIT OR GPL-2.0
#include <csignal>
#include <exception>
#include <fcntl.h>
#include <unistd.h>

#include "command.hpp"
#include "output.hpp"

namespace {

/** What a file that is opened must not become: a message for it would be a request to the kernel.
 */
void occupy_standard_streams() {
    int descriptor;
    do
        descriptor = open("/dev/null", O_RDWR);
    while (descriptor >= 0 && descriptor <= STDERR_FILENO);
    if (descriptor >= 0)
        close(descriptor);
}

} // namespace

int main(int argc, char **argv) {
    occupy_standard_streams();
    // A pipe that nobody reads is an error of write(), so that nothing is left half undone.
    std::signal(SIGPIPE, SIG_IGN);
    try {
        return nvdebugctl::run({argv + 1, argv + argc});
    } catch (const std::exception &error) {
        nvdebugctl::say(error.what());
        return 2;
    }
}
