// SPDX-License-Identifier: MIT OR GPL-2.0
/// @file A parsed command line (Invocation), and the environment of a verb's function (Context).
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "command.hpp"
#include "nvdebug/control.hpp"
#include "nvdebug/gpu.hpp"
#include "nvdebug/tree.hpp"

namespace nvdebugctl {

struct Invocation {
    /// An action that replaces the command.
    enum class Instead { nothing, help, version, columns_help } instead = Instead::nothing;
    const std::vector<Object> *objects = nullptr; ///< the table of commands
    const Object *object = nullptr;               ///< nullptr: no object was named
    const Command *command = nullptr;

    std::map<std::string, std::vector<std::string>, std::less<>> arguments;
    /// Every option that was given, by its long name. Flags have an empty value.
    std::map<std::string, std::string, std::less<>> options;
    std::vector<std::string> columns; ///< the columns that --columns names

    bool has(std::string_view option) const { return options.find(option) != options.end(); }
    bool json() const { return has("--json") || has("--pretty"); }
};

class Context {
  public:
    explicit Context(const Invocation &invocation) : invocation_(invocation) {}

    /// Opens the source and selects the GPUs. The caller calls it once, before the other functions.
    [[nodiscard]] Outcome<void> open();

    const Command &command() const { return *invocation_.command; }
    const Invocation &invocation() const { return invocation_; }
    /// The source; not for Scope::nothing.
    const nvdebug::Tree &tree() const { return *tree_; }
    /// The selected GPU; for Scope::gpu, and for Scope::gpus only with -g.
    const nvdebug::Gpu &gpu() const { return *gpu_; }
    bool has_tree() const { return tree_.has_value(); }
    bool has_gpu() const { return gpu_.has_value(); }
    /// Returns the selected GPU, or the GPUs of a list such as `-g 0,2`. If none is selected,
    /// returns the GPUs of the source to which this process has access.
    [[nodiscard]] Outcome<std::vector<nvdebug::Gpu>> gpus() const;
    /// Returns true for `-g all` and `-g 0,2`. Then no GPU is selected, until about() selects one
    /// after the other.
    bool all_gpus() const;
    void about(nvdebug::Gpu gpu) { gpu_ = std::move(gpu); }

    /// Returns the words of the argument of that name, in order.
    [[nodiscard]] const std::vector<std::string> &words(std::string_view argument) const;
    /// Returns the values of the arguments of Kind::runlist.
    [[nodiscard]] std::vector<std::uint32_t> runlists() const;
    /// Returns the values of the arguments of Kind::channel or Kind::tsg.
    [[nodiscard]] std::vector<nvdebug::Target> targets() const;
    bool flag(std::string_view option) const;
    [[nodiscard]] std::optional<std::string> value(std::string_view option) const;

    /// Adds a remark for the user that does not change the exit status.
    void note(std::string sentence) { notes_.push_back(std::move(sentence)); }
    /// Adds an error about something that is missing from the answer. The exit status becomes 4.
    void missing(nvdebug::Error what) { missing_.push_back(std::move(what)); }

    /// Notes that a thread still waits for a GPU that does not answer. The program ends without it.
    void leave_behind() { leaves_behind_ = true; }
    bool leaves_behind() const { return leaves_behind_; }

    /// Forgets what is missing, because another document begins.
    void forget_missing() { missing_.clear(); }

    /// Returns the sentences given to note() since the last call.
    [[nodiscard]] std::vector<std::string> take_notes() { return std::exchange(notes_, {}); }
    [[nodiscard]] const std::vector<nvdebug::Error> &missing() const { return missing_; }

  private:
    [[nodiscard]] Outcome<std::string> means_source() const;
    Outcome<void> list_gpus(const std::string &words);
    void leave_out_gpus();

    const Invocation &invocation_;
    std::optional<nvdebug::Tree> tree_;
    std::optional<nvdebug::Gpu> gpu_;
    /// The GPUs that `-g 0,2` names, or the GPUs that remain after others were left out; empty: all
    /// GPUs of the source.
    std::vector<nvdebug::Gpu> listed_;
    std::vector<std::string> notes_;
    std::vector<nvdebug::Error> missing_;
    bool leaves_behind_ = false;
};

/// The GPU that -g names or, without -g, the first one to which this process has access.
struct SelectedGpu {
    nvdebug::Gpu gpu;
    std::vector<std::string> notes = {}; ///< remarks for the user, if the source has several GPUs
};

/// Returns whether a word of -g means several GPUs, such as `all` and `0,2`.
[[nodiscard]] bool is_gpu_list(std::string_view word);

/// Returns a name for the GPU for messages: `gpu0 (GA100, 0000:01:00.0)`.
[[nodiscard]] std::string describe(const nvdebug::Gpu &gpu);

/// Opens the source that --from names; empty: the module, or NVIDIA's driver if there is no module.
[[nodiscard]] nvdebug::Result<nvdebug::Tree> open_source(const std::string &from);

/// Returns the reason why @p tree has no GPU.
Failure no_gpu(const nvdebug::Tree &tree);

[[nodiscard]] Outcome<SelectedGpu> select_gpu(const nvdebug::Tree &tree,
                                              const std::optional<std::string> &wanted);

} // namespace nvdebugctl
