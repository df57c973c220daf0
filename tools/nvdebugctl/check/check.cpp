// SPDX-License-Identifier: MIT OR GPL-2.0
#include "check.hpp"

#include <array>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <map>

#include "cli/json.hpp"
#include "cli/output.hpp"
#include "cli/page.hpp"
#include "cli/text.hpp"
#include "evidence.hpp"

namespace nvdebugctl {

const char *name_of(Verdict verdict) {
    static constexpr const char *names[] = {"ok", "note", "unknown", "attention", "trouble"};
    return names[static_cast<int>(verdict)];
}

Facts read_facts(const nvdebug::Gpu &gpu) {
    return {read_state(gpu), gpu.copy_topology()};
}

std::vector<nvdebug::Error> errors_of(const Facts &facts) {
    std::vector<nvdebug::Error> errors = errors_of(facts.state);
    if (!facts.copy && !is_absent(facts.copy.error()))
        errors.push_back(facts.copy.error());
    return errors;
}

std::span<const Rule> rules() {
    static constexpr std::array<Rule, 8> table = {{
        {"R1", channels_are_the_way_in},
        {"R2", channels_limit_streams},
        {"R3", lists_are_whole},
        {"R4", one_task_per_engine},
        {"R5", runlists_limit_independence},
        {"R6", runlists_serve_several_engines},
        {"R7", engines_have_one_runlist},
        {"R8", copy_engines_share_physical_ones},
    }};
    return table;
}

std::string file_of(const Facts &facts, const std::string &name) {
    return facts.state.folder + "/" + name;
}

void give_up(Finding &finding, const std::string &why) {
    finding.raise(Verdict::unknown);
    finding.say(fmt::format("Not known: {}.", why));
}

void note_unread_lists(Finding &finding, const Facts &facts) {
    std::vector<std::uint32_t> unread;
    for (const auto &[id, list] : facts.state.runlists)
        if (!list)
            unread.push_back(id);
    if (unread.empty())
        return;
    finding.raise(Verdict::unknown);
    finding.say(fmt::format("Not known of runlist{} {}, which cannot be read (R3 has the reason).",
                            unread.size() > 1 ? "s" : "", fold_ids(unread)));
}

bool without_lists(Finding &finding, const Facts &facts) {
    for (const auto &[id, list] : facts.state.runlists)
        if (list)
            return false;
    finding.raise(Verdict::unknown);
    if (facts.state.runlists.empty())
        finding.say("Not known: no runlists are shown of this GPU.");
    note_unread_lists(finding, facts);
    return true;
}

std::vector<const TsgView *> runnable(const RunlistView &runlist) {
    std::vector<const TsgView *> tasks;
    for (const TsgView &tsg : runlist.tsgs)
        if (tsg.may_run.value_or(true))
            tasks.push_back(&tsg);
    return tasks;
}

namespace {

constexpr std::array verdicts = {Verdict::ok, Verdict::note, Verdict::unknown, Verdict::attention,
                                 Verdict::trouble};

const char *where_name(Measured::Where where) {
    static constexpr const char *names[] = {"this_generation", "other_generation", "never"};
    return names[static_cast<int>(where)];
}

Json json_of(const Measured &measured) {
    Json on = Json::array();
    for (const Measurement &one : measured.on)
        on.push_back(
            {{"machine", one.machine}, {"generation", one.generation}, {"found", one.found}});
    return {{"where", where_name(measured.where)}, {"on", std::move(on)}};
}

/// Returns the results of a rule with their machines: `holds on h100-580.159.04 (Hopper)`.
std::string in_words(const Json &measurements) {
    std::map<std::string, std::vector<std::string>> machines;
    for (const Json &one : measurements)
        machines[one["found"].get<std::string>()].push_back(fmt::format(
            "{} ({})", one["machine"].get<std::string>(), one["generation"].get<std::string>()));
    std::vector<std::string> parts;
    for (const auto &[found, names] : machines)
        parts.push_back(fmt::format("{} on {}", found, fmt::join(names, ", ")));
    return fmt::format("{}", fmt::join(parts, "; "));
}

/// Returns up to three sentences: the rules that were measured on this generation, the rules that
/// were measured only on others, and the rules that were never measured.
std::vector<std::string> measured_in_words(const Json &findings) {
    static constexpr std::pair<Measured::Where, const char *> beginnings[] = {
        {Measured::Where::this_generation, "Measured on this generation"},
        {Measured::Where::other_generation, "Measured on another generation, not on this one"},
        {Measured::Where::never, "Not measured so far"}};
    std::vector<std::string> sentences;
    for (const auto &[where, beginning] : beginnings) {
        std::map<std::string, std::vector<std::uint32_t>> rules;
        for (const Json &finding : findings)
            if (finding["measured"]["where"] == where_name(where))
                rules[in_words(finding["measured"]["on"])].push_back(static_cast<std::uint32_t>(
                    std::stoul(finding["rule"].get<std::string>().substr(1))));
        std::vector<std::string> parts;
        for (const auto &[found, numbers] : rules)
            parts.push_back(
                fmt::format("R{}{}{}", fold_ids(numbers), found.empty() ? "" : ": ", found));
        if (!parts.empty())
            sentences.push_back(fmt::format("{}: {}.", beginning, fmt::join(parts, "; ")));
    }
    return sentences;
}

Json json_of(const Rule &rule, const Finding &finding,
             const std::optional<std::string> &generation) {
    Json files = Json::array();
    for (const Evidence &item : finding.evidence)
        files.push_back({{"file", item.file}, {"values", item.values}});
    return {{"rule", rule.name},
            {"question", finding.subject},
            {"verdict", name_of(finding.verdict)},
            {"answer", finding.answer},
            {"evidence", std::move(files)},
            {"measured", json_of(nearest(evidence(), rule.name, generation))}};
}

void print_wrapped(Page &page, const std::string &text, std::size_t indent,
                   const Terminal &terminal) {
    const std::size_t room =
        terminal.width.value_or(100) > indent + 20 ? terminal.width.value_or(100) - indent : 20;
    for (const std::string &line : break_lines(text, room))
        page.line(std::string(indent, ' ') + line);
}

void print(const Json &data, Page &page) {
    const Terminal terminal = this_terminal();
    for (const Json &finding : data["findings"]) {
        const auto verdict = finding["verdict"].get<std::string>();
        const bool heavy =
            verdict == name_of(Verdict::attention) || verdict == name_of(Verdict::trouble);
        const std::string shown = fmt::format("{:<9}", verdict);
        page.line(fmt::format("{}  {}  {}", page.bold(finding["rule"].get<std::string>()),
                              heavy ? page.warning(shown) : shown,
                              page.bold(finding["question"].get<std::string>())));
        print_wrapped(page, finding["answer"].get<std::string>(), 4, terminal);
        for (const Json &evidence : finding["evidence"])
            print_wrapped(page,
                          fmt::format("{}: {}", evidence["file"].get<std::string>(),
                                      evidence["values"].get<std::string>()),
                          6, terminal);
    }
    std::string counts;
    for (const auto &[verdict, count] : data["verdicts"].items())
        if (count != 0)
            counts += fmt::format("{}{} {}", counts.empty() ? "" : ", ", count.dump(), verdict);
    page.line(counts);
    for (const std::string &sentence : measured_in_words(data["findings"]))
        print_wrapped(page, sentence, 0, terminal);
}

/// Returns the verdict of each rule, by the rule's name.
Json row(const Json &data) {
    Json verdicts_by_rule = Json::object();
    for (const Json &finding : data["findings"])
        verdicts_by_rule[finding["rule"].get<std::string>()] = finding["verdict"];
    return verdicts_by_rule;
}

Outcome<Document> run(Context &context) {
    const Facts facts = read_facts(context.gpu());
    if (!facts.state.info)
        return tl::unexpected(Failure(facts.state.info.error()));
    for (const nvdebug::Error &error : errors_of(facts))
        context.missing(error);
    std::array<std::size_t, verdicts.size()> counts{};
    Json findings = Json::array();
    for (const Rule &rule : rules()) {
        const Finding finding = rule.find(facts);
        findings.push_back(json_of(rule, finding, facts.state.info->generation));
        ++counts.at(static_cast<std::size_t>(finding.verdict));
    }
    Json by_verdict = Json::object();
    for (const Verdict verdict : verdicts)
        by_verdict[name_of(verdict)] = counts.at(static_cast<std::size_t>(verdict));
    const bool trouble = counts.at(static_cast<std::size_t>(Verdict::trouble)) > 0;
    return Document{.data = {{"findings", findings}, {"verdicts", by_verdict}},
                    .exit = trouble ? refused : done};
}

} // namespace

std::vector<Command> check_commands() {
    return {
        {.object = "check",
         .help = "the questions of rules R1 to R8 about this GPU, each with its evidence",
         .fields =
             {{"findings",
               "one for each rule",
               "[object]",
               {{"rule", "the rule of Bakita and Anderson, RTAS 2024, that the question is about",
                 "R1|R2|R3|R4|R5|R6|R7|R8"},
                {"question", "what is asked", "string"},
                {"verdict",
                 "ok: tasks are as independent as the rule allows; note: tasks wait for each "
                 "other, or "
                 "may, as GPUs are built and used; unknown: cannot be read, or not public on this "
                 "chip; attention: unusual, though it may be intended; trouble: work is stuck, or "
                 "the "
                 "state contradicts itself (exit status 2)",
                 "ok|note|unknown|attention|trouble"},
                {"answer", "the answer, in sentences", "string"},
                {"evidence",
                 "what the answer comes from",
                 "[object]",
                 {{"file", "path of the file", "string"},
                  {"values", "what it says, as far as it matters here", "string"}}},
                {"measured",
                 "on which GPUs an experiment of this project found the rule to hold",
                 "object",
                 {{"where", "the nearest to this GPU", "this_generation|other_generation|never"},
                  {"on",
                   "the experiments there",
                   "[object]",
                   {{"machine", "GPU and driver, as in docs/lab.md", "string"},
                    {"generation", "the GPU's generation", "string"},
                    {"found", "what was found there", "holds|in part|does not hold"}}}}}}},
              {"verdicts",
               "how many findings have each verdict",
               "object",
               {{"ok", "findings whose verdict is ok", "uint"},
                {"note", "findings whose verdict is note", "uint"},
                {"unknown", "findings whose verdict is unknown", "uint"},
                {"attention", "findings whose verdict is attention", "uint"},
                {"trouble", "findings whose verdict is trouble", "uint"}}}},
         .notes =
             {"The rules are those of Bakita and Anderson, 'Demystifying NVIDIA GPU Internals "
              "to Enable Reliable GPU Management', RTAS 2024.",
              "ok: tasks are as independent as the rule allows. note: tasks wait for each other, "
              "or may; GPUs are built and used like that, and a response-time analysis has to "
              "include it. attention: unusual (a disabled channel, scheduling that is off), though "
              "it may be intended. unknown: cannot be read, or not public on this chip. trouble: "
              "work "
              "is stuck, or the state contradicts itself.",
              "measured: whether the rule itself was found to hold by an experiment (docs/lab.md), "
              "on a GPU "
              "of this generation, of another, or never.",
              "Exit status: 2 if there is trouble, else 4 if a file cannot be read or a list is "
              "torn, else 0."},
         .examples = {{"nvdebugctl check", "read before you trust a response-time analysis"},
                      {"nvdebugctl check -g all", "the verdicts, a row for each GPU"},
                      {"nvdebugctl check -j | jq .data.verdicts", "how many answers of each kind"}},
         .run = run,
         .text = print,
         .row = row}};
}

} // namespace nvdebugctl
