"""What Schemathesis has to know of the API, and a count of its requests."""

import atexit
import gzip
import itertools
import os

import schemathesis
from schemathesis.transport.serialization import serialize_binary

requests = itertools.count()


@schemathesis.serializer("application/x-ndjson")
def ndjson(ctx, value):
    """Lines of events are text like any other."""
    return serialize_binary(value)


@schemathesis.check
def unavailable(ctx, response, case):
    """The scan begins when the daemon is ready, and has few requests under way: a 503 is the
    answer of a feature that is off, and of nothing else."""
    if response.status_code == 503 and case.method.upper() != "HEAD":
        assert response.json()["error"].endswith(" disabled"), f"503 of a feature that is on: {response.text}"


@schemathesis.hook
def before_call(ctx, case, kwargs):
    """A body that is said to be compressed is compressed: no schema says that it must be."""
    kwargs["auth"] = compress


def compress(request):
    """Compresses what is sent, and leaves the case as it was drawn."""
    if request.headers.get("Content-Encoding") == "gzip" and request.body:
        body = request.body if isinstance(request.body, bytes) else request.body.encode("utf-8")
        request.prepare_body(gzip.compress(body), None)
    return request


@schemathesis.hook
def after_call(ctx, case, response):
    next(requests)


@atexit.register
def report():
    path = os.environ.get("SLUICE_SCAN_COUNT")
    if path:
        with open(path, "w", encoding="ascii") as f:
            f.write(str(next(requests)))
