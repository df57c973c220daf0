// SPDX-License-Identifier: MIT OR GPL-2.0
#include "driver_tree.hpp"
#include "driver_hold.hpp"
#include "driver_requests.hpp"
#include "driver_restore.hpp"
#include "error.hpp"
#include "lib/base/text.hpp"
#include "lib/driver/machine.hpp"
#include "lib/driver/owners.hpp"
#include "lib/driver/rm.hpp"
#include "lib/driver/switches.hpp"
#include "nvdebug/gpu.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <chrono>
#include <mutex>
#include <sstream>

namespace nvdebug::driver {
namespace {

/// Returns a line of sysfs without its end, and without 0x in front.
std::string value_of(Kernel &kernel, const std::string &path) {
    std::string text = kernel.read(path);
    text = text.substr(0, text.find('\n'));
    return text.starts_with("0x") ? text.substr(2) : text;
}

/// Returns the sizes of the BARs in NVIDIA's numbering. Which resources these are differs from
/// board to board, so the first three memory resources count.
std::array<std::uint64_t, 3> bar_bytes(const std::string &resources) {
    constexpr std::uint64_t is_memory = 0x200; // IORESOURCE_MEM of linux/ioport.h
    constexpr int bars = 6;
    std::array<std::uint64_t, 3> bytes{};
    std::istringstream lines(resources);
    std::size_t found = 0;
    std::string line;
    for (int i = 0; i < bars && std::getline(lines, line) && found < bytes.size(); i++) {
        unsigned long long begin = 0, end = 0, flags = 0;
        if (std::sscanf(line.c_str(), "%llx %llx %llx", &begin, &end, &flags) == 3 &&
            flags & is_memory && end > begin)
            bytes[found++] = end - begin + 1;
    }
    return bytes;
}

Attachment attachment_of(Kernel &kernel, const std::string &pci_address) {
    const std::string folder = "/sys/bus/pci/devices/" + pci_address + "/";
    const auto of = [&](const char *file) { return value_of(kernel, folder + file); };
    const auto pair = [&](const char *vendor, const char *device) {
        const std::string first = of(vendor), second = of(device);
        return first.empty() || second.empty() ? "-" : first + ":" + second;
    };
    const std::string device_class = of("class");
    Attachment attachment;
    attachment.driver = "nvidia";
    attachment.bar_bytes = bar_bytes(kernel.read(folder + "resource"));
    attachment.pci = "pci_address: " + pci_address + "\npci_id: " + pair("vendor", "device") +
                     "\npci_subsystem: " + pair("subsystem_vendor", "subsystem_device") +
                     "\npci_class: " + (device_class.empty() ? "-" : "0x" + device_class) + "\n";
    return attachment;
}

/// A GPU that is opened when it is first needed.
class Unit {
  public:
    Unit(std::shared_ptr<Kernel> kernel, std::shared_ptr<Ownership> ownership, Card card)
        : kernel_(std::move(kernel)), ownership_(std::move(ownership)), card_(std::move(card)) {}

    /// Returns the GPU. If it could not be opened, a call tries again after a pause: it may have
    /// been asleep, or not set up yet.
    std::shared_ptr<Machine> machine() {
        constexpr std::chrono::seconds between_tries{2};
        const std::scoped_lock held(lock_);
        const auto now = kernel_->now();
        if (!machine_ || (closed_ && now - opened_ >= between_tries)) {
            opened_ = now;
            closed_.reset();
            machine_ = open();
        }
        return machine_;
    }

    Result<std::string> owners() const {
        if (asleep())
            return tl::unexpected(left_asleep());
        return driver::owners(*ownership_, card_);
    }

    Result<std::string> switches(const std::string &text) {
        constexpr std::uint64_t longest_ms = 10'000;
        const auto ms = text::number(text);
        if (!ms || *ms > longest_ms)
            return tl::unexpected(Error{ErrorCode::invalid, EINVAL, "",
                                        "context_switches takes milliseconds, 10000 at most"});
        if (asleep())
            return tl::unexpected(left_asleep());
        return record_switches(kernel_, card_, *ms, [this] {
            const auto now = machine()->read("ptimer");
            return now ? now->substr(0, now->find('\n')) : std::string("-");
        });
    }

