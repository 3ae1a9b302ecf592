// SPDX-License-Identifier: MIT
// A search service with Xapian: search PORT DIRECTORY. A database of documents from made-up words, some of them
// frequent and most of them rare; a thread for each connection. A line of words is answered by a line with a number
// of bytes and as many bytes: the documents found.

#include <arpa/inet.h>
#include <err.h>
#include <netinet/tcp.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cmath>
#include <cstdlib>
#include <sstream>
#include <string>
#include <thread>

#include <xapian.h>

namespace
{

constexpr unsigned documents = 10000, length = 60, words = 2000, found = 10;

// The frequency of rank r is proportional to 1/r.
std::string word(double chance)
{
	return "word" + std::to_string(unsigned(std::pow(words, chance)) - 1);
}

void fill(const char *path)
{
	Xapian::WritableDatabase database(path,
					  Xapian::DB_CREATE_OR_OVERWRITE | Xapian::DB_NO_SYNC);

	srand48(1);
	for (unsigned i = 0; i < documents; i++) {
		Xapian::Document document;
		std::string text;

		for (unsigned j = 0; j < length; j++) {
			auto one = word(drand48());

			document.add_posting(one, j);
			text += one + " ";
		}
		document.set_data(text);
		database.add_document(document);
	}
	database.commit();
}

std::string search(Xapian::Database &database, const std::string &line)
{
	std::istringstream stream(line);
	Xapian::Enquire enquire(database);
	Xapian::Query query;
	std::string term, response;

	while (stream >> term)
		query = query.empty()
				? Xapian::Query(term)
				: Xapian::Query(Xapian::Query::OP_OR, query, Xapian::Query(term));
	enquire.set_query(query);
	auto matches = enquire.get_mset(0, found);
	for (auto i = matches.begin(); i != matches.end(); ++i)
		response +=
			std::to_string(i.get_percent()) + " " + i.get_document().get_data() + "\n";
	return std::to_string(response.size()) + "\n" + response;
}

void serve(int fd, const char *path)
{
	Xapian::Database database(path);
	char buffer[1024];
	std::string line;

	for (ssize_t n; (n = recv(fd, buffer, sizeof(buffer), 0)) > 0;) {
		line.append(buffer, n);
		if (line.back() != '\n')
			continue;
		auto response = search(database, line);

		if (send(fd, response.data(), response.size(), MSG_NOSIGNAL) !=
		    ssize_t(response.size()))
			break;
		line.clear();
	}
	close(fd);
}

} // namespace

int main(int, char **argv)
{
	int listener = socket(AF_INET, SOCK_STREAM, 0), one = 1, fd;
	sockaddr_in address{};

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	fill(argv[2]);
	address.sin_family = AF_INET;
	address.sin_port = htons(atoi(argv[1]));
	address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one));
	if (bind(listener, reinterpret_cast<sockaddr *>(&address), sizeof(address)) ||
	    listen(listener, 64))
		err(1, "port %s", argv[1]);
	while ((fd = accept(listener, nullptr, nullptr)) >= 0) {
		setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one));
		std::thread(serve, fd, argv[2]).detach();
	}
	err(1, "accept");
}
