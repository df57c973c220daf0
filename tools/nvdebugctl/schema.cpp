// SPDX-License-Identifier: MIT OR GPL-2.0
#include "schema.hpp"

#include <algorithm>

#include "cli/identity.hpp"
#include "cli/json.hpp"
#include "objects/channel.hpp"
#include "recording/forms.hpp"

namespace nvdebugctl {
namespace {

const char *const dialect = "https://json-schema.org/draft/2020-12/schema";
const char *const hex_pattern = "^0x[0-9a-f]+$";
const char *const occupant_pattern = "^(tsg|channel):[0-9]+$";

/// The types that have no parts.
const Json &words() {
    static const Json table = {
        {"anything", Json::object()},
        {"bool", {{"type", "boolean"}}},
        {"duration", {{"type", "number"}, {"exclusiveMinimum", 0}}},
        {"hexadecimal", {{"type", "string"}, {"pattern", hex_pattern}}},
        {"integer", {{"type", "integer"}}},
        {"number", {{"type", "number"}, {"minimum", 0}}},
        {"occupant", {{"type", "string"}, {"pattern", occupant_pattern}}},
        {"percent", {{"type", "number"}, {"minimum", 0}, {"maximum", 100}}},
        {"positive", {{"type", "integer"}, {"minimum", 1}}},
        {"state",
         {{"type", {"boolean", "number", "string", "array", "null"}},
          {"items", {{"type", {"number", "string"}}}}}},
        {"signed", {{"type", "number"}}},
        {"string", {{"type", "string"}}},
        {"time", {{"type", "string"}, {"format", "date-time"}}},
        {"int", {{"type", "integer"}}},
        {"uint", {{"type", "integer"}, {"minimum", 0}}},
        {"version", {{"type", "string"}, {"pattern", "^[0-9]+\\.[0-9]+$"}}},
    };
    return table;
}

const std::string definitions_of_file = "#/$defs/";
const char *const channel_state_name = "channelState";

const std::vector<Field> document_keys = {
    {"schema", "'nvdebug/' and the name of the schema of this document, without '.json'", "string"},
    {"schema_version", "MAJOR.MINOR of the schemas; a new minor version only adds keys", "version"},
    {"tool", "name and version of the program that wrote this", "string"},
    {"source",
     "where the data come from; null: the command reads nothing, or it could not be opened",
     "source?"},
    {"gpu", "the GPU that the data are about; null: no single one", "gpu?"},
    {"missing", "what is missing from the data, and why (exit status 4); empty: nothing",
     "[error]"},
    {"data", "the command's result; see its schema", "anything"},
    {"error", "in place of data: why there are none", "error"}};

std::vector<Field> common_definitions() {
    std::vector<Field> state = fields_of(channel_columns());
    // The surrounding object has the channel's place and the number of its entries.
    std::erase_if(state, [](const Field &field) {
        return field.name == "runlist" || field.name == "tsg" || field.name == "entries";
    });
    return {
        {"source",
         "",
         "object",
         {{"kind", "the running kernel's /proc, a folder that looks like it, or a capture",
           "live|folder|capture"},
          {"path", "the folder or file", "string"},
          {"captured_at", "when the capture was made, ISO 8601 in UTC; null: not a capture",
           "string?"}}},
        {"gpu",
         "",
         "object",
         {{"pci_address", "domain:bus:device.function; null: not on PCI, or unknown", "string?"},
          {"index", "N of /proc/gpuN", "uint"},
          {"chip", "name of the chip; null: unknown", "string?"},
          {"generation", "Kepler to Blackwell; null: unknown", "string?"}}},
        {"error",
         "",
         "object",
         {{"code", "what kind of error it is",
           "usage|not_found|denied|gone|unsupported|busy|invalid|timeout|io|malformed"},
          {"errno", "name of the kernel's errno, as 'EACCES'; null: the kernel had no part in it",
           "string?"},
          {"path", "the file concerned; null: none", "string?"},
          {"message", "a sentence: what, where, what next", "string"}}},
        {"hex", "an address or a mask; a string, since many readers round numbers above 2^53",
         "hexadecimal"},
        {"address", "bytes from the start of the aperture; null: none, or hidden from this reader",
         "hexadecimal?"},
        {"aperture",
         "'vid' video memory, 'coh' and 'ncoh' system memory, snooped or not, 'invalid' an "
         "undefined code",
         "vid|coh|ncoh|invalid|null"},
        {"place",
         "a place in memory that the GPU sees",
         "object",
         {{"address",
           "bytes from the start of the aperture; null: none, or hidden from this reader",
           "address"},
          {"aperture", "which memory", "aperture"}}},
        {"process", "a process that made a channel", "object",
         fields_with_identity(
             {{"pid", "its number", "uint"},
              {"uid", "number of its effective user; null: not known", "uint?"},
              {"command", "name of its command, at most 15 bytes; null: it has none", "string?"},
              {"cgroup", "its cgroup; null: not known", "string?"}})},
        {"gpuTask",
         "who competes for GR0: a process, those that share TSGs (MPS), or a TSG",
         "object",
         {{"processes", "the processes that have channels in the TSGs; empty: not known",
           "[process]"},
          {"tsgs", "their TSGs on GR0's runlist, as RUNLIST:TSG; empty: none, or not known",
           "[string]"},
          {"expected_share_percent",
           "part of the runlist's time while all TSGs have work, in percent, of all that are "
           "named together; null: not known",
           "percent?"}}},
        {channel_state_name, "a channel's entry in the list and its live state", "keys", state},
        {"addressSpace",
         "",
         "object",
         {{"page_directory", "root of its page tables", "place"},
          {"veid", "subcontext that uses it; null: before Volta", "uint?"},
          {"channels", "channels that use it, in list order", "[uint]"},
          {"error", "why the address space of these channels is unknown", "string?"}}},
        {"instance",
         "",
         "object",
         {{"same_as_channel", "the instance block is that of this channel", "uint?"},
          {"error", "why it could not be read: nothing else here is known", "string?"},
          {"page_tables", "version of the page tables: 1, 2 or 3", "uint?"},
          {"big_page_size_bytes", "size of big pages, in bytes", "uint?"},
          {"page_directory", "root that Host, copy and video engines use", "place"},
          {"page_directory_volatile", "the page directory is marked volatile", "bool?"},
          {"va_limit", "last virtual address (up to Turing)", "address"},
          {"target_engine", "RAMFC's engine; 31: software", "uint?"},
          {"privileged", "may use privileged methods", "bool?"},
          {"veid", "subcontext of the channel (Volta and newer)", "uint?"},
          {"pasid", "process address space id (Volta and newer)", "uint?"},
          {"ats", "address translation services are on (Volta and newer)", "bool?"},
          {"engine_wfi", "pointer to the engine context; virtual if the mode says so", "place"},
          {"engine_wfi_mode", "how to read engine_wfi", "virtual|physical|null"},
          {"subcontext_count", "valid entries of the subcontext table; null: before Volta",
           "uint?"},
          {"subcontexts_as_channel", "the table is that of this channel", "uint?"},
          {"subcontexts",
           "valid entries by rising VEID; in runlist.show empty where subcontexts_as_channel is "
           "set",
           "[subcontext]"},
          {"context_as_channel", "the context is that of this channel", "uint?"},
          {"context_note", "why there is no context: none, not mapped, bad magic, ...", "string?"},
          {"context",
           "the engine context, as firmware saved it last; in runlist.show null where "
           "context_as_channel is set",
           "context?"}}},
        {"subcontext",
         "",
         "object",
         {{"veid", "number of the entry", "uint"},
          {"page_directory", "root that compute and graphics use", "place"},
          {"page_directory_volatile", "the page directory is marked volatile", "bool?"},
          {"pasid", "process address space id", "uint?"},
          {"ats", "address translation services are on", "bool?"}}},
        {"context",
         "",
         "object",
         {{"id", "number of the context", "uint?"},
          {"type", "'compute', 'OpenGL', 'DX9', ... (Volta and newer)", "string?"},
          {"graphics_preemption", "setting: 'WFI' or 'GFXP'", "string?"},
          {"compute_preemption", "setting: 'WFI', 'CTA' or 'CILP'", "string?"},
          {"saves", "how often it was saved", "uint?"},
          {"restores", "how often it was restored", "uint?"},
          {"wfi_saves", "saves once the engine was idle", "uint?"},
          {"cta_saves", "saves between thread blocks", "uint?"},
          {"gfxp_saves", "saves in the middle of graphics", "uint?"},
          {"cilp_saves", "saves between instructions", "uint?"},
          {"image_virtual_address", "GPU virtual address of the image", "address"},
          {"image", "where the image is", "place"}}},
        {"control",
         "what a control did, or with --dry-run would do",
         "object",
         {{"dry_run", "nothing was written", "bool"},
          {"refused", "why the kernel refuses every control of this process now; null: it does not",
           "string?"},
          {"write",
           "what was, or would be, written",
           "object",
           {{"file", "the file", "string"},
            {"text", "the request, as docs/proc.md has it; its first word is 'lease' with --for",
             "string"}}},
          {"lease", "it is undone when the tool ends (--for)", "bool"},
          {"lease_seconds", "after so many seconds; null: no lease, or until interrupted",
           "duration?"},
          {"changes",
           "state before and after, one row for each thing that was named",
           "[object]",
           {{"object", "what it is", "runlist|tsg|channel|task"},
            {"runlist", "runlist that it is, or that holds it; null: a task", "uint?"},
            {"id", "id of the TSG or channel, pid of the task; null: a runlist", "uint?"},
            {"property",
             "what of it changes; the unit is in the name; of a task timeslice_us and "
             "compute_preemption have what its TSGs have, each once",
             "enabled|compute_preemption|on_engines|timeslice_us|listed_tsgs|running|scheduling|"
             "enabled_channels|entries"},
            {"old", "before; null: not known", "state"},
            {"new", "after; null: not known, or --dry-run", "state"}}}}}};
}

/// Writes the schemas of one file. They may refer to definitions of the same file.
class Writer {
  public:
    Json property(const Field &field) const {
        Json schema = Json::object();
        if (!field.help.empty())
            schema["description"] = field.help;
        schema.update(type(field.type, field.fields));
        return schema;
    }

