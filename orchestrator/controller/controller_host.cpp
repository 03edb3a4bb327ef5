#include <tessera/controller/controller_host.hpp>
#include <tessera/controller/worker_host.hpp>
#include <tessera/journal/spool.hpp>
#include <tessera/protocol/composite_transport.hpp>
#include <tessera/protocol/handshake.hpp>
#include <tessera/protocol/in_process_transport.hpp>
#include <tessera/version.hpp>
#include <tessera/worker/partition.hpp>

#include <fmt/core.h>

#include <algorithm>
#include <csignal>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <thread>

namespace tessera {

namespace {

constexpr double handshake_s = 120;
/// Between two looks for a stop file: on a shared filesystem each costs a round trip.
constexpr double file_interval_s = 0.25;
/// How long a worker's rank waits for the controller to have read the campaign and its journals.
constexpr double invitation_s = 900;

/// Signals and the stop file, as one level that only rises.
class StopWatch {
public:
    StopWatch(SignalWatcher& signals, const CampaignDirectory& directory, std::string run_name,
              const Clock& clock)
        : signals_(signals)
        , directory_(directory)
        , run_name_(std::move(run_name))
        , clock_(clock) {
        // A wish that was there before is not for this run, unless it names it.
        const auto before = wish();
        if (before && !is_for_this_run(*before)) seen_ = before;
    }

    StopLevel level() {
        for (const int signal : signals_.take()) {
            if (signal == SIGTERM && code_ == 0) code_ = exit_code::terminated;
            raise(level_ == StopLevel::none ? StopLevel::drain : StopLevel::kill);
        }
        if (clock_.now() >= next_look_) {
            next_look_ = clock_.now() + from_seconds(file_interval_s);
            obey_file();
        }
        return level_;
    }

    /// The exit code for what stopped the run; 0 if nothing did.
    int code() const { return level_ == StopLevel::none ? 0 : code_; }

private:
    void obey_file() {
        const auto request = wish();
        if (!request || request == seen_) return;
        seen_ = request;
        if (!request->run.empty() && !is_for_this_run(*request)) return;
        raise(request->kill ? StopLevel::kill : StopLevel::drain);
    }

    bool is_for_this_run(const StopWish& request) const {
        return !run_name_.empty() && request.run == run_name_;
    }

    /// A filesystem in trouble must not end the run here; the journal will tell.
    std::optional<StopWish> wish() const {
        try {
            return directory_.stop_request();
        } catch (const Error&) {
            return std::nullopt;
        }
    }

    void raise(StopLevel level) {
        if (code_ == 0) code_ = exit_code::interrupted;
        level_ = std::max(level_, level);
    }

    SignalWatcher& signals_;
    const CampaignDirectory& directory_;
    std::string run_name_;
    const Clock& clock_;
    Moment next_look_{};
    std::optional<StopWish> seen_;
    StopLevel level_ = StopLevel::none;
    int code_ = 0;
};

/// The worker thread of the controller's own process.
class LocalWorker {
public:
    LocalWorker(WorkerHost& host, const Id128& campaign_id, PeerId peer) {
        auto endpoints = in_process_star({0, peer});
        hub_ = std::move(endpoints[0]);
        thread_ = std::thread([&host, campaign_id, endpoint = std::move(endpoints[1]), this]() mutable {
            try {
                const WorkerResult result = host.run(*endpoint, campaign_id, from_seconds(handshake_s));
                if (result.end != WorkerEnd::stopped) trouble_ = describe(result);
                endpoint->close(from_seconds(5));
            } catch (const std::exception& error) {
                trouble_ = error.what();
            }
            endpoint.reset();
        });
    }

    ~LocalWorker() {
        hub_.reset();
        if (thread_.joinable()) thread_.join();
    }

    LocalWorker(const LocalWorker&) = delete;
    LocalWorker& operator=(const LocalWorker&) = delete;

    InProcessTransport& hub() { return *hub_; }

