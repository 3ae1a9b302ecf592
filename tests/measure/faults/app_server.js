// SPDX-License-Identifier: MIT

// A service on node's http.
//
// node app_server.js PORT upstream PORT      each request asks the server at this port, waits for its response, and responds
// node app_server.js PORT timer SECONDS      responds when a timer has expired
// node app_server.js PORT compute SECONDS    computes
//
// A line "wait SECONDS" on its input changes that. Each line is answered with its figures so far: requests, and seconds of
// them: from the client's send (X-Sent, by the clock CLOCK_MONOTONIC) to the handler, and in the handler.
'use strict';
const http = require('http');
const readline = require('readline');

const [port, what, argument] = process.argv.slice(2);
const agent = new http.Agent({ keepAlive: true, maxFreeSockets: 64 });
const figures = { requests: 0, before: 0, waited: 0 };
let slow = Number(argument);

const now = () => Number(process.hrtime.bigint()) / 1e9;

const waits = {
	upstream: (done) => http.get({ port: argument, host: '127.0.0.1', agent }, (response) => response.resume().on('end', done)),
	timer: (done) => setTimeout(done, 1e3 * slow),
	compute: (done) => {
		for (const end = now() + slow; now() < end;)
			;
		done();
	},
};

http.createServer((request, response) => {
	const begin = now();
	waits[what](() => {
		figures.requests++;
		figures.before += begin - Number(request.headers['x-sent'] || begin);
		figures.waited += now() - begin;
		response.setHeader('Content-Length', 0);
		response.end();
	});
}).listen(port, '127.0.0.1');

readline.createInterface({ input: process.stdin }).on('line', (line) => {
	if (line.startsWith('wait '))
		slow = Number(line.slice(5));
	console.log(JSON.stringify(figures));
}).on('close', () => process.exit());
