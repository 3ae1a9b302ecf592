// SPDX-License-Identifier: MIT
// A gRPC service that computes a little: grpc_server PORT. It knows no message format: any method is answered by
// bytes.

#include <signal.h>
#include <sys/prctl.h>

#include <memory>
#include <string>
#include <vector>

#include <grpcpp/generic/async_generic_service.h>
#include <grpcpp/grpcpp.h>

namespace
{

constexpr unsigned passes = 20, response_size = 200;

class Response : public grpc::ServerGenericBidiReactor
{
      public:
	Response()
	{
		StartRead(&request_);
	}

	void OnReadDone(bool fine) override
	{
		if (!fine)
			return Finish(grpc::Status::CANCELLED);
		grpc::Slice slice(std::string(response_size, char('a' + compute() % 26)));
		response_ = grpc::ByteBuffer(&slice, 1);
		StartWriteAndFinish(&response_, {}, grpc::Status::OK);
	}

	void OnDone() override
	{
		delete this;
	}

      private:
	unsigned compute()
	{
		std::vector<grpc::Slice> slices;
		unsigned sum = 0;

		request_.Dump(&slices);
		for (unsigned pass = 1; pass <= passes; pass++)
			for (const auto &slice : slices)
				for (auto at = slice.begin(); at != slice.end(); ++at)
					sum = sum * 31 + *at % pass;
		return sum;
	}

	grpc::ByteBuffer request_, response_;
};

class Service : public grpc::CallbackGenericService
{
	grpc::ServerGenericBidiReactor *CreateReactor(grpc::GenericCallbackServerContext *) override
	{
		return new Response;
	}
};

} // namespace

int main(int, char **argv)
{
	Service service;
	grpc::ServerBuilder builder;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	builder.AddListeningPort("127.0.0.1:" + std::string(argv[1]),
				 grpc::InsecureServerCredentials());
	builder.RegisterCallbackGenericService(&service);
	auto server = builder.BuildAndStart();
	if (!server)
		return 1;
	server->Wait();
}