    Result<std::unique_ptr<SwitchReader>> follow_switches() const {
        if (asleep())
            return tl::unexpected(left_asleep());
        return Switches::start(kernel_, card_).map([](std::unique_ptr<Switches> switches) {
            return std::unique_ptr<SwitchReader>(std::move(switches));
        });
    }

    Result<Performed> perform(std::string_view file, const std::string &text,
                              const ReadLists &read_lists) const {
        if (asleep())
            return tl::unexpected(left_asleep());
        return perform_request(kernel_, *ownership_, card_, file, text, read_lists);
    }

    Result<TaskHolds> hold(const std::vector<std::vector<std::uint32_t>> &groups,
                           const HoldOptions &options, const ReadLists &read_lists) const {
        if (asleep())
            return tl::unexpected(left_asleep());
        return driver::hold(kernel_, *ownership_, card_, groups, options, read_lists);
    }

    Result<LeftOvers> left_overs() const { return driver::left_overs(*kernel_, card_); }

    Result<LeftOvers> restore(const std::vector<std::uint32_t> &pids) const {
        if (asleep())
            return tl::unexpected(left_asleep());
        return driver::restore(kernel_, *ownership_, card_, pids);
    }

    std::optional<Error> withheld() const { return driver::withheld(*kernel_, card_); }

    /// Returns why only `info` exists; empty: more files exist.
    std::optional<Error> closed() const {
        const std::scoped_lock held(lock_);
        return closed_;
    }

  private:
    /// Returns whether the GPU sleeps. A GPU that sleeps is left alone, as the module does: opening
    /// its file would wake it.
    bool asleep() const {
        return value_of(*kernel_, "/sys/bus/pci/devices/" + card_.pci_address +
                                      "/power/runtime_status") == "suspended";
    }

    Error left_asleep() const {
        return {ErrorCode::gone, ENODEV, "",
                "the GPU at " + card_.pci_address +
                    " is asleep and left so; let a program use it, then try again"};
    }

    std::shared_ptr<Machine> open() {
        Attachment attachment = attachment_of(*kernel_, card_.pci_address);
        if (asleep())
            return refused(left_asleep(), std::move(attachment));
        // Each GPU has its own client, since only one thread may use a client at a time, and object
        // names in a client are unique for one GPU only.
        auto gpu = Client::open(kernel_).and_then(
            [&](const std::shared_ptr<Client> &client) { return Gpu::open(client, card_); });
        if (!gpu)
            return refused(std::move(gpu).error(), std::move(attachment));
        auto machine = Machine::probe(std::make_unique<DriverWords>(std::move(*gpu)), attachment);
        if (!machine)
            return refused(std::move(machine).error(), std::move(attachment));
        return std::move(*machine);
    }

    std::shared_ptr<Machine> refused(Error why, Attachment attachment) {
        if (why.sentence.empty())
            why.sentence = "the GPU at " + card_.pci_address +
                           " does not answer; a virtual GPU does not, nor one that has gone";
        closed_ = std::move(why);
        return Machine::closed(closed_->sentence, std::move(attachment));
    }

    std::shared_ptr<Kernel> kernel_;
    std::shared_ptr<Ownership> ownership_; // shared by all GPUs
    Card card_;
    mutable std::mutex lock_;
    std::shared_ptr<Machine> machine_;
    std::chrono::steady_clock::time_point opened_ = {};
    std::optional<Error> closed_;
};

/// The parts of `gpu0/info`.
struct Name {
    std::size_t gpu;
    std::string_view file; ///< empty: the folder
};

std::optional<Name> parse(std::string_view name) {
    if (!text::take_prefix(name, "gpu"))
        return std::nullopt;
    const std::string_view number = text::take_until(name, '/');
    const auto gpu = text::number(number);
    if (!gpu || std::to_string(*gpu) != number)
        return std::nullopt;
    return Name{static_cast<std::size_t>(*gpu), name};
}

/// The only file that the core does not make, because only the driver has its facts.
constexpr std::string_view owners_file = "owners";

class DriverTree final : public Tree::Impl, public std::enable_shared_from_this<DriverTree> {
  public:
    DriverTree(const std::shared_ptr<Kernel> &kernel, const std::shared_ptr<Client> &client,
               const std::vector<Card> &cards, const Advice &to) {
        path = "driver";
        source = Source::driver;
        advice = to;
        facts["source"] = "NVIDIA's driver " + client->version();
        const auto ownership = std::make_shared<Ownership>(kernel, client);
        for (const Card &card : cards)
            units_.push_back(std::make_unique<Unit>(kernel, ownership, card));
    }

