#include <tessera/base/text.hpp>
#include <tessera/worker/metrics_line.hpp>

#include <fmt/core.h>

#include <charconv>
#include <cmath>
#include <limits>
#include <optional>
#include <utility>

namespace tessera {

namespace {

constexpr std::size_t longest_name_bytes = 256;

struct Problem {
    std::string text;
};

enum class Kind { null, boolean, number, string, nested };

struct JsonValue {
    Kind kind = Kind::null;
    double number = 0;
    std::optional<std::int64_t> integer; ///< if the number was written as one
    std::string string;
};

/// A reader of one JSON object whose interesting values are scalars. JSON libraries refuse the bare NaN and
/// Infinity that Python's json module writes, hence our own. It does not recurse, so that no nesting can
/// exhaust the stack.
class LineParser {
public:
    explicit LineParser(std::string_view line)
        : line_(line) {}

    /// Calls `take(key, value)` for each member. Throws Problem.
    template <typename Take>
    void members(Take&& take) {
        skip_space();
        expect('{', "a JSON object ({...}) was expected");
        skip_space();
        if (!accept('}')) {
            do {
                skip_space();
                expect('"', "a key in double quotes was expected");
                const std::string key = string();
                skip_space();
                expect(':', "a ':' was expected after the key");
                skip_space();
                take(key, value());
                skip_space();
            } while (accept(','));
            expect('}', "a ',' or '}' was expected");
        }
        skip_space();
        if (at_ != line_.size()) fail("there is more after the object");
    }

private:
    [[noreturn]] void fail(std::string_view what) const {
        throw Problem{fmt::format("column {}: {}", at_ + 1, what)};
    }

    bool accept(char wanted) {
        if (at_ == line_.size() || line_[at_] != wanted) return false;
        ++at_;
        return true;
    }

    void expect(char wanted, std::string_view what) {
        if (!accept(wanted)) fail(what);
    }

    bool accept_word(std::string_view word) {
        if (line_.substr(at_, word.size()) != word) return false;
        at_ += word.size();
        return true;
    }

    void skip_space() {
        while (at_ < line_.size() && (line_[at_] == ' ' || line_[at_] == '\t' || line_[at_] == '\r'))
            ++at_;
    }

    JsonValue value() {
        if (at_ == line_.size()) fail("the line ends where a value was expected");
        constexpr double infinity = std::numeric_limits<double>::infinity();
        switch (line_[at_]) {
        case '"':
            ++at_;
            return {Kind::string, 0, {}, string()};
        case '{':
        case '[':
            skip_nested();
            return {Kind::nested, 0, {}, {}};
        default:
            break;
        }
        if (accept_word("null")) return {};
        if (accept_word("true")) return {Kind::boolean, 1, {}, {}};
        if (accept_word("false")) return {Kind::boolean, 0, {}, {}};
        if (accept_word("NaN")) return {Kind::number, std::numeric_limits<double>::quiet_NaN(), {}, {}};
        if (accept_word("Infinity")) return {Kind::number, infinity, {}, {}};
        if (accept_word("-Infinity")) return {Kind::number, -infinity, {}, {}};
        return number();
    }

    JsonValue number() {
        std::size_t end = at_;
        while (end < line_.size() &&
               (is_digit(line_[end]) || std::string_view("+-.eE").find(line_[end]) != std::string_view::npos))
            ++end;
        const std::string_view text = line_.substr(at_, end - at_);
        if (!follows_json(text)) fail("this is not a JSON value");
        JsonValue result;
        result.kind = Kind::number;
        const auto [rest, error] = std::from_chars(text.data(), text.data() + text.size(), result.number);
        if (error == std::errc::result_out_of_range) {
            // Too small is as good as zero; too large is not as good as infinity.
            if (!is_tiny(text)) fail("the number is too large for a double");
            result.number = 0;
        } else if (error != std::errc{} || rest != text.data() + text.size()) {
            fail("this is not a number");
        }
        std::int64_t integer = 0;
        const auto [integer_rest, integer_error] =
            std::from_chars(text.data(), text.data() + text.size(), integer);
        if (integer_error == std::errc{} && integer_rest == text.data() + text.size())
            result.integer = integer;
        at_ = end;
        return result;
    }

