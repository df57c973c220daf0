// SPDX-License-Identifier: MIT OR GPL-2.0
#include "command.hpp"

#include <algorithm>

namespace nvdebugctl {

const Object *find_object(const std::vector<Object> &objects, std::string_view name) {
    const auto found = std::ranges::find(objects, name, &Object::name);
    return found == objects.end() ? nullptr : &*found;
}

std::vector<std::string> names_that_may_be_short(const std::vector<Object> &objects) {
    std::vector<std::string> names;
    for (const Object &object : objects)
        if (!object.commands.front().passes_on)
            names.push_back(object.name);
    return names;
}

std::vector<std::string> names_of(const std::vector<Object> &objects) {
    std::vector<std::string> names;
    std::ranges::transform(objects, std::back_inserter(names), &Object::name);
    return names;
}

std::vector<std::string> verbs_of(const Object &object) {
    std::vector<std::string> names;
    std::ranges::transform(object.commands, std::back_inserter(names), &Command::verb);
    return names;
}

const Command *find_command(const Object &object, std::string_view verb) {
    const auto found = std::ranges::find(object.commands, verb, &Command::verb);
    return found == object.commands.end() ? nullptr : &*found;
}

std::vector<Field> fields_of(const std::vector<Column> &columns) {
    std::vector<Field> fields;
    for (const Column &column : columns)
        fields.push_back({column.name, column.help, column.type});
    return fields;
}

} // namespace nvdebugctl
