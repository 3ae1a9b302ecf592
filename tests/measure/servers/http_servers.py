# SPDX-License-Identifier: MIT
"""Servers of HTTP, HTTPS, HTTP/2, gRPC and WebSockets."""

from client_programs import Ab, H2load, Step, Talk
from entry import SELF_SIGNED, Entry

PAGE = {"root/index.html": 2000 * "x" + "\n"}

NGINX = """\
daemon off;
worker_processes 2;
pid @HOME@/pid;
error_log stderr crit;
events { worker_connections 512; }
http {
  access_log off;
  keepalive_requests 1000000000;
  client_body_temp_path @HOME@/t1; proxy_temp_path @HOME@/t2; fastcgi_temp_path @HOME@/t3; uwsgi_temp_path @HOME@/t4;
  scgi_temp_path @HOME@/t5;
  server {
    listen 127.0.0.1:@PORT@ %s;
    %s
    root @HOME@/root;
  }
}
"""
NGINX_TLS = "ssl_certificate @HOME@/cert; ssl_certificate_key @HOME@/key; ssl_protocols %s;"


def nginx(name, protocol, listen, more, client):
    return Entry(name, protocol, "nginx", ("nginx", "-p", "@HOME@", "-e", "stderr", "-c", "@HOME@/conf"), client,
                 files={"conf": NGINX % (listen, more), **PAGE}, setup=(SELF_SIGNED,) if more else ())


APACHE = """\
ServerName localhost
Listen 127.0.0.1:@PORT@
LoadModule mpm_%s_module /usr/lib/apache2/modules/mod_mpm_%s.so
LoadModule authz_core_module /usr/lib/apache2/modules/mod_authz_core.so
LoadModule dir_module /usr/lib/apache2/modules/mod_dir.so
PidFile @HOME@/pid
ErrorLog /dev/null
DocumentRoot @HOME@/root
DirectoryIndex index.html
MaxKeepAliveRequests 0
"""


def apache(module):
    return Entry(f"apache-{module}", "HTTP/1.1", "apache2", ("apache2", "-DFOREGROUND", "-f", "@HOME@/conf"), H2load(),
                 files={"conf": APACHE % (module, module), **PAGE})


