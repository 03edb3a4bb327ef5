#pragma once

#include <tessera/base/error.hpp>
#include <tessera/base/fd.hpp>
#include <tessera/journal/file_layer.hpp>
#include <tessera/journal/frame.hpp>
#include <tessera/journal/records.hpp>

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <optional>
#include <string>
#include <thread>

namespace tessera {

/// Writes the journal of one part: journal-0001, journal-0002, ... in its folder, each sealed at
/// `rotate_bytes`; sequence numbers begin at 1 and go on over the files.
///
/// One thread (the controller's) appends and never waits for the disk; another writes what has gathered,
/// syncs it, and then publishes the highest durable sequence number. The first failure ends the writing for
/// good: what is not durable then stays so, and the run must stop in order.
class JournalWriter {
public:
    struct Options {
        std::uint64_t rotate_bytes = 64ULL << 20U;
        std::size_t pending_limit_bytes = 16U << 20U; ///< of frames that wait to be written
    };

    /// Makes the first file. Throws IoError. `files` must outlive the writer.
    JournalWriter(const std::string& part_folder, std::string_view part, FileLayer& files, Options options);
    JournalWriter(const std::string& part_folder, std::string_view part, FileLayer& files = system_files());

    /// Closes; a failure then is only in failure().
    ~JournalWriter();
    JournalWriter(const JournalWriter&) = delete;
    JournalWriter& operator=(const JournalWriter&) = delete;

    /// Returns the frame's sequence number. It waits only if twice the pending limit has gathered, so that
    /// memory stays bounded whatever the disk does; see has_room(). After a failure or close() the record is
    /// dropped: its number never becomes durable.
    std::uint64_t append(const Record& record);

    /// False when as much waits as should: take no further work until the committed descriptor is readable.
    bool has_room() const;

    /// All frames up to this number are on the disk.
    std::uint64_t durable_sequence() const { return durable_.load(std::memory_order_acquire); }

    /// Of the last append().
    std::uint64_t last_sequence() const { return last_; }

    /// An eventfd that is readable when durable_sequence() has risen or a failure has occurred since
    /// clear_committed().
    int committed_fd() const { return committed_.get(); }

    void clear_committed();

    /// The first failure. It stays.
    std::optional<IoError> failure() const;

    /// Number of the file that is being written; those below are sealed.
    std::uint32_t current_file() const { return file_number_.load(std::memory_order_acquire); }

    /// Waits until everything appended is durable. Throws the failure.
    void sync();

    /// sync(), then ends the thread. Throws the failure. A second call does nothing.
    void close();

private:
    void run();
    void commit(const std::string& batch, std::uint64_t last);
    void open_next_file();
    void fail(const IoError& error);
    void notify();
    void stop_thread();

    const std::string folder_;
    const StreamId stream_;
    FileLayer& files_;
    const Options options_;
    UniqueFd committed_;
    UniqueFd file_; ///< of the thread, as are the next two
    std::string file_path_;
    std::uint64_t file_bytes_ = 0;
    std::atomic<std::uint32_t> file_number_ = 0;
    std::atomic<std::uint64_t> durable_ = 0;
    std::uint64_t last_ = 0; ///< of the appending thread

    mutable std::mutex mutex_;
    std::condition_variable work_;     ///< the thread waits for frames
    std::condition_variable progress_; ///< others wait for the thread
    std::string pending_;
    std::uint64_t pending_last_ = 0;
    std::optional<IoError> failure_;
    bool closing_ = false;
    std::thread thread_;
};

} // namespace tessera
