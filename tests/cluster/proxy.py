# SPDX-License-Identifier: MIT
"""proxy.py - a proxy that breaks connections to an endpoint silently: it drops all bytes.

No connection is closed or refused, as when a cable is pulled or a firewall forgets a connection, so neither
side notices.  The proxy can also close each connection; with TLS, it does so in the handshake.
"""

import contextlib
import select
import socket
import threading
from urllib.parse import urlsplit


class Proxy:
    def __init__(self, target):
        to = urlsplit(target)
        self.target = (to.hostname, to.port)
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.url = "%s://127.0.0.1:%d" % (to.scheme, self.listener.getsockname()[1])
        self.lock = threading.Lock()
        self.pairs = {}             # for each end of a connection, the other end, or None if dropped
        self.drops_new, self.dropped, self.watches = False, 0, 0
        self.closes, self.refused = False, 0
        self.wakes, self.wake = socket.socketpair()
        self.closed = False
        self.thread = threading.Thread(target=self.run, daemon=True)
        self.thread.start()

    def drop(self, new=False):
        """Drop all bytes on existing and on new connections."""
        with self.lock:
            self.pairs = dict.fromkeys(self.pairs)
            self.drops_new = new

    def close(self):
        """Close all existing connections, and each new one at once."""
        with self.lock:
            self.closes = True
            for end in self.pairs:
                with contextlib.suppress(OSError):
                    end.shutdown(socket.SHUT_RDWR)      # the proxy's thread then closes `end`

    def let_pass(self):
        """Let new connections work again; dropped connections stay dropped."""
        with self.lock:
            self.drops_new = self.closes = False

    def stop(self, drops=True):
        """Stop.  It is an error if no byte was dropped: the test has tested nothing."""
        self.closed = True
        self.wake.send(b"x")
        self.thread.join()
        for end in [*self.pairs, self.listener, self.wake, self.wakes]:
            end.close()
        if drops and self.dropped == 0:
            raise AssertionError("the proxy has dropped nothing")

    def accept(self):
        near = self.listener.accept()[0]
        if self.closes:
            self.refused += 1
            near.close()
            return
        far = None
        if not self.drops_new:
            far = socket.create_connection(self.target)
            self.pairs[far] = near
        self.pairs[near] = far

    def carry(self, end):
        try:
            data = end.recv(65536)
        except OSError:
            data = b""
        other = self.pairs[end]
        if other is None:
            self.dropped += len(data)
        if data and other is not None:
            # A request is so short that it comes in one piece.
            self.watches += data.count(b"POST /v3/watch")
            try:
                other.sendall(data)
            except OSError:
                data = b""
        if not data:
            # If the connection is dropped, close only `end`.
            for each in (end, other):
                if each is not None:
                    self.pairs.pop(each, None)
                    each.close()

    def run(self):
        while not self.closed:
            with self.lock:
                ends = list(self.pairs)
            ready = select.select([self.listener, self.wakes, *ends], [], [], 0.05)[0]
            with self.lock:
                for end in ready:
                    if end is self.listener:
                        self.accept()
                    elif end in self.pairs:
                        self.carry(end)
