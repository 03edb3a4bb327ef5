// Plays a rank: starts a supervisor and cells, then does nothing until it is killed.
// Arguments: supervisor, attempt folder, number of cells, grace time in seconds, argument vector of a cell in
// which "@" becomes the cell's number.

#include <tessera/worker/environment.hpp>
#include <tessera/worker/supervisor_client.hpp>

#include <cstdlib>
#include <string>

#include <unistd.h>

int main(int argc, char** argv) {
    tessera::SupervisorClient client(argv[1]);
    const std::string folder = argv[2];
    for (int cell = 0; cell < std::atoi(argv[3]); ++cell) {
        tessera::SpawnRequest request;
        request.ticket = static_cast<std::uint64_t>(cell);
        request.attempt = "rank-" + std::to_string(::getpid()) + "-" + std::to_string(cell);
        request.grace_s = std::atof(argv[4]);
        for (int i = 5; i < argc; ++i) {
            std::string word = argv[i];
            if (const std::size_t at = word.find('@'); at != std::string::npos)
                word.replace(at, 1, std::to_string(cell));
            request.argv.push_back(word);
        }
        request.env = tessera::own_environment();
        request.env.push_back("TESSERA_ATTEMPT=" + request.attempt);
        request.folder = folder;
        request.stdout_path = folder + "/stdout";
        request.stderr_path = folder + "/stderr";
        request.log_limit_bytes = 1000;
        client.send(request);
    }
    for (;;)
        ::pause();
}
