#include <tessera/journal/journal_writer.hpp>

#include <fmt/core.h>

#include <cerrno>
#include <csignal>
#include <sys/eventfd.h>
#include <utility>

#include <fcntl.h>
#include <pthread.h>
#include <unistd.h>

namespace tessera {

namespace {

UniqueFd make_eventfd() {
    UniqueFd fd(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
    if (!fd) throw IoError("make an event descriptor", "eventfd", errno);
    return fd;
}

/// A thread that takes no signal: they are for the threads that wait for them.
template <typename Run>
std::thread start_without_signals(Run run) {
    sigset_t all;
    sigset_t before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    try {
        std::thread thread(run);
        pthread_sigmask(SIG_SETMASK, &before, nullptr);
        return thread;
    } catch (...) {
        pthread_sigmask(SIG_SETMASK, &before, nullptr);
        throw;
    }
}

} // namespace

JournalWriter::JournalWriter(const std::string& part_folder, std::string_view part, FileLayer& files,
                             Options options)
    : folder_(part_folder)
    , stream_(stream_id(part))
    , files_(files)
    , options_(options)
    , committed_(make_eventfd()) {
    open_next_file();
    thread_ = start_without_signals([this] { run(); });
}

JournalWriter::JournalWriter(const std::string& part_folder, std::string_view part, FileLayer& files)
    : JournalWriter(part_folder, part, files, Options()) {}

JournalWriter::~JournalWriter() {
    stop_thread();
}

std::uint64_t JournalWriter::append(const Record& record) {
    const std::string payload = encode(record);
    std::unique_lock lock(mutex_);
    progress_.wait(lock, [&] {
        return pending_.size() < 2 * options_.pending_limit_bytes || failure_.has_value() || closing_;
    });
    ++last_;
    if (failure_ || closing_) return last_;
    const bool was_empty = pending_.empty();
    append_frame(pending_, static_cast<std::uint16_t>(frame_type(record)), stream_, last_, payload);
    pending_last_ = last_;
    lock.unlock();
    if (was_empty) work_.notify_one();
    return last_;
}

bool JournalWriter::has_room() const {
    const std::lock_guard lock(mutex_);
    return pending_.size() < options_.pending_limit_bytes;
}

void JournalWriter::clear_committed() {
    std::uint64_t count = 0;
    [[maybe_unused]] const ssize_t read = ::read(committed_.get(), &count, sizeof count);
}

std::optional<IoError> JournalWriter::failure() const {
    const std::lock_guard lock(mutex_);
    return failure_;
}

void JournalWriter::sync() {
    std::unique_lock lock(mutex_);
    progress_.wait(lock, [&] { return failure_.has_value() || durable_sequence() >= pending_last_; });
    if (failure_) throw IoError(*failure_);
}

void JournalWriter::close() {
    stop_thread();
    const std::lock_guard lock(mutex_);
    if (failure_) throw IoError(*failure_);
}

void JournalWriter::stop_thread() {
    {
        const std::lock_guard lock(mutex_);
        closing_ = true;
    }
    work_.notify_one();
    if (thread_.joinable()) thread_.join();
}

void JournalWriter::run() {
    std::string batch;
    std::unique_lock lock(mutex_);
    for (;;) {
        work_.wait(lock, [&] { return !pending_.empty() || closing_; });
        if (pending_.empty()) return;
        batch.clear();
        std::swap(batch, pending_);
        const std::uint64_t last = pending_last_;
        lock.unlock();
        try {
            commit(batch, last);
        } catch (const IoError& error) {
            fail(error);
            return;
        }
        lock.lock();
        progress_.notify_all();
    }
}

void JournalWriter::commit(const std::string& batch, std::uint64_t last) {
    if (file_bytes_ >= options_.rotate_bytes) open_next_file();
    write_fully(files_, file_.get(), batch, file_path_);
    files_.sync_data(file_.get(), file_path_);
    file_bytes_ += batch.size();
    durable_.store(last, std::memory_order_release);
    notify();
}

void JournalWriter::open_next_file() {
    const std::uint32_t number = file_number_.load() + 1;
    file_path_ = fmt::format("{}/journal-{:04}", folder_, number);
    file_ = files_.open(file_path_, O_WRONLY | O_CREAT | O_EXCL | O_APPEND, 0600);
    files_.sync_folder(folder_);
    file_bytes_ = 0;
    file_number_.store(number, std::memory_order_release);
}

void JournalWriter::fail(const IoError& error) {
    {
        const std::lock_guard lock(mutex_);
        failure_ = error;
        pending_.clear();
    }
    progress_.notify_all();
    notify();
}

void JournalWriter::notify() {
    const std::uint64_t one = 1;
    [[maybe_unused]] const ssize_t written = ::write(committed_.get(), &one, sizeof one);
}

} // namespace tessera