    Result<std::vector<std::string>> list(std::string_view folder) const override {
        std::vector<std::string> names;
        if (folder.empty()) {
            for (std::size_t i = 0; i < units_.size(); i++)
                names.push_back("gpu" + std::to_string(i));
            return names;
        }
        const auto name = parse(folder);
        if (!name || name->gpu >= units_.size() || !name->file.empty())
            return tl::unexpected(cannot_read(*this, folder, ENOENT));
        for (Machine::Name &file : units_[name->gpu]->machine()->files())
            names.push_back(std::move(file.name));
        names.emplace_back(owners_file);
        names.insert(names.end(), control_files().begin(), control_files().end());
        std::sort(names.begin(), names.end(), natural_less);
        return names;
    }

    Result<std::string> read(std::string_view name) const override {
        return ask(name, [](Unit &unit, std::string_view file) {
            return file == owners_file ? unit.owners() : unit.machine()->read(file);
        });
    }

    bool readable(std::string_view name) const override {
        const auto parsed = parse(name);
        if (!parsed || parsed->gpu >= units_.size())
            return false;
        if (parsed->file == owners_file)
            return true;
        const auto files = units_[parsed->gpu]->machine()->files();
        return std::ranges::any_of(files, [&](const Machine::Name &file) {
            return file.readable && file.name == parsed->file;
        });
    }

    Result<Performed> request(std::string_view name, const std::string &text) const override {
        return ask(name, [&](Unit &unit, std::string_view file) -> Result<Performed> {
            if (is_control(file))
                return unit.perform(file, text, [&](Detail detail) {
                    return lists(unit, parse(name)->gpu, detail);
                });
            if (file == "context_switches")
                return unit.switches(text).map([](std::string answer) {
                    return Performed{nullptr, std::move(answer)};
                });
            if (file != "translate")
                return tl::unexpected(Error{
                    ErrorCode::unsupported, EOPNOTSUPP, "",
                    "this takes the module nvdebug: NVIDIA's driver lets a program change only "
                    "what processes have, their channels and TSGs"});
            return unit.machine()
                ->translate(text)
                .map([](std::string answer) {
                    return Performed{nullptr, std::move(answer)};
                })
                .map_error([&](Error error) {
                    if (error.sentence.empty())
                        error = cannot_control(*this, name, text, error.number);
                    return error;
                });
        });
    }

    Result<std::unique_ptr<SwitchReader>> follow_switches(std::string_view gpu) const override {
        return ask(gpu, [](Unit &unit, std::string_view) { return unit.follow_switches(); });
    }

    Result<TaskHolds> hold(std::string_view gpu,
                           const std::vector<std::vector<std::uint32_t>> &groups,
                           const HoldOptions &options) const override {
        return ask(gpu, [&](Unit &unit, std::string_view) {
            return unit.hold(groups, options,
                             [&](Detail detail) { return lists(unit, parse(gpu)->gpu, detail); });
        });
    }

    Result<LeftOvers> left_overs(std::string_view gpu) const override {
        return ask(gpu, [](Unit &unit, std::string_view) { return unit.left_overs(); });
    }

    Result<LeftOvers> restore(std::string_view gpu,
                              const std::vector<std::uint32_t> &pids) const override {
        return ask(gpu, [&](Unit &unit, std::string_view) { return unit.restore(pids); });
    }

