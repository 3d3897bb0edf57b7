# SPDX-License-Identifier: MIT
"""fake.py - a small etcd for tests, whose answers can be late, cut, endless, wrong, or missing.

The fake supports the requests of the library, with etcd's JSON.  A table of faults says what happens to the
n-th request to a path.  The path of a transaction ends in its step: /kv/txn/join, begin, limit, read, or
read/list.  A request with one of these faults is done, or not done:

    cut         not done; the connection ends
    lose        done; the connection ends without an answer
    half        done; half of the answer comes
    hang        done; no answer or event comes until the client closes the connection
    later F     done as soon as F(fake) is true; the connection ends at once
    late S      done; the answer comes S seconds later
    text BODY   not done; the answer is BODY with status 200
    page STATUS BODY            not done; the answer is BODY with this status
    error CODE STATUS MESSAGE   not done; the answer is an error of etcd
    endless     not done; the answer does not end
    deep        not done; the answer is nested too deeply
    old         done; the answer has the revision 1
    gone        not done; the answer to a renewal is that the lease does not exist
    compact     a watch ends because the history was compacted
    meanwhile F     done just after a call of F(fake)
"""

import base64
import json
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


LISTED = 2  # number of ranges that the library reads for a list of users


def plain(text):
    return base64.b64decode(text).decode()


def coded(text):
    return base64.b64encode(text.encode()).decode()