    static bool is_digit(char byte) { return byte >= '0' && byte <= '9'; }

    /// The parts that from_chars takes but JSON does not: "1.", ".5", "01".
    static bool follows_json(std::string_view text) {
        if (!text.empty() && text.front() == '-') text.remove_prefix(1);
        if (text.empty() || !is_digit(text.front())) return false;
        if (text.front() == '0' && text.size() > 1 && is_digit(text[1])) return false;
        const std::size_t point = text.find('.');
        return point == std::string_view::npos || (point + 1 < text.size() && is_digit(text[point + 1]));
    }

    static bool is_tiny(std::string_view text) {
        const std::size_t exponent = text.find_first_of("eE");
        if (exponent != std::string_view::npos) return text.substr(exponent + 1, 1) == "-";
        return text.substr(0, 2) == "0." || text.substr(0, 3) == "-0.";
    }

    /// After the opening quote.
    std::string string() {
        std::string result;
        for (;;) {
            if (at_ == line_.size()) fail("a string is not closed");
            const char byte = line_[at_++];
            if (byte == '"') return repair_utf8(result);
            if (static_cast<unsigned char>(byte) < 0x20)
                fail("a control character in a string must be escaped");
            if (byte == '\\')
                escape(result);
            else
                result += byte;
        }
    }

    void escape(std::string& out) {
        if (at_ == line_.size()) fail("a string is not closed");
        switch (line_[at_++]) {
        case '"':
            out += '"';
            break;
        case '\\':
            out += '\\';
            break;
        case '/':
            out += '/';
            break;
        case 'b':
            out += '\b';
            break;
        case 'f':
            out += '\f';
            break;
        case 'n':
            out += '\n';
            break;
        case 'r':
            out += '\r';
            break;
        case 't':
            out += '\t';
            break;
        case 'u':
            unicode_escape(out);
            break;
        default:
            fail("an unknown escape in a string");
        }
    }

    void unicode_escape(std::string& out) {
        std::uint32_t code = four_digits();
        if (code >= 0xD800 && code < 0xDC00 && accept_word("\\u")) {
            const std::uint32_t low = four_digits();
            if (low >= 0xDC00 && low < 0xE000)
                code = 0x10000 + ((code - 0xD800) << 10U) + (low - 0xDC00);
            else
                code = 0xFFFD;
        }
        if (code >= 0xD800 && code < 0xE000) code = 0xFFFD; // half of a pair
        append_utf8(out, code);
    }

    std::uint32_t four_digits() {
        const std::string_view text = line_.substr(at_, 4);
        std::uint32_t code = 0;
        const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), code, 16);
        if (text.size() < 4 || error != std::errc{} || end != text.data() + 4)
            fail("\\u needs four hexadecimal digits");
        at_ += 4;
        return code;
    }

    static void append_utf8(std::string& out, std::uint32_t code) {
        const auto continuation = [&](unsigned shift) {
            out += static_cast<char>(0x80U | ((code >> shift) & 0x3FU));
        };
        if (code < 0x80) {
            out += static_cast<char>(code);
        } else if (code < 0x800) {
            out += static_cast<char>(0xC0U | (code >> 6U));
            continuation(0);
        } else if (code < 0x10000) {
            out += static_cast<char>(0xE0U | (code >> 12U));
            continuation(6);
            continuation(0);
        } else {
            out += static_cast<char>(0xF0U | (code >> 18U));
            continuation(12);
            continuation(6);
            continuation(0);
        }
    }