    std::optional<Error> withheld(std::string_view gpu) const override {
        const auto name = parse(gpu);
        return name && name->gpu < units_.size() ? units_[name->gpu]->withheld() : std::nullopt;
    }

    std::string record(std::string_view name) const override {
        const auto parsed = parse(name);
        if (!parsed || parsed->gpu >= units_.size() || parsed->file == owners_file)
            return "";
        const auto machine = units_[parsed->gpu]->machine();
        return parsed->file.empty() ? machine->probe_record() : machine->take_record();
    }

  private:
    /// Returns the lists that can be read, for controls. Fails with `denied` where only root may
    /// read lists.
    Result<std::vector<Runlist>> lists(Unit &unit, std::size_t number, Detail detail) const {
        unit.machine();
        std::vector<Runlist> found;
        if (const auto closed = unit.closed())
            return tl::unexpected(*closed);
        const nvdebug::Gpu gpu(Tree(shared_from_this()), static_cast<std::uint32_t>(number));
        const auto info = gpu.info();
        if (!info)
            return tl::unexpected(info.error());
        const Feature *const feature = info->feature("runlist");
        if (feature && !feature->available)
            return tl::unexpected(Error{ErrorCode::unsupported, EOPNOTSUPP, "",
                                        gpu.folder() + " shows no runlists: " + feature->reason});
        for (const std::uint32_t id : info->runlists) {
            auto list = gpu.runlist(id, detail);
            if (list && list->torn)
                return tl::unexpected(Error{ErrorCode::busy, EBUSY, "",
                                            gpu.path("runlist" + std::to_string(id)) +
                                                " kept moving while it was read; try again"});
            if (list)
                found.push_back(std::move(*list));
            else if (list.error().code == ErrorCode::gone)
                return tl::unexpected(list.error());
        }
        return found;
    }

    template <typename Ask>
    auto ask(std::string_view name, Ask what) const
        -> decltype(what(std::declval<Unit &>(), name)) {
        const auto parsed = parse(name);
        if (!parsed || parsed->gpu >= units_.size())
            return tl::unexpected(cannot_read(*this, name, ENOENT));
        Unit &unit = *units_[parsed->gpu];
        return what(unit, parsed->file).map_error([&](Error error) {
            if (const auto closed = error.number == ENOENT ? unit.closed() : std::nullopt)
                error = *closed;
            if (error.number == EOPNOTSUPP && error.sentence.empty())
                error.sentence = "cannot read " + path_in(*this, name) +
                                 ": it lies in system memory, which NVIDIA's driver does not show; "
                                 "the module does";
            if (error.number == EFAULT && error.sentence.empty())
                error.sentence = "cannot read " + path_in(*this, name) +
                                 ": it is said to lie where there is no video memory; the driver "
                                 "may be about to replace it, so try again";
            if (error.sentence.empty())
                return cannot_read(*this, name, error.number);
            error.path = path_in(*this, name);
            return error;
        });
    }

    std::vector<std::unique_ptr<Unit>> units_; // by PCI address, as the module numbers them
};

} // namespace

OpenedTree open_tree(std::shared_ptr<Kernel> kernel, const Advice &advice) {
    auto client = Client::open(kernel);
    if (!client)
        return tl::unexpected(std::move(client).error());
    const auto cards = (*client)->cards();
    if (!cards)
        return tl::unexpected(cards.error());
    return std::shared_ptr<const Tree::Impl>(
        std::make_shared<DriverTree>(kernel, *client, *cards, advice));
}

Result<std::string> replay(const std::map<std::string, std::string> &words,
                           const std::string &folder, const std::string &file) {
    auto recorded = std::make_unique<RecordedWords>();
    RecordedWords &all = *recorded;
    for (const std::string &name : {folder, folder + "/" + file})
        if (const auto found = words.find(name); found != words.end())
            if (auto added = all.add(found->second); !added)
                return tl::unexpected(std::move(added).error());
    return Machine::probe(std::move(recorded), {})
        .and_then([&](const std::unique_ptr<Machine> &machine) { return machine->read(file); });
}

} // namespace nvdebug::driver