class Fake:
    def __init__(self, faults=(), user=None, cluster="1"):
        self.faults = list(faults)      # (path, n or 0 for each request, action, arguments...)
        self.cluster = cluster          # the cluster's ID
        self.user = user                # (name, password)
        self.tokens, self.token_uses = 0, {}
        self.change = threading.Condition()
        self.revision, self.keys, self.leases, self.history = 1, {}, set(), []
        self.counts, self.played, self.closed = {}, 0, False
        self.matched, self.unplayed = [0] * len(self.faults), set(range(len(self.faults)))
        self.done_later = self.lists = 0    # numbers of requests
        self.silent = False             # accept requests without an answer, as if stopped
        fake = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self):
                fake.serve(self)

            def log_message(self, *_):
                pass

        class Server(ThreadingHTTPServer):
            daemon_threads = True
            request_queue_size = 128

            def handle_error(self, *_):
                pass

        self.server = Server(("127.0.0.1", 0), Handler)
        self.url = "http://127.0.0.1:%d" % self.server.server_address[1]
        threading.Thread(target=self.server.serve_forever, args=(0.02,), daemon=True).start()

    def stop(self, unplayed=()):
        """Stop.  A fault that was not played is an error: its test would test nothing."""
        if self.unplayed - set(unplayed):
            raise AssertionError("not played: %s of %s, in %s"
                                 % (self.unplayed, self.faults, self.counts))
        with self.change:
            self.closed = True
            self.change.notify_all()
        self.server.shutdown()
        self.server.server_close()

    # ------------------------------------------------------------ the data
    def header(self):
        return {"cluster_id": self.cluster, "member_id": "2", "revision": str(self.revision),
                "raft_term": "2"}

    def within(self, op):
        key = plain(op["key"])
        if "range_end" not in op:
            return [key] if key in self.keys else []
        return sorted(k for k in self.keys if key <= k < plain(op["range_end"]))

    def put(self, key, value, lease):
        old = self.keys.get(key, {"create": self.revision})
        self.keys[key] = {"create": old["create"], "mod": self.revision, "lease": lease,
                          "value": value}
        self.history.append((self.revision, "PUT", key))

    def delete(self, keys):
        for key in keys:
            del self.keys[key]
            self.history.append((self.revision, "DELETE", key))

    def holds(self, op):
        fields = {"CREATE": "create", "MOD": "mod"}
        found = [self.keys[key] for key in self.within(op)]
        if op["target"] == "VALUE":
            return any(pair["value"] == plain(op["value"]) for pair in found)
        name = fields[op["target"]]
        wanted = int(op[name + "_revision"])
        return all({"EQUAL": value == wanted, "LESS": value < wanted,
                    "GREATER": value > wanted}[op["result"]]
                   for value in ([pair[name] for pair in found] or [0]))

    def writes(self, request):
        side = "success" if all(map(self.holds, request.get("compare", []))) else "failure"
        return any("request_put" in op or "request_delete_range" in op
                   or "request_txn" in op and self.writes(op["request_txn"])
                   for op in request.get(side, []))

    def perform(self, request):
        good = all(map(self.holds, request.get("compare", [])))
        answers = []
        for op in request.get("success" if good else "failure", []):
            (kind, body), = op.items()
            if kind == "request_put":
                self.put(plain(body["key"]), plain(body["value"]), body.get("lease", "0"))
                answers.append({"response_put": {"header": self.header()}})
            elif kind == "request_delete_range":
                self.delete(self.within(body))
                answers.append({"response_delete_range": {"deleted": "1"}})
            elif kind == "request_txn":
                answers.append({"response_txn": self.perform(body)})
            else:
                answers.append({"response_range": self.read(body)})
        return {"header": self.header(), "succeeded": good, "responses": answers}

    def read(self, body):
        found = self.within(body)
        if "max_create_revision" in body:
            found = [k for k in found
                     if self.keys[k]["create"] <= int(body["max_create_revision"])]
        if "max_mod_revision" in body:
            found = [k for k in found if self.keys[k]["mod"] <= int(body["max_mod_revision"])]
        if body.get("sort_target") == "CREATE":
            found.sort(key=lambda k: self.keys[k]["create"])
        if body.get("sort_order") == "DESCEND":
            found.reverse()
        some = found[:int(body["limit"])] if "limit" in body else found
        pairs = [{"key": coded(k), "create_revision": str(self.keys[k]["create"]),
                  "mod_revision": str(self.keys[k]["mod"]), "version": "1",
                  "lease": self.keys[k]["lease"], "value": coded(self.keys[k]["value"])}
                 for k in some]
        return {"header": self.header(), "kvs": pairs, "count": str(len(found))}

    # ------------------------------------------------------------ requests
    def answer(self, path, body):
        """Do the request.  Returns the answer, or (status, code, message)."""
        if path == "/v3/auth/authenticate":
            if (body["name"], body["password"]) != self.user:
                return 400, 3, "etcdserver: authentication failed, invalid user ID or password"
            self.tokens += 1
            return {"header": self.header(), "token": "token.%d" % self.tokens}
        lease = str(body.get("ID", "0"))
        if path == "/v3/lease/grant":
            if lease in self.leases:
                return 400, 9, "etcdserver: lease already exists"
            self.leases.add(lease)
            return {"header": self.header(), "ID": lease, "TTL": str(body["TTL"])}
        if path == "/v3/lease/keepalive":
            ttl = {"TTL": "1000"} if lease in self.leases else {}
            return {"result": {"header": self.header(), "ID": lease, **ttl}}
        if path == "/v3/lease/revoke":
            if lease not in self.leases:
                return 404, 5, "etcdserver: requested lease not found"
            self.end_lease(lease)
            return {"header": self.header()}
        if self.writes(body):
            if any('"lease": "%s"' % other in json.dumps(body) and other not in self.leases
                   for other in self.leases_of(body)):
                return 404, 5, "etcdserver: requested lease not found"
            self.revision += 1
        result = self.perform(body)
        self.change.notify_all()
        return result

    def end_lease(self, lease):
        self.leases.remove(lease)
        self.revision += 1
        self.delete([k for k in self.keys if self.keys[k]["lease"] == lease])
        self.change.notify_all()

    def leases_of(self, body):
        return [op["request_put"]["lease"] for op in body.get("success", [])
                if "request_put" in op and op["request_put"]["lease"] != "0"]

    def locked_answer(self, path, body):
        with self.change:
            self.change.wait_for(lambda: not self.silent or self.closed)
            return self.answer(path, body)

    def be_silent(self, silent):
        with self.change:
            self.silent = silent
            self.change.notify_all()

    def do_later(self, path, body, when):
        with self.change:
            self.change.wait_for(lambda: when(self) or self.closed)
            self.answer(path, body)
            self.done_later += 1

    def add(self, *fault):
        """Add a fault.  Its n counts the requests from now on."""
        with self.change:
            self.unplayed.add(len(self.faults))
            self.matched.append(0)
            self.faults.append(fault)

    def keys_with(self, text):
        with self.change:
            return [key for key in self.keys if text in key]

    def is_held(self):
        return self.keys_with("/r/") != []

    def puts(self, request):
        for op in request.get("success", []) + request.get("failure", []):
            if "request_put" in op:
                yield plain(op["request_put"]["key"])
            elif "request_txn" in op:
                yield from self.puts(op["request_txn"])

    def step(self, path, body):
        if path != "/v3/kv/txn":
            return path
        keys = list(self.puts(body))
        return path + ("/begin" if any("/r/" in key for key in keys)
                       else "/join" if any("/q/" in key for key in keys)
                       else "/limit" if keys
                       else "/read/list" if len(body["success"]) == LISTED else "/read")

    def next_fault(self, step):
        found = None
        for i, (path, n, *fault) in enumerate(self.faults):
            if path not in step:
                continue
            self.matched[i] += 1
            if n in (0, self.matched[i]) and found is None:
                found = fault
                self.unplayed.discard(i)
        self.played += found is not None
        return found

    def serve(self, handler):
        body = json.loads(handler.rfile.read(int(handler.headers["Content-Length"])))
        path = handler.path
        with self.change:
            self.counts[path] = self.counts.get(path, 0) + 1
            step = self.step(path, body)
            self.lists += step.endswith("/list")
            fault = self.next_fault(step)
        action = fault[0] if fault else ""
        handler.close_connection = action != ""
        if action == "meanwhile":
            with self.change:
                self.revision += 1
                fault[1](self)
        if self.user is not None and path != "/v3/auth/authenticate" and not action:
            token = handler.headers.get("Authorization")
            if token != "token.%d" % self.tokens:
                send(handler, 401, {"error": "etcdserver: invalid auth token", "code": 16,
                                    "message": "etcdserver: invalid auth token"})
                return
        if path == "/v3/watch":
            self.watch(handler, body["create_request"], action)
        elif action == "cut":
            pass
        elif action == "later":
            threading.Thread(target=self.do_later, args=(path, body, fault[1]),
                             daemon=True).start()
        elif action == "text":
            send(handler, 200, fault[1])
        elif action == "page":
            send(handler, fault[1], fault[2])
        elif action == "error":
            send(handler, fault[2], {"error": fault[3], "code": fault[1], "message": fault[3]})
        elif action == "endless":
            endless(handler)
        elif action == "deep":
            send(handler, 200, '{"header":' * 100000)
        elif action == "gone":
            send(handler, 200, {"result": {"header": self.header(), "ID": body["ID"]}})
        else:
            self.answer_with(handler, action, fault, self.locked_answer(path, body))

    def answer_with(self, handler, action, fault, result):
        status = 200
        if isinstance(result, tuple):
            status, code, message = result
            result = {"error": message, "code": code, "message": message}
        if action == "lose":
            return
        if action == "hang":
            while handler.connection.recv(100):
                pass
            return
        if action == "late":
            time.sleep(fault[1])
        if action == "old":
            result["header"]["revision"] = "1"
        send(handler, status, result, half=action == "half")

    def watch(self, handler, create, action):
        begin, end = plain(create["key"]), plain(create.get("range_end", ""))
        start = int(create["start_revision"])
        handler.send_response(200)
        handler.send_header("Transfer-Encoding", "chunked")
        handler.end_headers()
        chunk(handler, {"result": {"header": self.header(), "created": True}})
        if action == "cut":
            return
        if action == "hang":
            while handler.connection.recv(100):
                pass
            return
        if action == "compact":
            chunk(handler, {"result": {"header": self.header(), "canceled": True,
                                       "compact_revision": str(start + 1)}})
            return
        if action == "text":
            chunk(handler, "nonsense\n")
            return
        if action == "endless":
            while True:
                chunk(handler, "x" * 100000)
        with self.change:
            while not self.closed:
                events = [{"type": kind, "kv": {"key": coded(key), "mod_revision": str(at)}}
                          for at, kind, key in self.history
                          if at >= start and (begin <= key < end if end else key == begin)]
                if events:
                    break
                self.change.wait()
        chunk(handler, {"result": {"header": self.header(), "events": events}})
        handler.close_connection = True


def send(handler, status, body, half=False):
    text = (body if isinstance(body, str) else json.dumps(body)).encode()
    handler.send_response(status)
    handler.send_header("Content-Type", "application/json")
    handler.send_header("Content-Length", str(len(text)))
    handler.end_headers()
    handler.wfile.write(text[:len(text) // 2] if half else text)
    if half:
        handler.close_connection = True


def chunk(handler, body):
    text = (body if isinstance(body, str) else json.dumps(body) + "\n").encode()
    handler.wfile.write(b"%x\r\n%s\r\n" % (len(text), text))


def endless(handler):
    handler.send_response(200)
    handler.send_header("Transfer-Encoding", "chunked")
    handler.end_headers()
    while True:
        chunk(handler, '{"a":"' + "x" * 1000000)