    Json keys(const std::vector<Field> &fields) const {
        Json properties = Json::object(), required = Json::array();
        for (const Field &field : fields) {
            properties[field.name] = property(field);
            required.push_back(field.name);
        }
        return {{"properties", std::move(properties)}, {"required", std::move(required)}};
    }

    Json reference(const std::string &name) const { return {{"$ref", definitions_of_file + name}}; }

  private:
    Json type(const std::string &text, const std::vector<Field> &fields) const {
        if (text.ends_with('?'))
            return nullable(type(text.substr(0, text.size() - 1), fields));
        if (text.starts_with('['))
            return array(text.substr(1, text.size() - 2), fields);
        if (text.starts_with('='))
            return {{"const", text.substr(1)}};
        if (text.find('|') != text.npos)
            return {{"enum", choices(text)}};
        if (text == "either")
            return {{"oneOf", alternatives(fields)}};
        if (const auto word = words().find(text); word != words().end())
            return *word;
        return text == "keys" ? keys(fields) : object(text, fields);
    }

    static Json nullable(Json schema) {
        if (!schema.contains("type") || schema.contains("properties"))
            return {{"anyOf", {std::move(schema), {{"type", "null"}}}}};
        schema["type"] = {schema["type"], "null"};
        return schema;
    }

    /// Returns the schema of an array of @p text, for example of `string`, or `2 string` with the
    /// number of elements.
    Json array(std::string text, const std::vector<Field> &fields) const {
        Json count;
        if (const std::size_t blank = text.find(' '); blank != text.npos) {
            count = Json::parse(text.substr(0, blank));
            text.erase(0, blank + 1);
        }
        Json schema = {{"type", "array"}, {"items", type(text, fields)}};
        if (!count.is_null())
            schema.update({{"minItems", count}, {"maxItems", count}});
        return schema;
    }

