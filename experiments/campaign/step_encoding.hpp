#pragma once

#include <tessera/base/value.hpp>

#include <cstdint>
#include <string>
#include <string_view>

namespace tessera {

/// The canonical form of a step's meaning, which its key hashes:
///
///     step   = "tessera step 1" end { field }
///     field  = name end { text end } close          fields in a fixed order, absent ones left out
///     text   = { byte | typed value }
///
/// A string is hashed as its bytes, so that it does not matter where in the file a part of it came from; a
/// substituted value of another type by its type and value, so that 1, 1.0 and "1" differ though they look
/// alike in a command. The control bytes used as marks are escaped in strings, so that two steps have equal
/// forms exactly if they mean the same, and so that the form of a text is the concatenation of the forms of
/// its pieces. See docs/campaign.md, "Identity".
namespace step_encoding {

inline constexpr std::string_view version = "tessera step 1";
inline constexpr std::string_view cell_version = "tessera cell 1";
inline constexpr char end_mark = '\0';
inline constexpr char escape_mark = '\1';
inline constexpr char typed_mark = '\2';
inline constexpr char close_mark = '\3';

/// A string's bytes, marks escaped.
void append_text(std::string& out, std::string_view text);

/// A value within a text: a list joined by ",".
void append_piece(std::string& out, const Value& value);

/// A value that is a whole argument: a list becomes that many arguments.
void append_argument(std::string& out, const Value& value);

/// A place: what it is, not where it lies.
void append_place(std::string& out, std::string_view meaning);

/// A whole field of one text.
void append_field(std::string& out, std::string_view name, const Value& value);

void open_field(std::string& out, std::string_view name);

} // namespace step_encoding

/// The seed of a repeat, the same for all cells, so that repeats of different cells are paired. Within 31
/// bits, which every random number generator takes.
std::uint64_t derived_seed(std::uint64_t campaign_seed, std::uint32_t repeat);

} // namespace tessera