    /// Passes over an object or array that nobody reads: only its end is looked for.
    void skip_nested() {
        std::size_t depth = 0;
        do {
            if (at_ == line_.size()) fail("an object or array is not closed");
            const char byte = line_[at_++];
            if (byte == '{' || byte == '[')
                ++depth;
            else if (byte == '}' || byte == ']')
                --depth;
            else if (byte == '"')
                string();
        } while (depth > 0);
    }

    std::string_view line_;
    std::size_t at_ = 0;
};

/// The members of the protocol, as they were given.
struct Members {
    std::optional<JsonValue> metric, value, text, step, unit, direction;

    void take(const std::string& key, JsonValue value_) {
        std::optional<JsonValue>* const place = find(key);
        if (place == nullptr) return;
        if (place->has_value()) throw Problem{fmt::format("\"{}\" is there twice", key)};
        *place = std::move(value_);
    }

private:
    std::optional<JsonValue>* find(std::string_view key) {
        if (key == "metric") return &metric;
        if (key == "value") return &value;
        if (key == "text") return &text;
        if (key == "step") return &step;
        if (key == "unit") return &unit;
        if (key == "direction") return &direction;
        return nullptr;
    }
};

bool is_given(const std::optional<JsonValue>& member) {
    return member && member->kind != Kind::null;
}

const std::string& string_of(const JsonValue& value, std::string_view key) {
    if (value.kind != Kind::string) throw Problem{fmt::format("\"{}\" must be a string", key)};
    return value.string;
}

std::string metric_name(const std::optional<JsonValue>& member) {
    if (!is_given(member)) throw Problem{"\"metric\" is missing"};
    const std::string& name = string_of(*member, "metric");
    if (name.empty()) throw Problem{"\"metric\" is empty"};
    if (name.size() > longest_name_bytes)
        throw Problem{fmt::format("\"metric\" is longer than {} bytes", longest_name_bytes)};
    for (const char byte : name)
        if (static_cast<unsigned char>(byte) < 0x20 || byte == 0x7F)
            throw Problem{"\"metric\" holds a control character"};
    return name;
}

std::int64_t series_index(const JsonValue& step) {
    if (step.integer) return *step.integer;
    constexpr double exact = 9007199254740992.0; // 2^53
    if (step.kind == Kind::number && std::abs(step.number) <= exact && std::trunc(step.number) == step.number)
        return static_cast<std::int64_t>(step.number);
    throw Problem{"\"step\" must be an integer of 64 bits"};
}

Direction direction_of(const JsonValue& value) {
    const std::string& text = string_of(value, "direction");
    if (text == "lower") return Direction::lower;
    if (text == "higher") return Direction::higher;
    throw Problem{"\"direction\" must be \"lower\" or \"higher\""};
}

MetricPoint point_of(const Members& members) {
    MetricPoint point;
    point.name = metric_name(members.metric);
    if (is_given(members.value) == is_given(members.text))
        throw Problem{"exactly one of \"value\" and \"text\" must be there"};
    if (is_given(members.text)) {
        point.text = string_of(*members.text, "text");
    } else {
        if (members.value->kind != Kind::number)
            throw Problem{
                "\"value\" must be a number, NaN, Infinity or -Infinity (use \"text\" for anything else)"};
        point.value = members.value->number;
    }
    if (is_given(members.step)) point.series_index = series_index(*members.step);
    if (is_given(members.unit)) point.unit = string_of(*members.unit, "unit");
    if (is_given(members.direction)) point.direction = direction_of(*members.direction);
    return point;
}

} // namespace

std::variant<MetricPoint, MetricLineProblem> parse_metric_line(std::string_view line) {
    try {
        Members members;
        LineParser(line).members(
            [&](const std::string& key, JsonValue value) { members.take(key, std::move(value)); });
        return point_of(members);
    } catch (const Problem& problem) {
        return MetricLineProblem{problem.text};
    }
}

} // namespace tessera