    /// Waits for its end; why it could not go on, or empty.
    std::string join() {
        thread_.join();
        return trouble_;
    }

private:
    std::unique_ptr<InProcessTransport> hub_;
    std::string trouble_; ///< of the thread, until it was joined
    std::thread thread_;
};

void refuse_all(Transport* remote, const std::string& reason) {
    if (remote == nullptr) return;
    for (const PeerId peer : remote->peers())
        remote->send(peer, encode_message(Refuse{reason}));
}

HandshakeTerms terms_of(const RunSession& session, const NodeReport& node) {
    HandshakeTerms terms;
    terms.build = version;
    terms.campaign_id = session.directory().identity().id;
    terms.host = node.host;
    return terms;
}

/// Waits for another run's sign of life, but not against the user's will.
Pause make_pause(SignalWatcher& signals) {
    return [&signals](Duration duration) {
        pollfd fd{signals.fd(), POLLIN, 0};
        ::poll(&fd, 1, static_cast<int>(seconds(duration) * 1000));
        return (fd.revents & POLLIN) == 0;
    };
}

class ControllerHost {
public:
    ControllerHost(const Plan& plan, const RunOrder& order, Transport* remote, SupervisorClient& supervisor,
                   SignalWatcher& signals, const Clock& clock)
        : plan_(plan)
        , order_(order)
        , remote_(remote)
        , clock_(clock)
        , signals_(signals)
        , host_(supervisor, clock)
        , session_(plan, order.dir, order.request, order.command_line, clock, make_pause(signals))
        , stop_(signals, session_.directory(), order.run_name, clock) {}

    RunEnd run() {
        for (const std::string& notice : session_.notices())
            order_.notice(notice);
        gather_workers();
        const RunResult result = control();
        settle_lost(result.lost);
        order_.release();
        RunEnd end = run_end(result, stop_.code());
        for (const std::string& problem : session_.part().close(end.code, end.reason))
            order_.notice(problem);
        return end;
    }

private:
    struct Candidate {
        PeerId peer = 0;
        Hello hello;
        WorkerShare share;
    };

    void gather_workers() {
        std::map<PeerId, Hello> hellos;
        if (remote_ != nullptr) {
            for (const PeerId peer : remote_->peers())
                remote_->send(peer, encode_message(Heartbeat{}));
            hellos =
                collect_hellos(*remote_, clock_, terms_of(session_, host_.node()), from_seconds(handshake_s));
        }
        std::vector<NodeReport> reports = {host_.node()};
        for (const auto& [peer, hello] : hellos)
            reports.push_back(hello.node);
        const Partition partition = partition_nodes(reports, {order_.controller_only && remote_ != nullptr});
        for (const std::string& warning : partition.warnings)
            order_.notice(warning);

        std::size_t rank = 1;
        for (auto& [peer, hello] : hellos)
            if (const auto& share = partition.shares[rank++])
                candidates_.push_back({peer, std::move(hello), *share});
        if (partition.shares[0]) add_local_worker(*partition.shares[0]);
    }

    void add_local_worker(const WorkerShare& share) {
        const PeerId peer = remote_ == nullptr ? 1 : static_cast<PeerId>(remote_->peers().size() + 1);
        local_.emplace(host_, session_.directory().identity().id, peer);
        auto hellos = collect_hellos(local_->hub(), clock_, terms_of(session_, host_.node()),
                                     from_seconds(handshake_s));
        candidates_.push_back({peer, std::move(hellos.at(peer)), share});
    }

    RunResult control() {
        std::optional<CompositeTransport> both;
        if (remote_ != nullptr && local_) both.emplace(*remote_, local_->hub());
        Transport& transport = both ? *both : remote_ != nullptr ? *remote_ : local_->hub();

        ControllerHooks hooks;
        hooks.stop_level = [this] { return stop_.level(); };
        hooks.wake_fds = {signals_.fd()};
        hooks.superseded = [this] { return session_.part().superseded(); };
        hooks.progress = order_.progress;
        Controller controller(plan_, session_.selection(), session_.part().claim(), session_.part().id(),
                              session_.part().journal(), transport, clock_, hooks);
        std::uint32_t number = 0;
        for (const Candidate& candidate : candidates_) {
            MessageEncoder encoder;
            transport.send(candidate.peer, encoder.encode(welcome(number++, candidate, hooks)));
            const WorkerShare& share = candidate.share;
            controller.add_worker(
                {candidate.peer,
                 candidate.hello.node.host,
                 {share.core_slots, share.memory_bytes, static_cast<std::uint32_t>(share.devices.size())}},
                std::move(encoder), MessageDecoder());
        }
        RunResult result = controller.run();
        if (local_) {
            const std::string trouble = local_->join();
            if (!trouble.empty()) order_.notice("the worker of this process ended: " + trouble);
        }
        return result;
    }

