# SPDX-License-Identifier: MIT
"""Both ends of TLS connections, which send in pieces of the test's choice."""

import socket
import ssl
import struct
import subprocess
import time

CHUNK = 16384
TCP_ULP = 31
SOL_TLS, TLS_TX, TLS_RX = 282, 1, 2
TLS_SET_RECORD_TYPE, TLS_GET_RECORD_TYPE = 1, 2
CHANGE_CIPHER_SPEC, ALERT, HANDSHAKE, DATA = 20, 21, 22, 23
ALLOW_CLIENT_RENEGOTIATION = 1 << 8  # SSL_OP_..., which Python does not name


def make_certificate(stem):
    """Makes a self-signed certificate. Returns the paths of the certificate and its key."""
    paths = stem + ".pem", stem + ".key"
    subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes",
                    "-subj", "/CN=localhost", "-days", "2", "-out", paths[0], "-keyout", paths[1]],
                   check=True, capture_output=True)
    return paths


def server_context(certificate, version, client_certificate=False, curve=None):
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(*certificate)
    context.minimum_version = context.maximum_version = version
    context.options |= ALLOW_CLIENT_RENEGOTIATION
    if client_certificate:
        context.verify_mode = ssl.CERT_REQUIRED
        context.load_verify_locations(certificate[0])
    if curve:
        context.set_ecdh_curve(curve)
    return context


def client_context(certificate, version, own=False):
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname = False
    context.load_verify_locations(certificate[0])
    context.minimum_version = context.maximum_version = version
    if own:
        context.load_cert_chain(*certificate)
    return context


class Records:
    """An end that reads as OpenSSL does: the header of each record, then its content."""

    def __init__(self, sock, context, server_side=False):
        sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.sock = context.wrap_socket(sock, server_side=server_side)

    def read(self, size):
        return self.sock.recv(size)

    def write(self, data):
        self.sock.sendall(data)

    def close(self):
        """Sends close_notify and does not wait for the other end."""
        self.sock.settimeout(0.05)
        try:
            self.sock.unwrap()
        except OSError:
            pass
        self.sock.close()


class Chunks:
    """An end that receives and sends whatever is there: many records in one call, or one byte in each (piece=1). held:
    what ends the handshake waits for what is written then, and goes with it."""

    def __init__(self, sock, context, server_side=False, joined=False, piece=None, session=None):
        self.sock, self.piece, self.joined = sock, piece, joined
        self.inward, self.outward = ssl.MemoryBIO(), ssl.MemoryBIO()
        self.tls = context.wrap_bio(self.inward, self.outward, server_side=server_side, session=session)
        sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._run(self.tls.do_handshake)
        self.joined = False

    def _flush(self):
        data = self.outward.read()
        if not self.piece:
            self.sock.sendall(data)
            return
        for i in range(0, len(data), self.piece):
            self.sock.send(data[i:i + self.piece])
            time.sleep(0.0003)

    def _fill(self):
        data = self.sock.recv(CHUNK)
        if data:
            self.inward.write(data)
        else:
            self.inward.write_eof()

    def _run(self, call, *args):
        while True:
            try:
                result = call(*args)
                if not self.joined:
                    self._flush()
                return result
            except ssl.SSLWantReadError:
                self._flush()
                self._fill()
            except ssl.SSLError:
                self._flush()
                raise

    def read(self, size):
        return self._run(self.tls.read, size)

    def write(self, *pieces):
        """Sends each piece as a record."""
        for piece in pieces:
            self.tls.write(piece)
        self._flush()

    def close(self, notify=True):
        if notify:
            try:
                self.tls.unwrap()
            except ssl.SSLError:
                pass
            self._flush()
        self.sock.close()


def kernel_has_tls():
    """Whether programs can use kernel TLS."""
    with socket.create_server(("127.0.0.1", 0)) as server, socket.create_connection(server.getsockname()) as one:
        try:
            one.setsockopt(socket.IPPROTO_TCP, TCP_ULP, b"tls")
        except OSError:
            return False
        return True


class Kernel:
    """An end with kernel TLS, after an imitated handshake: TLS 1.2 with keys of zeros."""

    KEYS = struct.pack("=HH36x", 0x303, 51)  # AES-128-GCM

    def __init__(self, sock, server_side=False):
        self.sock = sock
        self.talk(server_side, self.clear(HANDSHAKE, b"\x01".ljust(200)))
        self.talk(server_side, self.clear(CHANGE_CIPHER_SPEC, b"\x01"))
        sock.setsockopt(socket.IPPROTO_TCP, TCP_ULP, b"tls")
        for direction in (TLS_TX, TLS_RX):
            sock.setsockopt(SOL_TLS, direction, self.KEYS)
        if server_side:
            self.receive()
            self.send(HANDSHAKE, b"finished")
        else:
            self.send(HANDSHAKE, b"finished")
            self.receive()

    @staticmethod
    def clear(kind, data):
        return struct.pack(">BHH", kind, 0x303, len(data)) + data

    def talk(self, server_side, data):
        """Sends and receives in turns, the client first."""
        if not server_side:
            self.sock.send(data)
        self.sock.recv(len(data), socket.MSG_WAITALL)
        if server_side:
            self.sock.send(data)

    def send(self, kind, data):
        self.sock.sendmsg([data], [(SOL_TLS, TLS_SET_RECORD_TYPE, bytes([kind]))])

    def receive(self, size=CHUNK):
        """(type of the record, its content)"""
        data, control, _, _ = self.sock.recvmsg(size, socket.CMSG_SPACE(1))
        return control[0][2][0] if control else 0, data

    def read(self, size):
        kind, data = self.receive(size)
        return data if kind == DATA else b""

    def write(self, *pieces):
        for piece in pieces:
            self.sock.send(piece)

    def close(self, notify=True):
        if notify:
            self.send(ALERT, b"\x01\0")
        self.sock.close()


class KernelReads(Kernel):
    """Like Kernel, with calls that do not ask for the type of a record."""

    def read(self, size):
        return self.sock.recv(size)
