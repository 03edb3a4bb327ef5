#pragma once

#include <nlohmann/json_fwd.hpp>

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace tessera {

/// A value of a campaign file with its TOML type: 1, 1.0, "1" and true are four different values. TOML's
/// dates and times are kept as their text.
class Value {
public:
    using Array = std::vector<Value>;
    using Table = std::map<std::string, Value, std::less<>>;

    Value()
        : data_(std::string()) {}

    Value(bool value)
        : data_(value) {}

    Value(std::int64_t value)
        : data_(value) {}

    Value(int value)
        : data_(std::int64_t{value}) {}

    Value(double value)
        : data_(value) {}

    Value(std::string value)
        : data_(std::move(value)) {}

    Value(std::string_view value)
        : data_(std::string(value)) {}

    Value(const char* value)
        : data_(std::string(value)) {}

    Value(Array value)
        : data_(std::move(value)) {}

    Value(Table value)
        : data_(std::move(value)) {}

    bool operator==(const Value&) const = default;

    template <typename T>
    const T* get_if() const {
        return std::get_if<T>(&data_);
    }

    template <typename T>
    bool is() const {
        return std::holds_alternative<T>(data_);
    }

    bool is_number() const { return is<std::int64_t>() || is<double>(); }

    /// What a placeholder puts into a string: numbers in their shortest form (a float keeps a point or an
    /// exponent), lists joined by ",", tables as JSON.
    std::string display() const;

    /// Typed, unambiguous bytes for hashing; equal exactly for equal values.
    void append_canonical(std::string& out) const;
    std::string canonical() const;

    /// JSON with NaN and infinities as the strings "NaN", "Infinity" and "-Infinity".
    nlohmann::json to_json() const;
    static Value from_json(const nlohmann::json& json);

    /// "boolean", "integer", "float", "string", "array" or "table", as TOML calls them.
    std::string_view type_name() const;

private:
    std::variant<bool, std::int64_t, double, std::string, Array, Table> data_;
};

/// The shortest decimal text that reads back as `value`, always with a point, an exponent, or as "nan" and
/// "inf".
std::string format_float(double value);

} // namespace tessera
