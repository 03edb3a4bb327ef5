#include <tessera/campaign/campaign_parser.hpp>

#include <fmt/core.h>

#include <utility>

namespace tessera {

namespace {

std::optional<ResourceSource> parse_resource(TableReader& reader, std::string_view key, Problems& problems) {
    const TomlEntry* entry = reader.take(key);
    if (entry == nullptr) return std::nullopt;
    ResourceSource source;
    source.place = entry->node.place;
    source.what = reader.name_of(key);
    if (const std::string* text = entry->node.string()) {
        source.text = parse_template(*text, source.place, source.what, problems);
        return source;
    }
    if (entry->node.is_scalar()) {
        source.value = entry->node.scalar;
        return source;
    }
    problems.add(source.place, fmt::format("{} must be a number or a string, not {}", source.what,
                                           entry->node.kind_text()));
    return std::nullopt;
}

/// Key by key over what `target` has.
void parse_resources(const TomlEntry* section, std::string what, ResourcesSource& target,
                     Problems& problems) {
    if (section == nullptr) return;
    TableReader reader(section->node, std::move(what), problems);
    const auto read = [&](std::string_view key, std::optional<ResourceSource>& value) {
        if (auto parsed = parse_resource(reader, key, problems)) value = std::move(parsed);
    };
    read("devices", target.devices);
    read("cores", target.cores);
    read("memory", target.memory);
    read("timeout", target.timeout);
    reader.finish();
}

void check_variable_name(const std::string& name, Place place, Problems& problems) {
    if (name.empty() || name.find_first_of(std::string_view("=\0", 2)) != std::string::npos)
        problems.add(place, fmt::format("'{}' cannot name an environment variable", name));
    else if (name.starts_with("TESSERA_"))
        problems.add(place,
                     fmt::format("'{}': names that begin with TESSERA_ are set by Tessera itself", name));
}

/// Entry by entry over what `target` has.
void parse_env(const TomlEntry* section, const std::string& what, StepSource& target, Problems& problems) {
    if (section == nullptr) return;
    for (const TomlEntry& entry : section->node.entries) {
        const std::string name = fmt::format("{}.{}", what, entry.key);
        check_variable_name(entry.key, entry.place, problems);
        if (const std::string* text = entry.node.string())
            target.env.insert_or_assign(entry.key, parse_template(*text, entry.node.place, name, problems));
        else
            problems.add(entry.node.place, fmt::format("{} must be a string, not {}{}", name,
                                                       entry.node.kind_text(), as_string_hint(entry.node)));
    }
}

void parse_command(TableReader& reader, const TomlEntry& section, StepSource& step, Problems& problems) {
    step.command = reader.texts("command");
    const TomlEntry* entry = section.node.find("command");
    if (entry == nullptr)
        problems.add(section.place,
                     "[workload] needs a command, such as command = [\"python3\", \"evaluate.py\"]");
    else if (entry->node.is_array() && entry->node.items.empty())
        problems.add(entry->node.place, "workload.command is empty");
}

} // namespace

void parse_workload(TableReader& root, Campaign& campaign, Problems& problems) {
    StepSource step;
    step.name = "workload";
    parse_resources(root.take_table("resources"), "[resources]", step.resources, problems);
    parse_env(root.take_table("env"), "env", step, problems);
    const TomlEntry* section = root.take_table("workload");
    if (section == nullptr) {
        problems.add({}, "a campaign needs a [workload] section with a command");
        return;
    }
    step.place = section->place;
    TableReader reader(section->node, "[workload]", problems);
    parse_command(reader, *section, step, problems);
    parse_env(reader.take_table("env"), "workload.env", step, problems);
    step.stdin_text = reader.text("stdin");
    step.keep = reader.texts("keep");
    if (const auto choice = reader.choice("executor", executor_names()))
        step.executor =
            PlacedValue{Value(executor_names()[*choice]), section->node.find("executor")->node.place};
    parse_resources(reader.take_table("resources"), "[workload.resources]", step.resources, problems);
    reader.finish();
    campaign.steps.push_back(std::move(step));
}

} // namespace tessera
