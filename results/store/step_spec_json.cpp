#include <tessera/base/error.hpp>
#include <tessera/store/step_spec_json.hpp>

#include <nlohmann/json.hpp>

#include <array>

namespace tessera {

namespace {

using nlohmann::json;

constexpr std::array<std::string_view, 3> keep_names{"failed", "all", "none"};

template <typename T>
json optional_json(const std::optional<T>& value) {
    return value ? json(*value) : json();
}

template <typename T>
void read(const json& object, const char* key, T& value) {
    if (const auto found = object.find(key); found != object.end()) found->get_to(value);
}

template <typename T>
void read(const json& object, const char* key, std::optional<T>& value) {
    if (const auto found = object.find(key); found != object.end() && !found->is_null())
        value = found->get<T>();
}

KeepAttempts keep_attempts(const json& object) {
    std::string word(keep_names[0]);
    read(object, "keep_attempts", word);
    for (std::size_t i = 0; i < keep_names.size(); ++i)
        if (keep_names[i] == word) return static_cast<KeepAttempts>(i);
    return KeepAttempts::failed;
}

} // namespace

std::string step_spec_json(const StepSpec& spec) {
    // The binding names every field, so that one added to StepSpec does not compile until it is stored here
    // too.
    const auto& [name, executor, accelerator, argv, env, stdin_text, resources, timeout_s, grace_s, keep,
                 kept_attempts, log_limit_bytes, metrics_limit_bytes, axes_json, cell, repeat, seed,
                 campaign_folder] = spec;
    json object{{"name", name},
                {"executor", executor},
                {"accelerator", accelerator},
                {"argv", argv},
                {"stdin_text", optional_json(stdin_text)},
                {"cores", resources.cores},
                {"memory_bytes", resources.memory_bytes},
                {"devices", resources.devices},
                {"timeout_s", optional_json(timeout_s)},
                {"grace_s", grace_s},
                {"keep", keep},
                {"keep_attempts", keep_names[static_cast<std::size_t>(kept_attempts)]},
                {"log_limit_bytes", log_limit_bytes},
                {"metrics_limit_bytes", metrics_limit_bytes},
                {"axes_json", axes_json},
                {"cell", cell},
                {"repeat", optional_json(repeat)},
                {"seed", optional_json(seed)},
                {"campaign_folder", campaign_folder}};
    json& entries = object["env"] = json::array();
    for (const EnvEntry& entry : env)
        entries.push_back({entry.name, entry.value});
    return object.dump(-1, ' ', false, json::error_handler_t::replace);
}

StepSpec step_spec_from_json(std::string_view text) {
    StepSpec spec;
    try {
        const json object = json::parse(text);
        read(object, "name", spec.name);
        read(object, "executor", spec.executor);
        read(object, "accelerator", spec.accelerator);
        read(object, "argv", spec.argv);
        read(object, "stdin_text", spec.stdin_text);
        read(object, "cores", spec.resources.cores);
        read(object, "memory_bytes", spec.resources.memory_bytes);
        read(object, "devices", spec.resources.devices);
        read(object, "timeout_s", spec.timeout_s);
        read(object, "grace_s", spec.grace_s);
        read(object, "keep", spec.keep);
        spec.keep_attempts = keep_attempts(object);
        read(object, "log_limit_bytes", spec.log_limit_bytes);
        read(object, "metrics_limit_bytes", spec.metrics_limit_bytes);
        read(object, "axes_json", spec.axes_json);
        read(object, "cell", spec.cell);
        read(object, "repeat", spec.repeat);
        read(object, "seed", spec.seed);
        read(object, "campaign_folder", spec.campaign_folder);
        for (const json& entry : object.value("env", json::array()))
            spec.env.push_back({entry.at(0).get<std::string>(), entry.at(1).get<std::string>()});
    } catch (const json::exception& error) {
        throw FormatError("text of a step", 0, error.what());
    }
    return spec;
}

} // namespace tessera
