#!/usr/bin/env python3
"""The engine of this plugin: answers a conversation with its last message.

Link starts this program, checks that it is healthy, sends it the requests of clients, and ends it with SIGTERM. Only
Link knows the secret in --secret-file: every other request is refused. Only Python's standard library is used.
"""

import argparse
import hmac
import http.server
import json
import os
import signal
import socket
import socketserver
import sys
import threading

VERSION = "0.1.0"
BODY_LIMIT = 16 * 1024 * 1024


class Refused(Exception):
    """A request that is answered with an error."""

    def __init__(self, status, message):
        super().__init__(message)
        self.status, self.message = status, message


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    timeout = 60

    def do_GET(self):
        try:
            if self.path == "/health":
                self.answer(200, {"status": "ok"})
            elif self.path == "/props":
                self.check_secret()
                self.answer(200, {"model": self.server.alias})
            else:
                raise Refused(404, "there is no such path")
        except Refused as refused:
            self.refuse(refused)

    def do_POST(self):
        try:
            body = self.read_body()
            self.check_secret()
            if self.path != "/v1/chat/completions":
                raise Refused(404, "there is no such path")
            self.complete(body)
        except Refused as refused:
            self.refuse(refused)

    def read_body(self):
        length = self.headers.get("content-length", "")
        if not length.isdigit():
            self.close_connection = True
            raise Refused(411, "the request has no length")
        if int(length) > BODY_LIMIT:
            self.close_connection = True
            raise Refused(413, f"a request has at most {BODY_LIMIT} bytes")
        return self.rfile.read(int(length))

    def check_secret(self):
        sent = self.headers.get("authorization", "").encode()
        if not hmac.compare_digest(sent, b"Bearer " + self.server.secret):
            raise Refused(401, "the secret is missing or wrong")

    def complete(self, body):
        try:
            request = json.loads(body)
            text = request["messages"][-1]["content"]
            words = text.split()
        except (ValueError, LookupError, TypeError, AttributeError):
            raise Refused(400, "the request is no conversation") from None
        answer = self.server.prefix + words * self.server.repeat
        usage = {
            "prompt_tokens": len(words),
            "completion_tokens": len(answer),
            "total_tokens": len(words) + len(answer),
        }
        if request.get("stream"):
            self.stream(answer, usage)
            return
        message = {"role": "assistant", "content": " ".join(answer)}
        choice = {"index": 0, "message": message, "finish_reason": "stop"}
        self.answer(200, {"object": "chat.completion", "model": self.server.alias, "choices": [choice], "usage": usage})

    def stream(self, answer, usage):
        self.send_response(200)
        self.send_header("content-type", "text/event-stream")
        self.send_header("transfer-encoding", "chunked")
        self.end_headers()
        for place, word in enumerate(answer):
            delta = {"content": word if place == 0 else " " + word}
            self.event({"choices": [{"index": 0, "delta": delta, "finish_reason": None}]})
        self.event({"choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}], "usage": usage})
        self.chunk(b"data: [DONE]\n\n")
        self.chunk(b"")

    def event(self, event):
        event = {"object": "chat.completion.chunk", "model": self.server.alias, **event}
        # Link looks for members without a space after the colon.
        self.chunk(b"data: " + json.dumps(event, separators=(",", ":")).encode() + b"\n\n")

    def chunk(self, data):
        self.wfile.write(b"%x\r\n%b\r\n" % (len(data), data))
        self.wfile.flush()

    def answer(self, status, document):
        body = json.dumps(document, separators=(",", ":")).encode()
        self.send_response(status)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def refuse(self, refused):
        self.answer(refused.status, {"error": {"message": refused.message, "code": refused.status}})

    def log_message(self, format, *words):
        """Keeps the paths and texts of clients out of the log."""


class Server(socketserver.ThreadingMixIn, http.server.HTTPServer):
    daemon_threads = True
    block_on_close = False
    request_queue_size = 128

    def handle_error(self, request, client_address):
        """A client that leaves early is no error of the engine."""
        error = sys.exception() if hasattr(sys, "exception") else sys.exc_info()[1]
        if not isinstance(error, (ConnectionError, TimeoutError)):
            print(f"a request failed: {error!r}", file=sys.stderr)


class SocketServer(Server):
    address_family = getattr(socket, "AF_UNIX", None)

    def server_bind(self):
        socketserver.TCPServer.server_bind(self)
        self.server_name, self.server_port = "localhost", 0

    def get_request(self):
        connection, _ = super().get_request()
        return connection, ("localhost", 0)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--version", action="version", version=VERSION)
    parser.add_argument("--model", required=True)
    parser.add_argument("--alias", required=True)
    parser.add_argument("--secret-file", required=True)
    parser.add_argument("--repeat", type=int, default=1)
    listen = parser.add_mutually_exclusive_group(required=True)
    listen.add_argument("--socket")
    listen.add_argument("--port", type=int)
    options = parser.parse_args()

    with open(options.model, encoding="utf-8") as file:
        model = file.read(64 * 1024)
    if not model.startswith("echo:"):
        sys.exit("the model is no text file of the echo")
    with open(options.secret_file, "rb") as file:
        secret = file.read().strip()

    if options.socket:
        server = SocketServer(options.socket, Handler)
    else:
        server = Server(("127.0.0.1", options.port), Handler)
    server.secret = secret
    server.alias = options.alias
    server.prefix = model[len("echo:") :].split()[:3]
    server.repeat = options.repeat
    # `shutdown` waits for the loop of this thread, so another thread calls it.
    signal.signal(signal.SIGTERM, lambda *_: threading.Thread(target=server.shutdown).start())
    print("ready", file=sys.stderr)
    server.serve_forever(poll_interval=0.1)
    server.server_close()
    if options.socket and os.path.exists(options.socket):
        os.unlink(options.socket)


if __name__ == "__main__":
    main()
