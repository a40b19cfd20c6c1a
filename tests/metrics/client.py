#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only
"""Client of jetwatt-exporter and of the control socket, for tests with normal and malicious requests.

  client.py port                          print a free port
  client.py get PORT PATH [ACCEPT]        print head and body of the response
  client.py together PORT N PATH          send N requests at once; print the first line of each response,
                                          and the seconds that all of them took
  client.py raw PORT                      send stdin unchanged and print the response
  client.py loris PORT N SECONDS          open N connections that send a byte per second; print the
                                          time of the slowest scrape during this, and the number of
                                          these connections that are still open after SECONDS
  client.py socket PATH                   silent clients, long lines, random bytes, invalid
                                          commands; print "done"
  client.py answer PATH                   listen on the socket PATH, and answer each request with stdin
  client.py queries PORT DASHBOARD        send all queries of the dashboard to Prometheus, until each
                                          of them returns data, at most 100 times
"""
import json, random, socket, sys, time, urllib.parse, urllib.request


def connect(port):
    return socket.create_connection(("127.0.0.1", port), timeout=10)


def drain(s):
    got = b""
    try:
        while True:
            more = s.recv(65536)
            if not more:
                break
            got += more
    except (ConnectionError, socket.timeout):
        pass
    return got


def request(s, path, accept=None):
    s.sendall(b"GET %s HTTP/1.1\r\nHost: a\r\nConnection: close\r\n%s\r\n" %
              (path.encode(), b"Accept: %s\r\n" % accept.encode() if accept else b""))


def get(port, path, accept=None):
    s = connect(port)
    request(s, path, accept)
    return drain(s)


def together(port, n, path):
    them = [connect(port) for _ in range(n)]
    begun = time.monotonic()
    for s in them:
        request(s, path)
    for s in them:
        print(drain(s).split(b"\r\n")[0].decode())
    print("%.1f" % (time.monotonic() - begun))


def raw(port, what):
    s = connect(port)
    try:
        s.sendall(what)
    except OSError:
        pass
    return drain(s)


def loris(port, n, seconds):
    them, slowest = [], 0.0
    for i in range(n):
        s = connect(port)
        s.sendall(b"GET /metrics HTTP/1.1\r\nX: ")
        them.append(s)
        if i % 20 == 19:
            begun = time.monotonic()
            if b"200 OK" not in get(port, "/metrics"):
                sys.exit("with %d slow clients a scrape gets no answer" % len(them))
            slowest = max(slowest, time.monotonic() - begun)
    until = time.monotonic() + seconds
    while them and time.monotonic() < until:
        time.sleep(1)
        for s in list(them):
            try:
                s.send(b"a")
                s.setblocking(False)
                if s.recv(1) == b"":
                    them.remove(s)
            except BlockingIOError:
                pass
            except OSError:
                them.remove(s)
            finally:
                s.setblocking(True)
    print("slowest %.2f left %d" % (slowest, len(them)))


def ask(path, line, wait=True):
    s = socket.socket(socket.AF_UNIX)
    s.connect(path)
    s.settimeout(10)
    try:
        s.sendall(line)
    except OSError:
        pass
    return drain(s) if wait else s


def hostile(path):
    silent = [ask(path, b"sta", False) for _ in range(40)]
    if b"budget_w" not in ask(path, b"status json\n"):
        sys.exit("forty silent clients block others")
    draw = random.Random(1)
    for size in (255, 256, 257, 4096, 1 << 20):
        ask(path, b"x" * size)
    for _ in range(300):
        ask(path, bytes(draw.randrange(256) for _ in range(draw.randrange(300))) + b"\n")
    for line in (b"budget nan\n", b"budget -1W\n", b"budget 1e999W\n", b"budget 30W\0\n", b"budget \n",
                 b"status json json\n", b"'; drop table row; --\n"):
        if b"refused: " not in ask(path, line):
            sys.exit("%r is not refused" % line)
    if b"budget_w" not in ask(path, b"status json\n"):
        sys.exit("the server has ended")
    del silent
    print("done")


def answer(path):
    text = sys.stdin.buffer.read()
    listen = socket.socket(socket.AF_UNIX)
    listen.bind(path)
    listen.listen()
    while True:
        s, _ = listen.accept()
        s.recv(4096)
        s.sendall(text)
        s.close()


def queries(port, dashboard):
    asked = [t["expr"] for p in json.load(open(dashboard))["panels"] for t in p["targets"]]
    missing = asked
    for _ in range(100):
        missing = []
        for expr in asked:
            for name, value in (("$__rate_interval", "10s"), ("$__range", "1m"), ("$instance", ".*")):
                expr = expr.replace(name, value)
            url = "http://127.0.0.1:%d/api/v1/query?%s" % (port, urllib.parse.urlencode({"query": expr}))
            try:
                answer = json.load(urllib.request.urlopen(url, timeout=10))
            except OSError as e:
                missing.append("%s: %s" % (expr, e))
                continue
            got = answer["data"]["result"]
            if not got or all(v["value"][1] == "NaN" for v in got):
                missing.append(expr)
        if not missing:
            print("all %d" % len(asked))
            return
        time.sleep(0.5)
    sys.exit("no data: " + "\n".join(missing))


def main(what, *rest):
    if what == "port":
        s = socket.socket()
        s.bind(("127.0.0.1", 0))
        print(s.getsockname()[1])
    elif what == "get":
        sys.stdout.buffer.write(get(int(rest[0]), *rest[1:]))
    elif what == "together":
        together(int(rest[0]), int(rest[1]), rest[2])
    elif what == "raw":
        sys.stdout.buffer.write(raw(int(rest[0]), sys.stdin.buffer.read()))
    elif what == "loris":
        loris(*map(int, rest))
    elif what == "socket":
        hostile(rest[0])
    elif what == "answer":
        answer(rest[0])
    elif what == "queries":
        queries(int(rest[0]), rest[1])
    else:
        sys.exit(__doc__)


main(*sys.argv[1:])
