// SPDX-License-Identifier: MIT OR GPL-2.0
#include "gpu_switches.hpp"

#include <cerrno>
#include <charconv>
#include <csignal>
#include <cstring>
#include <fcntl.h>
#include <filesystem>
#include <fmt/format.h>
#include <fstream>
#include <map>
#include <sstream>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "forms.hpp"
#include "lib/stgm/participant.hpp"

namespace nvstgm {
namespace {

using stgm::Time;

constexpr Time patience = 20'000'000'000, poll = 10'000'000;

std::string text_of_file(const std::filesystem::path &path) {
    std::ifstream file(path);
    std::stringstream text;
    text << file.rdbuf();
    return text.str();
}

/// The times of two moments by CLOCK_MONOTONIC and by the clock of a GPU, between which both clocks
/// run evenly.
struct Clocks {
    Time monotonic = 0;                      ///< CLOCK_MONOTONIC at the first moment, the origin
    Time gpu_later = 0, monotonic_later = 0; ///< times from the origin to the second moment

    Time monotonic_at(Time gpu) const {
        const double rate =
            gpu_later > 0 && monotonic_later > 0
                ? static_cast<double>(monotonic_later) / static_cast<double>(gpu_later)
                : 1;
        return monotonic + static_cast<Time>(static_cast<double>(gpu) * rate);
    }
};

Time number(const Json &line, const char *key) {
    const auto found = line.find(key);
    if (found == line.end())
        return -1;
    if (found->is_number_integer())
        return found->get<Time>();
    Time value = -1;
    if (found->is_string()) {
        const std::string &text = found->get_ref<const std::string &>();
        std::from_chars(text.data(), text.data() + text.size(), value);
    }
    return value;
}

} // namespace

Outcome<std::vector<GpuTurn>> turns_of(const std::string &recording) {
    std::vector<GpuTurn> turns;
    std::map<Time, Clocks> clocks;
    std::vector<Time> gpus;
    std::istringstream lines(recording);
    bool is_recording = false;
    for (std::string text; std::getline(lines, text);) {
        const Json line = Json::parse(text, nullptr, false);
        const std::string kind = line.is_object() ? line.value("kind", "") : "";
        const Time gpu = number(line, "gpu");
        if (kind == "recording") {
            is_recording = line.value("version", "").starts_with("2.");
        } else if (kind == "origin") {
            clocks[gpu].monotonic = number(line, "monotonic_ns");
        } else if (kind == "clock") {
            clocks[gpu].gpu_later = number(line, "gpu_ns");
            clocks[gpu].monotonic_later = number(line, "monotonic_ns");
        } else if (kind == "turn") {
            turns.push_back(
                {.gpu = static_cast<std::uint32_t>(gpu),
                 .engine = line.value("engine", ""),
                 .begin = number(line, "begin_ns"),
                 .end = number(line, "end_ns"),
                 .pid = static_cast<std::uint32_t>(std::max<Time>(number(line, "pid"), 0)),
                 .process = line.contains("process") && line["process"].is_string()
                                ? line["process"].get<std::string>()
                                : ""});
            gpus.push_back(gpu);
        }
    }
    if (!is_recording)
        return fail("what nvdebugctl wrote is no recording of version 2");
    for (std::size_t n = 0; n < turns.size(); n++) {
        const auto found = clocks.find(gpus[n]);
        if (found == clocks.end() || found->second.monotonic < 0)
            return fail("nvdebugctl could not read the GPU's clock together with the system's");
        turns[n].begin = found->second.monotonic_at(turns[n].begin);
        turns[n].end = found->second.monotonic_at(turns[n].end);
    }
    return turns;
}

GpuRecording::~GpuRecording() {
    if (pid_ > 0) {
        kill(pid_, SIGKILL);
        waitpid(pid_, nullptr, 0);
    }
    std::error_code ignored;
    if (!folder_.empty())
        std::filesystem::remove_all(folder_, ignored);
}

void GpuRecording::begin(const std::string &nvdebugctl, const std::string &gpu) {
    std::error_code error;
    folder_ = (std::filesystem::temp_directory_path(error) / "nvstgm.XXXXXX").string();
    if (error || !mkdtemp(folder_.data())) {
        why_ = std::string("no folder for a recording: ") + std::strerror(errno);
        folder_.clear();
        return;
    }
    const std::string recording = folder_ + "/gpu.ndjson", said = folder_ + "/said";
    const pid_t parent = getpid();
    pid_ = fork();
    if (pid_)
        return;
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent)
        _exit(failed);
    std::signal(SIGINT, SIG_IGN); // the terminal's signal is for nvstgm, which ends the recording
    sigset_t none;
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, nullptr);
    if (const int file = open(said.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0600); file >= 0) {
        dup2(file, STDOUT_FILENO);
        dup2(file, STDERR_FILENO);
    }
    execlp(nvdebugctl.c_str(), nvdebugctl.c_str(), "--from", "driver", "record", "-o",
           recording.c_str(), gpu.empty() ? nullptr : "-g", gpu.c_str(), nullptr);
    say(nvdebugctl + " cannot be run: " + std::strerror(errno));
    _exit(127);
}

Outcome<std::vector<GpuTurn>> GpuRecording::end() {
    if (pid_ <= 0)
        return fail(why_.empty() ? std::string("no process for it: ") + std::strerror(errno)
                                 : why_);
    kill(pid_, SIGTERM);
    int status = 0;
    pid_t ended = 0;
    for (const Time last = stgm::now_ns() + patience; !ended && stgm::now_ns() < last;)
        if (ended = waitpid(pid_, &status, WNOHANG); !ended)
            stgm::sleep_until(stgm::now_ns() + poll);
    if (!ended)
        return fail(fmt::format("nvdebugctl did not end within {} s", patience / 1'000'000'000));
    pid_ = 0;
    if (!WIFEXITED(status) || WEXITSTATUS(status)) {
        std::string said = text_of_file(folder_ + "/said");
        said = said.substr(0, said.find('\n'));
        return fail(said.empty() ? "nvdebugctl ended before its time" : said);
    }
    return turns_of(text_of_file(folder_ + "/gpu.ndjson"));
}

} // namespace nvstgm
