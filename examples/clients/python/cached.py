"""Fill a cache over HTTP without a stampede: one caller loads, the others wait. Standard library only.

    python3 cached.py http://127.0.0.1:8080 KEY

The server must have a space: CATRACA_CACHE_SPACES='[{"name":"rates","ttlMs":60000}]'.
"""

import json
import sys
import time
import urllib.error
import urllib.parse
import urllib.request
from concurrent.futures import ThreadPoolExecutor

url, key = sys.argv[1].rstrip("/"), sys.argv[2]


def call(method, path, body=None):
    """The status, the body and the headers of an answer, of whichever status."""
    data = None if body is None else json.dumps(body).encode()
    headers = {"Authorization": f"Bearer {key}"}
    if data is not None:
        headers["Content-Type"] = "application/json"
    request = urllib.request.Request(url + path, data, headers, method=method)
    try:
        with urllib.request.urlopen(request, timeout=60) as answer:
            return answer.status, json.loads(answer.read() or b"null"), answer.headers
    except urllib.error.HTTPError as problem:
        return problem.code, json.loads(problem.read() or b"null"), problem.headers


def get_or_load(space, name, load):
    path = f"/cache/{urllib.parse.quote(space)}/{urllib.parse.quote(name)}"
    while True:
        status, answer, headers = call("POST", f"{path}/lease", {"ttlMs": 10_000, "waitMs": 5_000})
        if status == 503:
            return load()  # The store is away: the source is asked without it.
        if status == 202:
            time.sleep(int(headers["Retry-After"]))
            continue
        if status not in (200, 201):
            raise RuntimeError(answer["detail"])
        if "lease" not in answer:
            return answer["value"]
        try:
            value = load()
        except Exception:
            call("DELETE", f"{path}/lease/{answer['lease']}")
            if "value" in answer:
                return answer["value"]  # Stale, and better than nothing.
            raise
        # 409: it was invalidated while it was loaded. The value is good for this caller, and is not kept.
        call("PUT", path, {"value": value, "lease": answer["lease"]})
        return value


loads = []


def load_rate():
    loads.append(1)
    time.sleep(0.1)
    return {"brl": 5.4}


with ThreadPoolExecutor(8) as callers:
    values = list(callers.map(lambda _: get_or_load("rates", "usd", load_rate), range(8)))
print(f"callers: {len(values)}, all the same: {all(value == values[0] for value in values)}")
print(f"loads: {len(loads)}")
