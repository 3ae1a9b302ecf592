// SPDX-License-Identifier: MIT

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.Executors;

/** The JDK's own HTTP server with a pool of threads: JavaServer PORT. Each answer is a text that is made for it. */
public class JavaServer {
    private static final int THREADS = 8;
    private static final int BACKLOG = 64;
    private static final int LINES = 100;

    private static void answer(HttpExchange exchange) throws IOException {
        StringBuilder page = new StringBuilder();

        for (int line = 0; line < LINES; line++) {
            page.append(line).append(' ').append(exchange.getRequestURI()).append('\n');
        }
        byte[] body = page.toString().getBytes(StandardCharsets.US_ASCII);
        exchange.sendResponseHeaders(200, body.length);
        exchange.getResponseBody().write(body);
        exchange.close();
    }

    public static void main(String[] args) throws IOException {
        InetSocketAddress where = new InetSocketAddress(InetAddress.getLoopbackAddress(), Integer.parseInt(args[0]));
        HttpServer server = HttpServer.create(where, BACKLOG);

        server.createContext("/", JavaServer::answer);
        server.setExecutor(Executors.newFixedThreadPool(THREADS));
        server.start();
    }
}
