# SPDX-License-Identifier: MIT
"""A gRPC server, and a client that asks for what it answers well and for what it fails: grpc_peer.py serve PORT, or
ask PORT TIMES. Messages are bytes as they are."""

import sys
from concurrent import futures

import grpc

SERVICE = "/Peer/"


def fail(_message, context):
    context.abort(grpc.StatusCode.NOT_FOUND, "no such thing")


def fail_late(_message, context):
    """When there was a message, the status comes at the end alone."""
    yield b"one"
    context.abort(grpc.StatusCode.ABORTED, "no more")


METHODS = {
    "echo": grpc.unary_unary_rpc_method_handler(lambda message, _context: message),
    "fail": grpc.unary_unary_rpc_method_handler(fail),
    "fail_late": grpc.unary_stream_rpc_method_handler(fail_late),
}


class Handler(grpc.GenericRpcHandler):
    def service(self, handler_call_details):
        return METHODS.get(handler_call_details.method.removeprefix(SERVICE))


def serve(port):
    server = grpc.server(futures.ThreadPoolExecutor(2))
    server.add_generic_rpc_handlers((Handler(),))
    if not server.add_insecure_port(f"127.0.0.1:{port}"):
        sys.exit(f"port {port} is taken")
    server.start()
    server.wait_for_termination()


def expect(status, call):
    try:
        call()
        got = grpc.StatusCode.OK
    except grpc.RpcError as error:
        got = error.code()
    if got != status:
        sys.exit(f"{got}, not {status}")


def ask(port, times):
    with grpc.insecure_channel(f"127.0.0.1:{port}") as channel:
        echo, fails, unknown = (channel.unary_unary(SERVICE + name) for name in ("echo", "fail", "unknown"))
        fails_late = channel.unary_stream(SERVICE + "fail_late")
        for _ in range(times):
            expect(grpc.StatusCode.OK, lambda: echo(b"text"))
            expect(grpc.StatusCode.NOT_FOUND, lambda: fails(b"text"))
            expect(grpc.StatusCode.UNIMPLEMENTED, lambda: unknown(b"text"))
            expect(grpc.StatusCode.ABORTED, lambda: list(fails_late(b"text")))


if sys.argv[1] == "serve":
    serve(sys.argv[2])
else:
    ask(sys.argv[2], int(sys.argv[3]))
