#pragma once

#include <tessera/campaign/campaign.hpp>
#include <tessera/campaign/table_reader.hpp>
#include <tessera/campaign/toml_tree.hpp>

#include <string>
#include <vector>

namespace tessera {

/// The names that no axis, step or variable may have.
const std::vector<std::string>& reserved_names();

const std::vector<std::string>& executor_names();

/// The names of axes and steps, unique ignoring case.
class Names {
public:
    explicit Names(Problems& problems)
        : problems_(&problems) {}

    /// Reports a bad, reserved or already used name, and is then false.
    bool declare(const std::string& name, std::string_view kind, Place place);

private:
    Problems* problems_;
    std::vector<std::pair<std::string, std::string>> used_; ///< lower-case name and kind
};

/// A value of an axis or a field: a scalar, and with `lists` an array of scalars. Reports anything else, and
/// NaN.
std::optional<Value> parse_plain_value(const TomlNode& node, bool lists, const std::string& what,
                                       Problems& problems);

/// A value as one writes it: strings in quotes.
std::string quoted(const Value& value);

/// Fields of a definition.
Definition parse_definition(const TomlNode& table, const std::string& what, Problems& problems);

/// [models], [define.AXIS] and the like, by axis.
void parse_definitions(TableReader& root, Campaign& campaign, Problems& problems);

/// The axes of [matrix] in the order of the file, then those that only includes have.
std::vector<std::string> axis_names(const MatrixSource& matrix);

/// Reports a value of an axis that its definitions do not have.
void check_defined(const DefinitionSet& set, const PlacedValue& value, std::string_view axis,
                   Problems& problems);

/// [matrix]; needs the definitions. Checks all that one can tell without building the matrix.
void parse_matrix(TableReader& root, Campaign& campaign, Names& names, Problems& problems);

/// [[matrix.exclude]] and [[matrix.include]]; need the axes.
void parse_rules(const TomlEntry* excludes, const TomlEntry* includes, Campaign& campaign, Names& names,
                 Problems& problems);

/// [workload], [resources] and [env].
void parse_workload(TableReader& root, Campaign& campaign, Problems& problems);

} // namespace tessera
