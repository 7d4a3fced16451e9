"""A receiver of webhooks, with nothing but the standard library.

    WEBHOOK_SECRET=whsec_... PORT=3000 python3 receiver.py
"""

import hashlib
import hmac
import json
import os
import re
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

SECRET = os.environ["WEBHOOK_SECRET"].encode()  # the whole text, `whsec_` included
BODY_BYTES_MAX = 256 * 1024
SKEW_SECONDS_MAX = 300

# In earnest a table with a unique key: it must outlive the process, and be written in the same
# transaction as what the event leads to.
seen, lock = set(), threading.Lock()


def is_believed(headers, body):
    """Whether the body is signed with our secret, and that not long ago."""
    timestamp = headers.get("X-Service-Timestamp", "")
    if not re.fullmatch("[0-9]{1,12}", timestamp):
        return False
    signed = timestamp.encode() + b"." + body  # the bytes as they came, before any parser
    expected = "v1=" + hmac.new(SECRET, signed, hashlib.sha256).hexdigest()
    given = headers.get("X-Service-Signature", "")
    is_fresh = abs(time.time() - int(timestamp)) <= SKEW_SECONDS_MAX
    return hmac.compare_digest(expected.encode(), given.encode("latin-1", "replace")) and is_fresh


def take(headers, body):
    """Takes one delivery; the status to answer."""
    if not is_believed(headers, body):
        return 401
    try:
        event = json.loads(body)
        event_id = event["id"]
    except (ValueError, KeyError, TypeError):
        return 400
    if not isinstance(event_id, str) or event_id != headers.get("X-Service-Event-Id"):
        return 400
    with lock:
        if event_id not in seen:
            seen.add(event_id)
            act(event)
    return 204


def act(event):
    """What the event is for. It happens once, however often the event comes."""
    print(f"acted on {event['id']}: {event.get('type')}", flush=True)


class Receiver(BaseHTTPRequestHandler):
    timeout = 10  # seconds for whoever is silent

    def do_POST(self):
        length = self.headers.get("Content-Length", "")
        if not re.fullmatch("[0-9]{1,12}", length):
            return self.answer(411)
        if int(length) > BODY_BYTES_MAX:
            return self.answer(413)
        body = self.rfile.read(int(length))
        self.answer(take(self.headers, body) if len(body) == int(length) else 400)

    def answer(self, status):
        self.send_response(status)
        if status == 405:
            self.send_header("Allow", "POST")
        if status != 204:
            self.send_header("Content-Length", "0")
        self.end_headers()

    def refuse(self):
        self.answer(405)

    do_GET = do_HEAD = do_PUT = do_PATCH = do_DELETE = refuse

    def log_message(self, *_):
        pass


if __name__ == "__main__":
    server = ThreadingHTTPServer(("127.0.0.1", int(os.environ.get("PORT", "0"))), Receiver)
    print(f"listening on http://127.0.0.1:{server.server_port}", flush=True)
    server.serve_forever()
