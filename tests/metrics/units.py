#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only
"""Server of counters for tests/host/units.sh, with the faults of real ones.

  units.py PORTFILE LOG    listen on a free port of loopback, write its number to PORTFILE, and a line
                           with time and path of each request to LOG

  /vllm      as vLLM: two label sets, chunked, the counter appears with the third request
  /llama     as llama.cpp: one counter, Content-Length
  /reset     100, 150, then 20, 40, ...: the program has restarted
  /slow      no reply; /drip: a byte of the body every 0.1 s
  /cut       closes within the body; /cutchunk: before the last chunk; /cutline: ends within a line
  /huge      a body of more than 5 MiB; /endless: without end
  /html, /gzip, /redirect, /error, /nan, /garbage
"""
import os, sys, threading, time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

asked, lock = {}, threading.Lock()


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    def body(self, text, length=None, status=200, kind="text/plain; version=0.0.4", **headers):
        body = text.encode() if isinstance(text, str) else text
        self.send_response(status)
        self.send_header("Content-Type", kind)
        for key, value in headers.items():
            self.send_header(key.replace("_", "-"), value)
        self.send_header("Content-Length", str(len(body) if length is None else length))
        self.end_headers()
        self.wfile.write(body)

    def chunks(self, *parts):
        self.send_response(200)
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()
        for p in parts:
            self.wfile.write(b"%x\r\n%s\r\n" % (len(p), p.encode()))
            self.wfile.flush()

    def do_GET(self):
        path = self.path
        with lock:
            asked[path] = n = asked.get(path, 0) + 1
            with open(sys.argv[2], "a") as f:
                f.write("%.3f %s %s\n" % (time.monotonic(), path, self.headers.get("Accept")))
        self.close_connection = True
        if path == "/vllm":
            text = ["# TYPE vllm:prompt_tokens_total counter\n", 'vllm:prompt_tokens_total{model_name="a"} 5.0\n']
            if n >= 3:
                text += ['vllm:generation_tokens_total{engine="0",model_name="a"} %d.0\n' % (40 * n),
                         'vllm:generation_tokens_total{engine="1",model_name="a"} 1e3\n']
            self.chunks(*text)
            self.wfile.write(b"0\r\n\r\n")
        elif path == "/llama":
            self.body("# HELP llamacpp:tokens_predicted_total Number of generation tokens processed.\n"
                      "# TYPE llamacpp:tokens_predicted_total counter\nllamacpp:tokens_predicted_total %d\n" % (128 * n))
        elif path == "/reset":
            self.body("a_total %d\n" % (50 + 50 * n if n < 3 else 20 * (n - 2)))
        elif path == "/slow":
            time.sleep(5)
        elif path == "/drip":
            self.send_response(200)
            self.send_header("Content-Length", "100")
            self.end_headers()
            for _ in range(100):
                self.wfile.write(b"#")
                self.wfile.flush()
                time.sleep(0.1)
        elif path == "/cut":
            self.body("a_total 1\n", length=100)
        elif path == "/cutchunk":
            self.chunks("a_total 1\n", "b_total 2\n")
        elif path == "/cutline":
            self.body("a_total 12")
        elif path == "/huge":
            self.body("a_total 1\n" + "# filler\n" * (5 << 20 >> 3))
        elif path == "/endless":
            self.send_response(200)
            self.end_headers()
            while True:
                self.wfile.write(b"# filler\n" * 1000)
        elif path == "/html":
            self.body("<html><body>It works!</body></html>\n", kind="text/html")
        elif path == "/gzip":
            self.body(b"\x1f\x8b\x08", Content_Encoding="gzip")
        elif path == "/redirect":
            self.body("", status=307, Location="/llama")
        elif path == "/error":
            self.body("a_total 1\n", status=503)
        elif path == "/nan":
            self.body("a_total NaN\n")
        elif path == "/garbage":
            self.wfile.write(b"220 smtp.example.org ESMTP\r\n")


def main():
    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    server.handle_error = lambda *_: None
    with open(sys.argv[1] + ".new", "w") as f:
        f.write("%d\n" % server.server_address[1])
    os.rename(sys.argv[1] + ".new", sys.argv[1])
    server.serve_forever()


main()
