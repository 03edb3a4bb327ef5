#pragma once

#include <tessera/base/fd.hpp>
#include <tessera/supervisor/supervisor_protocol.hpp>

#include <optional>
#include <string>
#include <sys/resource.h>
#include <sys/types.h>

namespace tessera {

/// What every cell's process gets beside its request.
struct CellDefaults {
    rlimit open_files{}; ///< as the supervisor found it; it raises its own
    int oom_score_adj =
        500;          ///< above the supervisor's and the rank's, so that a cell is the kernel's first victim
    int null_fd = -1; ///< /dev/null, open for reading and writing
};

struct CellProcess {
    pid_t pid = 0;
    bool bound = false;
    UniqueFd standard_output; ///< our ends of its pipes
    UniqueFd standard_error;
};

struct CellFailure {
    SpawnStage stage = SpawnStage::none;
    int error = 0; ///< errno
};

struct CellStart {
    std::optional<CellProcess> process;
    CellFailure failure; ///< if there is no process
};

/// Starts a process as a session of its own. All our descriptors are close-on-exec, so it gets none but its
/// three.
CellStart start_cell(const SpawnRequest& request, const CellDefaults& defaults);

} // namespace tessera