LIGHTTPD = """\
server.document-root = "@HOME@/root"
server.bind = "127.0.0.1"
server.port = @PORT@
server.max-keep-alive-requests = 1000000000
index-file.names = ("index.html")
"""
LIGHTTPD_TLS = LIGHTTPD + """\
server.modules += ("mod_openssl")
ssl.engine = "enable"
ssl.pemfile = "@HOME@/cert"
ssl.privkey = "@HOME@/key"
"""
HAPROXY = """\
global
  nbthread 2
defaults
  mode http
  timeout client 60s
  timeout server 60s
  timeout connect 5s
frontend f
  bind 127.0.0.1:@PORT@ %s
  %s
"""
H2O = """\
listen:
  host: 127.0.0.1
  port: @PORT@
num-threads: 2
hosts:
  default:
    paths:
      /:
        file.dir: @HOME@/root
"""
VARNISH = """\
vcl 4.1;
backend default none;
sub vcl_recv { return (synth(200)); }
"""
SQUID = """\
http_port 127.0.0.1:@PORT@ accel defaultsite=localhost no-vhost
cache_peer 127.0.0.1 parent @BACKEND@ 0 no-query originserver
http_access allow all
pid_filename @HOME@/pid
access_log none
cache_log /dev/null
cache_store_log none
coredump_dir @HOME@
"""
TINYPROXY = """\
Port @PORT@
Listen 127.0.0.1
Timeout 60
MaxClients 100
ReversePath "/" "http://127.0.0.1:@BACKEND@/"
ReverseOnly Yes
LogLevel Critical
"""
NODE = """\
require('http').createServer((request, response) => response.end('hello')).listen(@PORT@, '127.0.0.1');
"""
NODE_WEBSOCKET = """\
const { WebSocketServer } = require('/usr/share/nodejs/ws');
const server = new WebSocketServer({ host: '127.0.0.1', port: @PORT@, perMessageDeflate: false });
server.on('connection', (socket) => socket.on('message', (data) => socket.send(data, { binary: false })));
"""
GO = """\
package main

import (
	"io"
	"net/http"
)

func main() {
	http.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) { io.WriteString(w, "hello") })
	http.ListenAndServe("127.0.0.1:@PORT@", nil)
}
"""
WSGI = """\
def application(environ, start_response):
    start_response('200 OK', [('Content-Type', 'text/plain'), ('Content-Length', '5')])
    return [b'hello']
"""
ASGI = """\
async def application(scope, receive, send):
    if scope['type'] != 'http':
        return
    await send({'type': 'http.response.start', 'status': 200, 'headers': [(b'content-length', b'5')]})
    await send({'type': 'http.response.body', 'body': b'hello'})
"""
RACK = "run ->(env) { [200, { 'Content-Type' => 'text/plain', 'Content-Length' => '5' }, ['hello']] }\n"
PHP_FPM = """\
[global]
error_log = /dev/null
daemonize = no
[www]
listen = 127.0.0.1:@PORT@
pm = static
pm.max_children = 20
chdir = @HOME@
"""
WEBSOCKETS = """\
import asyncio
import websockets


async def echo(socket):
    async for message in socket:
        await socket.send(message)


async def main():
    async with websockets.serve(echo, '127.0.0.1', @PORT@, compression=None):
        await asyncio.Future()


asyncio.run(main())
"""
GRPC = """\
import concurrent.futures
import grpc


class Any(grpc.GenericRpcHandler):
    def service(self, details):
        return grpc.unary_unary_rpc_method_handler(lambda request, context: request)


server = grpc.server(concurrent.futures.ThreadPoolExecutor(4), handlers=(Any(),))
server.add_insecure_port('127.0.0.1:@PORT@')
server.start()
server.wait_for_termination()
"""
GRPC_HEADERS = ("content-type: application/grpc", "te: trailers")
WEBSOCKET = Talk(begin=[Step(b"GET / HTTP/1.1\r\nHost: localhost\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
                             b"Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13\r\n\r\n",
                             b"101", b"\r\n\r\n")],
                 request=Step(b"\x81\x85\0\0\0\0hello", length=7),
                 end=[Step(b"\x88\x82\0\0\0\0\x03\xe8", length=4)])
# A WebSocket is full-duplex after its Upgrade: turns on it have no latency.
WEBSOCKET_COUNTERS = "total_requests", "total_requests-full_duplex"


def fast_cgi_record(kind, content):
    return bytes([1, kind, 0, 1]) + len(content).to_bytes(2, "big") + b"\0\0" + content


def fast_cgi_request(script):
    """With its connection kept."""
    pairs = {b"SCRIPT_FILENAME": script, b"REQUEST_METHOD": b"GET"}
    words = b"".join(bytes([len(name), len(value)]) + name + value for name, value in pairs.items())
    return (fast_cgi_record(1, b"\0\1\1\0\0\0\0\0") + fast_cgi_record(4, words) + fast_cgi_record(4, b"") + fast_cgi_record(5,
                                                                                                                            b""))


FAST_CGI = Talk(Step(fast_cgi_request(b"page.php"), b"\x01\x03\x00\x01\x00\x08\x00\x00", bytes(7)))
PLAIN_NGINX = nginx("nginx", "HTTP/1.1", "", "", H2load())
GUNICORN = ("gunicorn", "-b", "127.0.0.1:@PORT@", "-w", "2", "-k", "gthread", "--threads", "16", "--worker-tmp-dir", "@HOME@",
            "--log-level", "critical")

