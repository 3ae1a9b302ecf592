// SPDX-License-Identifier: MIT
// A gRPC client that counts exactly: grpc_client PORT CHANNELS STREAMS SIZE. It understands the lines that load.c
// does, and answers as that, but for bytes. Each channel is a connection of its own, with up to STREAMS requests on
// it at once.

#include <err.h>
#include <signal.h>
#include <sys/prctl.h>

#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <cstring>
#include <memory>
#include <mutex>
#include <random>
#include <string>
#include <vector>

#include <grpcpp/generic/generic_stub.h>
#include <grpcpp/grpcpp.h>

extern "C" {
#include "record.h"
}

namespace
{

using Clock = std::chrono::steady_clock;
using Moment = decltype(Clock::now());

std::chrono::nanoseconds ns(double seconds)
{
	return std::chrono::nanoseconds(long(seconds * 1e9));
}

struct Call {
	grpc::ClientContext context;
	grpc::ByteBuffer request, response;
	Moment due, sent;
};

// The times at which requests are due.
class Plan
{
      public:
	Plan(double rate, double seconds, bool fixed, unsigned batch)
	    : due(Clock::now()), end(due + ns(seconds)), rate_(rate), fixed_(fixed), batch_(batch),
	      left_(batch)
	{
	}

	void next()
	{
		if (!rate_)
			due = Clock::now();
		else if (!--left_) {
			left_ = batch_;
			due += ns((fixed_ ? 1 : gap_(chance_) * batch_) / rate_);
		}
	}
	bool is_finished() const
	{
		return due >= end || Clock::now() >= end;
	}

	// What is due but was not sent, to the end.
	unsigned long remaining()
	{
		unsigned long count = 0;

		for (; rate_ && due < end; count++)
			next();
		return count;
	}

	Moment due, end;

      private:
	double rate_;
	bool fixed_;
	unsigned batch_, left_; // with the one that is due
	std::mt19937_64 chance_{ 1 };
	std::exponential_distribution<double> gap_;
};

class Client
{
      public:
	Client(const std::string &where, unsigned channels, unsigned streams, size_t size)
	    : limit_(channels * streams), body_(std::string(size, 'x'))
	{
		for (unsigned i = 0; i < channels; i++)
			connect(where);
	}

	void run(double rate, double seconds, bool fixed, unsigned batch)
	{
		double begin_s = clock_ns(CLOCK_REALTIME) / 1e9;
		Plan plan(rate, seconds, fixed, batch);

		sent_ = 0;
		for (; !plan.is_finished(); plan.next()) {
			wait_until(plan.due);
			if (!wait_for_room(plan.end))
				break;
			begin(plan.due);
		}
		std::unique_lock guard(lock_);
		changed_.wait(guard, [this] { return !outstanding_; });
		printf("{\"begin\": %.6f, \"end\": %.6f, \"sent\": %lu, \"dropped\": %lu, ",
		       begin_s, clock_ns(CLOCK_REALTIME) / 1e9, sent_, plan.remaining());
		record_print(&latency_, "latency", stdout);
		printf(", ");
		record_print(&open_, "open", stdout);
		printf("}\n");
		fflush(stdout);
	}

      private:
	void connect(const std::string &where)
	{
		grpc::ChannelArguments arguments;

		arguments.SetInt(GRPC_ARG_USE_LOCAL_SUBCHANNEL_POOL, 1);
		auto channel = grpc::CreateCustomChannel(where, grpc::InsecureChannelCredentials(),
							 arguments);
		if (!channel->WaitForConnected(std::chrono::system_clock::now() +
					       std::chrono::seconds(60)))
			errx(1, "connect %s", where.c_str());
		stubs_.push_back(std::make_unique<grpc::GenericStub>(channel));
	}

	void wait_until(Moment due)
	{
		std::unique_lock guard(lock_);

		changed_.wait_until(guard, due, [due] { return Clock::now() >= due; });
	}

	bool wait_for_room(Moment end)
	{
		std::unique_lock guard(lock_);

		return changed_.wait_until(guard, end, [this] { return outstanding_ < limit_; });
	}

	void begin(Moment due)
	{
		auto call = std::make_shared<Call>();
		auto &stub = *stubs_[sent_++ % stubs_.size()];

		call->request = grpc::ByteBuffer(&body_, 1);
		call->due = due;
		{
			std::unique_lock guard(lock_);
			outstanding_++;
		}
		call->sent = Clock::now();
		stub.UnaryCall(
			&call->context, "/evidence/answer", {}, &call->request, &call->response,
			[this, call](const grpc::Status &status) { complete(*call, status); });
	}

	void complete(const Call &call, const grpc::Status &status)
	{
		auto now = Clock::now();
		std::unique_lock guard(lock_);

		if (!status.ok())
			errx(1, "%s", status.error_message().c_str());
		record_add(&latency_, std::chrono::nanoseconds(now - call.sent).count());
		record_add(&open_, std::chrono::nanoseconds(now - call.due).count());
		outstanding_--;
		changed_.notify_all();
	}

	unsigned limit_, outstanding_ = 0;
	unsigned long sent_ = 0;
	grpc::Slice body_;
	std::vector<std::unique_ptr<grpc::GenericStub>> stubs_;
	std::mutex lock_;
	std::condition_variable changed_;
	record latency_{}, open_{};
};

} // namespace

int main(int argc, char **argv)
{
	char line[100], word[20];
	double rate, seconds;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	prctl(PR_SET_TIMERSLACK, 1);
	if (argc != 5)
		errx(2, "usage: grpc_client PORT CHANNELS STREAMS SIZE");
	Client client("127.0.0.1:" + std::string(argv[1]), atoi(argv[2]), atoi(argv[3]),
		      atol(argv[4]));
	puts("ready");
	fflush(stdout);
	while (fgets(line, sizeof(line), stdin)) {
		int words = sscanf(line, "%lf %lf %19s", &rate, &seconds, word);
		bool fixed = words == 3 && !strcmp(word, "fixed");
		int batch = words == 3 && !fixed ? atoi(word) : 1;

		if (words < 2 || batch < 1)
			errx(2, "what is '%s'?", line);
		client.run(rate, seconds, fixed, batch);
	}
}