    /// Journals how the attempts of lost workers ended: as their spools say, for a worker may have finished
    /// one before it was lost, else as lost.
    void settle_lost(const std::vector<OutcomeRecord>& lost) {
        std::map<std::uint32_t, std::vector<OutcomeRecord>> spooled;
        for (const OutcomeRecord& outcome : lost) {
            auto [worker, fresh] = spooled.try_emplace(outcome.worker);
            if (fresh) worker->second = read_worker_spool(outcome.worker);
            const auto found =
                std::find_if(worker->second.begin(), worker->second.end(),
                             [&](const OutcomeRecord& known) { return known.attempt == outcome.attempt; });
            session_.part().journal().append(found == worker->second.end() ? outcome : *found);
        }
    }

    std::vector<OutcomeRecord> read_worker_spool(std::uint32_t worker) {
        std::vector<OutcomeRecord> outcomes;
        const std::string part = session_.part().id();
        const std::string path = fmt::format("{}/spool-{}", session_.directory().part_folder(part), worker);
        if (!std::filesystem::exists(path)) return outcomes;
        read_spool(path, part, [&](OutcomeRecord&& outcome) { outcomes.push_back(std::move(outcome)); });
        return outcomes;
    }

    Welcome welcome(std::uint32_t number, const Candidate& candidate, const ControllerHooks& hooks) {
        Welcome message;
        message.worker = number;
        message.part = session_.part().id();
        message.campaign_dir =
            std::filesystem::absolute(session_.directory().path()).lexically_normal().string();
        message.cpus = candidate.share.cpus;
        message.devices = candidate.share.devices;
        message.core_slots = candidate.share.core_slots;
        message.memory_bytes = candidate.share.memory_bytes;
        message.heartbeat_s = hooks.heartbeat_s;
        return message;
    }

    const Plan& plan_;
    const RunOrder& order_;
    Transport* remote_;
    const Clock& clock_;
    SignalWatcher& signals_;
    WorkerHost host_;
    RunSession session_;
    StopWatch stop_;
    std::vector<Candidate> candidates_;
    std::optional<LocalWorker> local_;
};

} // namespace

RunEnd run_as_controller(const Plan& plan, const RunOrder& order, Transport* remote,
                         SupervisorClient& supervisor, SignalWatcher& signals, const Clock& clock) {
    std::optional<ControllerHost> host;
    try {
        // A mistake must not leave a directory behind.
        check_request(plan, order.request);
        host.emplace(plan, order, remote, supervisor, signals, clock);
    } catch (const Error& error) {
        refuse_all(remote, error.what());
        throw;
    }
    return host->run();
}

std::string describe(const WorkerResult& result) {
    const auto with_detail = [&](const char* what) {
        return result.detail.empty() ? std::string(what) : fmt::format("{}: {}", what, result.detail);
    };
    switch (result.end) {
    case WorkerEnd::stopped:
        return "as the controller said";
    case WorkerEnd::controller_silent:
        return with_detail("the controller has fallen silent; finished attempts are in the spool");
    case WorkerEnd::controller_lost:
        return with_detail("the controller is gone; finished attempts are in the spool");
    case WorkerEnd::controller_garbled:
        return with_detail("the controller sent what cannot be read");
    case WorkerEnd::spool_failed:
        return with_detail("outcomes cannot be kept");
    }
    return {};
}

WorkerResult run_as_worker(const std::string& dir, const std::string& campaign_name, Transport& transport,
                           SupervisorClient& supervisor, const Clock& clock) {
    // The controller speaks first, so that nobody touches the directory before it has accepted the campaign.
    const Moment deadline = clock.now() + from_seconds(invitation_s);
    for (;;) {
        if (const auto first = transport.receive()) {
            const Message message = decode_message(first->bytes, "the controller");
            if (const auto* refusal = std::get_if<Refuse>(&message)) throw RefusedError({refusal->reason});
            break;
        }
        if (clock.now() > deadline) throw HandshakeError({"the controller did not speak"});
        transport.wait({}, from_seconds(1));
    }
    const CampaignDirectory directory = CampaignDirectory::open_or_create(dir, campaign_name);
    WorkerHost host(supervisor, clock);
    return host.run(transport, directory.identity().id, from_seconds(handshake_s));
}

} // namespace tessera