ENTRIES = (
    PLAIN_NGINX,
    nginx("nginx-tls1.2", "HTTPS, TLS 1.2", "ssl", NGINX_TLS % "TLSv1.2",
          H2load(tls=True, more=("--ciphers=ECDHE-ECDSA-AES128-GCM-SHA256",))),
    nginx("nginx-tls1.3", "HTTPS, TLS 1.3", "ssl", NGINX_TLS % "TLSv1.3", H2load(tls=True)),
    nginx("nginx-http2", "HTTP/2", "http2", "", H2load(version=2)),
    apache("event"),
    apache("prefork"),
    Entry("lighttpd", "HTTP/1.1", "lighttpd", ("lighttpd", "-D", "-f", "@HOME@/conf"), H2load(), files={"conf": LIGHTTPD,
                                                                                                        **PAGE}),
    Entry("lighttpd-tls", "HTTPS, TLS 1.3", "lighttpd-mod-openssl", ("lighttpd", "-D", "-f", "@HOME@/conf"), H2load(tls=True),
          needs=("/usr/lib/lighttpd/mod_openssl.so",), files={"conf": LIGHTTPD_TLS, **PAGE}, setup=(SELF_SIGNED,)),
    Entry("haproxy", "HTTP/1.1", "haproxy", ("haproxy", "-db", "-f", "@HOME@/conf"), H2load(),
          files={"conf": HAPROXY % ("", "http-request return status 200 content-type text/plain string hello")}),
    Entry("haproxy-proxy", "HTTP/1.1, before nginx", "haproxy", ("haproxy", "-db", "-f", "@HOME@/conf"), H2load(),
          files={"conf": HAPROXY % ("", "default_backend b\nbackend b\n  server s 127.0.0.1:@BACKEND@")}, backend=PLAIN_NGINX),
    Entry("caddy", "HTTP/1.1", "caddy", ("caddy", "respond", "--listen", "127.0.0.1:@PORT@", "hello"), H2load()),
    Entry("h2o", "HTTP/2", "h2o", ("h2o", "-m", "worker", "-c", "@HOME@/conf"), H2load(version=2), files={"conf": H2O, **PAGE}),
    Entry("nghttpd", "HTTP/2", "nghttp2-server", ("nghttpd", "--no-tls", "-n", "2", "-a", "127.0.0.1", "-d", "@HOME@/root",
                                                  "@PORT@"),
          H2load(version=2), files=PAGE),
    Entry("varnish", "HTTP/1.1", "varnish", ("varnishd", "-F", "-j", "none", "-n", "@HOME@/run", "-a", "127.0.0.1:@PORT@", "-f",
                                             "@HOME@/vcl", "-s", "default,16m"), H2load(), needs=("gcc",),
                                             files={"vcl": VARNISH}),
    Entry("squid", "HTTP/1.1, before nginx", "squid", ("squid", "-N", "-f", "@HOME@/conf"), H2load(), files={"conf": SQUID},
          backend=PLAIN_NGINX),
    Entry("tinyproxy", "HTTP/1.0, before nginx", "tinyproxy", ("tinyproxy", "-d", "-c", "@HOME@/conf"), Ab(),
          files={"conf": TINYPROXY}, backend=PLAIN_NGINX),
    Entry("hitch", "HTTPS, before nginx", "hitch",
          ("hitch", "--frontend=[127.0.0.1]:@PORT@", "--backend=[127.0.0.1]:@BACKEND@", "-n", "2", "@HOME@/pem"),
          H2load(tls=True),
          setup=(SELF_SIGNED, ("sh", "-c", "cat key cert >pem")), backend=PLAIN_NGINX),
    Entry("node", "HTTP/1.1", "nodejs", ("node", "@HOME@/server.js"), H2load(), files={"server.js": NODE}),
    Entry("node-websocket", "WebSocket", "node-ws", ("node", "@HOME@/server.js"), WEBSOCKET,
          needs=("/usr/share/nodejs/ws/index.js",),
          files={"server.js": NODE_WEBSOCKET}, counters=WEBSOCKET_COUNTERS),
    Entry("python-websockets", "WebSocket", "python3-websockets", ("python3", "@HOME@/server.py"), WEBSOCKET,
          needs=("/usr/lib/python3/dist-packages/websockets",), files={"server.py": WEBSOCKETS}, counters=WEBSOCKET_COUNTERS),
    Entry("go", "HTTP/1.1", "golang-go", ("@HOME@/server",), H2load(), needs=("go",), files={"server.go": GO},
          setup=(("go", "build", "-o", "@HOME@/server", "server.go"),), environment={"GO111MODULE": "off",
                                                                                     "GOCACHE": "@HOME@/cache"}),
    Entry("gunicorn", "HTTP/1.1", "gunicorn", (*GUNICORN, "app"), H2load(), files={"app.py": WSGI}),
    Entry("gunicorn-tls", "HTTPS, TLS 1.3", "gunicorn", (*GUNICORN, "--certfile", "@HOME@/cert", "--keyfile", "@HOME@/key",
                                                         "app"),
          H2load(tls=True), files={"app.py": WSGI}, setup=(SELF_SIGNED,)),
    Entry("uvicorn", "HTTP/1.1", "uvicorn", ("uvicorn", "--host", "127.0.0.1", "--port", "@PORT@", "--no-access-log",
                                             "--log-level",
                                             "critical", "app:application"), H2load(), files={"app.py": ASGI}),
    Entry("uwsgi", "HTTP/1.1", "uwsgi-core", ("uwsgi", "--plugin", "python3", "--http-socket", "127.0.0.1:@PORT@", "--wsgi-file",
                                              "@HOME@/app.py", "--processes", "8", "--master", "--die-on-term",
                                              "--disable-logging"), Ab(), needs=("/usr/lib/uwsgi/plugins/python3_plugin.so",),
          files={"app.py": WSGI}),
    Entry("twisted", "HTTP/1.1", "python3-twisted", ("twist3", "web", "--listen", "tcp:@PORT@:interface=127.0.0.1", "--path",
                                                     "@HOME@/root"), H2load(), files=PAGE),
    Entry("puma", "HTTP/1.1", "puma", ("puma", "-q", "-t", "8:8", "-b", "tcp://127.0.0.1:@PORT@", "@HOME@/config.ru"), H2load(),
          files={"config.ru": RACK}),
    Entry("thin", "HTTP/1.1", "thin", ("thin", "-a", "127.0.0.1", "-p", "@PORT@", "-R", "@HOME@/config.ru", "-e", "production",
                                       "--max-persistent-conns", "512", "start"), H2load(), files={"config.ru": RACK}),
    Entry("jetty", "HTTP/1.1", "jetty9", ("java", "-Djetty.home=/usr/share/jetty9", "-Djetty.base=@HOME@",
                                          "-Djetty.http.host=127.0.0.1", "-Djetty.http.port=@PORT@", "-jar",
                                          "/usr/share/jetty9/start.jar", "--module=http,deploy"),
          H2load(), needs=("/usr/share/jetty9/start.jar",),
          files={"webapps/ROOT/index.html": "hello\n"}),
    Entry("php-fpm", "FastCGI", "php8.2-fpm", ("/usr/sbin/php-fpm*", "-F", "-y", "@HOME@/conf"), FAST_CGI,
          files={"conf": PHP_FPM, "page.php": "hello\n"}),
    Entry("grpc-python", "gRPC", "python3-grpcio", ("python3", "@HOME@/server.py"),
          H2load("/measured.Echo/Ask", version=2, body=b"\0\0\0\0\3abc", headers=GRPC_HEADERS),
          needs=("/usr/lib/python3/dist-packages/grpc",), files={"server.py": GRPC}),
    Entry("prometheus", "HTTP/1.1", "prometheus", ("prometheus", "--config.file=@HOME@/conf", "--storage.tsdb.path=@HOME@/data",
                                                   "--web.listen-address=127.0.0.1:@PORT@"), H2load("/-/healthy"),
          files={"conf": "global: {}\n"}),
    Entry("etcd", "gRPC", "etcd-server", ("etcd", "--data-dir", "@HOME@/data", "--listen-client-urls", "http://127.0.0.1:@PORT@",
                                          "--advertise-client-urls", "http://127.0.0.1:@PORT@", "--listen-peer-urls",
                                          "http://127.0.0.1:@OTHER@", "--log-level", "error"),
          H2load("/etcdserverpb.KV/Range", version=2, body=b"\0\0\0\0\3\x0a\1a", headers=GRPC_HEADERS)),
)
