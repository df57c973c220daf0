// SPDX-License-Identifier: MIT OR GPL-2.0
/// @file A command line, parsed and checked against the table, and what a verb's function is given.
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
    /// What to do instead of the command.
    enum class Instead { nothing, help, version, columns_help } instead = Instead::nothing;
    const std::vector<Object> *objects = nullptr; ///< the table
    const Object *object = nullptr;               ///< nullptr: none was named
    const Command *command = nullptr;

    std::map<std::string, std::vector<std::string>, std::less<>> arguments;
    /// Every option that was given, by its long name; the value is empty for flags.
    std::map<std::string, std::string, std::less<>> options;
    std::vector<std::string> columns; ///< of --columns

    bool has(std::string_view option) const { return options.find(option) != options.end(); }
    bool json() const { return has("--json") || has("--pretty"); }
};

class Context {
  public:
    explicit Context(const Invocation &invocation) : invocation_(invocation) {}

    /// Opens what the command is about; to be called once, before the rest.
    [[nodiscard]] Outcome<void> open();

    const Command &command() const { return *invocation_.command; }
    const Invocation &invocation() const { return invocation_; }
    /// Not for Scope::nothing.
    const nvdebug::Tree &tree() const { return *tree_; }
    /// For Scope::gpu, and for Scope::gpus only with -g.
    const nvdebug::Gpu &gpu() const { return *gpu_; }
    bool has_tree() const { return tree_.has_value(); }
    bool has_gpu() const { return gpu_.has_value(); }
    /// That one, or those of a list; with none chosen, all of the tree.
    [[nodiscard]] Outcome<std::vector<nvdebug::Gpu>> gpus() const;
    /// `-g all`, `-g 0,2`: no GPU is chosen, until about() chooses one after the other.
    bool all_gpus() const;
    void about(nvdebug::Gpu gpu) { gpu_ = std::move(gpu); }

    /// The words of the argument of that name, in order.
    [[nodiscard]] const std::vector<std::string> &words(std::string_view argument) const;
    /// Values of the arguments of Kind::runlist.
    [[nodiscard]] std::vector<std::uint32_t> runlists() const;
    /// Values of the arguments of Kind::channel or Kind::tsg.
    [[nodiscard]] std::vector<nvdebug::Target> targets() const;
    bool flag(std::string_view option) const;
    [[nodiscard]] std::optional<std::string> value(std::string_view option) const;

    /// A word for the user that changes nothing.
    void note(std::string sentence) { notes_.push_back(std::move(sentence)); }
    /// What is printed is not the whole: exit status 4.
    void missing(nvdebug::Error what) { missing_.push_back(std::move(what)); }

    /// A thread waits for a GPU that does not answer: the program is to end without it.
    void leave_behind() { leaves_behind_ = true; }
    bool leaves_behind() const { return leaves_behind_; }

    /// The next document is whole again until something is missing from it.
    void forget_missing() { missing_.clear(); }

    /// Sentences given to note() since the last call.
    [[nodiscard]] std::vector<std::string> take_notes() { return std::exchange(notes_, {}); }
    [[nodiscard]] const std::vector<nvdebug::Error> &missing() const { return missing_; }

  private:
    [[nodiscard]] Outcome<std::string> means_source() const;
    Outcome<void> list_gpus(const std::string &words);

    const Invocation &invocation_;
    std::optional<nvdebug::Tree> tree_;
    std::optional<nvdebug::Gpu> gpu_;
    std::vector<nvdebug::Gpu> listed_; ///< those of `-g 0,2`; empty: no list was given
    std::vector<std::string> notes_;
    std::vector<nvdebug::Error> missing_;
    bool leaves_behind_ = false;
};

/// Which GPU -g means, and which one without it.
struct SelectedGpu {
    nvdebug::Gpu gpu;
    std::string note; ///< a word for the user if there was a choice
};

/// Does a word of -g mean several GPUs, as `all` and `0,2`?
[[nodiscard]] bool is_gpu_list(std::string_view word);

/// What users call the GPU, for messages: `gpu0 (GA100, 0000:01:00.0)`.
[[nodiscard]] std::string describe(const nvdebug::Gpu &gpu);

/// What --from names; empty: the module, or else NVIDIA's driver.
[[nodiscard]] nvdebug::Result<nvdebug::Tree> open_source(const std::string &from);

/// Why there is none in @p tree.
Failure no_gpu(const nvdebug::Tree &tree);

[[nodiscard]] Outcome<SelectedGpu> select_gpu(const nvdebug::Tree &tree,
                                              const std::optional<std::string> &wanted);

} // namespace nvdebugctl
