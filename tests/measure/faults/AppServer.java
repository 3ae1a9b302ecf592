// SPDX-License-Identifier: MIT

import com.sun.net.httpserver.HttpServer;
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.net.InetSocketAddress;
import java.util.concurrent.Executors;
import java.util.concurrent.atomic.AtomicLong;

/**
 * A service on the JDK's HttpServer, with a pool of threads.
 *
 * java AppServer PORT sleep SECONDS     each request sleeps
 * java AppServer PORT monitor SECONDS   enters a monitor, which another thread has for so long while it sleeps, leaves for a
 * fifth of that, and so on
 *
 * A line "wait SECONDS" on its input changes that. Each line is answered with its figures so far: requests, and how many
 * seconds their handlers have waited.
 */
public class AppServer {
	private static final AtomicLong requests = new AtomicLong(), waited = new AtomicLong();
	private static final Object monitor = new Object();
	private static volatile double slow;
	private static int entered;

	private static void sleep(double seconds) {
		try {
			Thread.sleep(Math.round(1e3 * seconds));
		} catch (InterruptedException e) {
			Thread.currentThread().interrupt();
		}
	}

	private static void occupy() {
		while (true) {
			double seconds = slow;
			synchronized (monitor) {
				sleep(seconds);
			}
			sleep(seconds / 5 + 1e-3);
		}
	}

	private static void enter() {
		synchronized (monitor) {
			entered++;
		}
	}

	public static void main(String[] args) throws Exception {
		boolean sleeps = args[1].equals("sleep");
		slow = Double.parseDouble(args[2]);
		if (!sleeps)
			new Thread(AppServer::occupy).start();
		HttpServer server = HttpServer.create(new InetSocketAddress("127.0.0.1", Integer.parseInt(args[0])), 64);
		server.setExecutor(Executors.newFixedThreadPool(16));
		server.createContext("/", exchange -> {
			long begin = System.nanoTime();
			if (sleeps)
				sleep(slow);
			else
				enter();
			waited.addAndGet(System.nanoTime() - begin);
			requests.incrementAndGet();
			exchange.sendResponseHeaders(200, -1);
			exchange.close();
		});
		server.start();
		BufferedReader input = new BufferedReader(new InputStreamReader(System.in));
		for (String line; (line = input.readLine()) != null;) {
			if (line.startsWith("wait "))
				slow = Double.parseDouble(line.substring(5));
			System.out.printf("{\"requests\": %d, \"waited\": %f}%n", requests.get(), waited.get() / 1e9);
		}
		System.exit(0);
	}
}