    static Json choices(std::string_view text) {
        Json list = Json::array();
        while (!text.empty()) {
            const std::string_view word = text.substr(0, text.find('|'));
            list.push_back(word == "null" ? Json() : Json(word));
            text.remove_prefix(std::min(word.size() + 1, text.size()));
        }
        return list;
    }

    Json alternatives(const std::vector<Field> &fields) const {
        Json list = Json::array();
        for (const Field &field : fields)
            list.push_back(property(field));
        return list;
    }

    /// Returns the schema of an object: with keys of its own, with those of a definition (@p name),
    /// or both.
    Json object(const std::string &name, const std::vector<Field> &fields) const {
        Json schema = Json::object();
        const bool defined = name != "object";
        if (!defined || !fields.empty() || name == channel_state_name)
            schema["type"] = "object";
        if (defined)
            schema.update(reference(name));
        if (!defined || !fields.empty())
            schema.update(keys(fields));
        return schema;
    }
};

Json common() {
    const Writer writer;
    Json definitions = {{"document", {{"description", "What surrounds the data"}}}};
    Json document = writer.keys(document_keys);
    // A document has either data or an error: the last two keys.
    document["required"].erase(document["required"].size() - 1);
    document["required"].erase(document["required"].size() - 1);
    document["oneOf"] = {{{"required", {"data"}}}, {{"required", {"error"}}}};
    definitions["document"].update(document);
    for (const Field &field : common_definitions())
        definitions[field.name] = writer.property(field);
    return {{"$schema", dialect},
            {"title", "What the documents of nvdebugctl have in common"},
            {"description",
             "Within a major schema_version keys are only added: consumers must accept keys that "
             "are not described here. A key is always there; what is unknown, or does not exist on "
             "this chip, is null."},
            {"$defs", std::move(definitions)}};
}

Json document(const std::string &title, const std::string &help, const std::string &name,
              Json data) {
    Json schema = {
        {"$schema", dialect}, {"title", title}, {"description", help}, {"type", "object"}};
    schema.update(Writer().reference("document"));
    schema["properties"] = {
        {"schema", {{"description", "name of this schema"}, {"const", "nvdebug/" + name}}},
        {"data", std::move(data)}};
    return schema;
}

/// Returns what a command's data is. Fills in the parts that Command::data, type and fields leave
/// out.
Field data_of(const Command &command) {
    Field data{"", command.data, command.type, command.fields};
    if (command.control)
        return {"", "what was done", "control"};
    if (data.type.empty() && data.fields.empty())
        return {"", data.help, "[object]", fields_of(command.columns)};
    if (data.type.empty())
        data.type = "object";
    return data;
}

} // namespace

std::vector<Field> data_keys(const Command &command) {
    const std::vector<Field> definitions = common_definitions();
    const auto defined = [&](const std::string &type) {
        const auto found = std::ranges::find(definitions, type, &Field::name);
        return found == definitions.end() ? std::vector<Field>() : found->fields;
    };
    // The type's name without `[`, `]` and `?`.
    const auto bare = [](std::string type) {
        std::erase_if(type, [](char each) { return each == '[' || each == ']' || each == '?'; });
        return type;
    };
    const Field data = data_of(command);
    std::vector<Field> keys = defined(bare(data.type));
    keys.insert(keys.end(), data.fields.begin(), data.fields.end());
    for (Field &key : keys)
        if (key.fields.empty() && key.type.starts_with('['))
            key.fields = defined(bare(key.type));
    return keys;
}

std::map<std::string, std::string> schemas(const std::vector<Object> &objects) {
    std::map<std::string, Json> all;
    all["common"] = common();
    all["error"] = document("nvdebugctl", "a command line that names no command", "error", false);
    for (const Object &object : objects)
        for (const Command &command : object.commands)
            if (command.json)
                all[command.schema()] =
                    document("nvdebugctl " + command.name(), command.help, command.schema(),
                             Writer().property(data_of(command)));
    all["recording.line"] = {{"$schema", dialect},
                             {"title", "a line of a recording in NDJSON"},
                             {"description", "Later versions add keys and kinds."}};
    all["recording.line"].update(Writer().property({"", "", "either", recording_lines()}));
    std::map<std::string, std::string> files;
    for (auto &[name, schema] : all) {
        // Each file has all definitions, because a validator cannot find other files.
        if (name != "common")
            schema["$defs"] = all["common"]["$defs"];
        files[name + ".json"] = schema.dump(1) + "\n";
    }
    return files;
}

} // namespace nvdebugctl
