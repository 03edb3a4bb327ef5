#pragma once

#include <string>
#include <vector>

namespace tessera {

/// Subcommands of `tessera`. Each gets its arguments without its own name, prints to stdout and returns the
/// exit code; UserError means exit code 2.
int exec_command(const std::vector<std::string>& args);
int init_command(const std::vector<std::string>& args);
int invalidate_command(const std::vector<std::string>& args);
int logs_command(const std::vector<std::string>& args);
int plan_command(const std::vector<std::string>& args);
int query_command(const std::vector<std::string>& args);
int run_command(const std::vector<std::string>& args);
int show_command(const std::vector<std::string>& args);
int status_command(const std::vector<std::string>& args);

} // namespace tessera
