"""Catraca from Python, with the standard library only: a check that sees a write, a limit, a request that is done once,
a lock with a fence, and a feature flag.

    python3 client.py http://127.0.0.1:8080 [KEY]
"""

import json
import sys
import urllib.error
import urllib.parse
import urllib.request


class Refused(Exception):
    """What the server says when it does not do it: an RFC 9457 problem."""

    def __init__(self, status, problem, retry_after):
        super().__init__(problem.get("detail", str(status)))
        self.status = status
        self.code = problem.get("code")
        self.problem = problem
        self.retry_after = retry_after


class Client:
    def __init__(self, url, key=None, timeout_seconds=5):
        self.url = url.rstrip("/")
        self.key = key
        self.timeout_seconds = timeout_seconds

    def call(self, method, path, body=None):
        headers = {"accept": "application/json"}
        if self.key:
            headers["authorization"] = f"Bearer {self.key}"
        data = None
        if body is not None:
            data = json.dumps(body).encode()
            headers["content-type"] = "application/json"
        request = urllib.request.Request(self.url + path, data=data, headers=headers, method=method)
        try:
            with urllib.request.urlopen(request, timeout=self.timeout_seconds) as response:
                text = response.read()
                return json.loads(text) if text else None
        except urllib.error.HTTPError as error:
            retry_after = error.headers.get("retry-after")
            raise Refused(error.code, json.loads(error.read()), retry_after) from None


def part(text):
    """One part of a path: ids may hold characters that a path would be split at."""
    return urllib.parse.quote(text, safe="")


def check(client, customer, lists, at_least=None):
    """`at_least`: the token of a write that the answer must know, whichever server gives it."""
    query = {"allowlists": ",".join(lists)}
    if at_least is not None:
        query["atLeast"] = at_least
    query = urllib.parse.urlencode(query)
    return client.call("GET", f"/customers/{part(customer)}/check?{query}")


def acquire(client, entity, resource):
    try:
        answer = client.call("POST", "/limits/acquire", {"entity": entity, "resource": resource})
        return answer["leaseId"], None
    except Refused as refused:
        if refused.status != 429:
            raise
        return None, refused.retry_after


def once(client, operation, key, payload, work):
    """Does the work if nobody has done it yet, and gives the recorded answer otherwise."""
    path = f"/idempotency/{part(operation)}/{part(key)}"
    claim = client.call("POST", path, {"payload": payload})
    if claim["status"] == "COMPLETED":
        return claim["response"], True
    try:
        response = work()
    except Exception as error:
        client.call("POST", f"{path}/fail", {"token": claim["token"], "error": str(error)})
        raise
    client.call("POST", f"{path}/complete", {"token": claim["token"], "response": response})
    return response, False


def locked(client, name, work):
    """Does the work while nobody else does. The work passes the fence on: a store refuses a lower one than it has seen."""
    path = f"/locks/{part(name)}"
    held = client.call("POST", path, {"ttlMs": 30_000})
    try:
        return work(held["fence"])
    finally:
        client.call("POST", f"{path}/release", {"token": held["token"]})


def flag(client, key, customer):
    """A list or wave as a boolean flag, by the OpenFeature Remote Evaluation Protocol."""
    context = {"context": {"targetingKey": customer}}
    return client.call("POST", f"/ofrep/v1/evaluate/flags/{part(key)}", context)["value"]


def is_locked(client, name):
    try:
        return locked(client, name, lambda fence: False)
    except Refused as refused:
        return refused.code == "LOCK_HELD"


def main():
    client = Client(*sys.argv[1:3])
    client.call("POST", "/allowlists", {"id": "python", "name": "Python", "type": "FIXA"})
    written = client.call("PUT", "/allowlists/python/customers/ann", {})
    for customer in ("ann", "bob"):
        answer = check(client, customer, ["python"], at_least=written["token"])
        print(f"check {customer}: {answer['overallAllowed']} ({answer['results'][0]['reason']})")

    limit = {"capacity": 1, "refillAmount": 1, "refillPeriodSeconds": 60}
    client.call("PUT", "/config/resources/python", {"limits": {"rpm": limit}})
    lease, _ = acquire(client, "ann", "python")
    print("acquire: may pass")
    _, retry_after = acquire(client, "ann", "python")
    print(f"acquire: come back in {retry_after} s")
    client.call("DELETE", f"/leases/{part(lease)}")
    lease, _ = acquire(client, "ann", "python")
    print(f"given back, then: {'may pass' if lease else 'denied'}")

    for _ in range(2):
        response, is_replay = once(client, "PRODUCE", "python-1", {"n": 1}, lambda: {"id": 7})
        print(f"once: {response['id']}, {'replayed' if is_replay else 'done'}")

    first = locked(client, "report", lambda fence: (fence, is_locked(client, "report")))
    second = locked(client, "report", lambda fence: fence)
    print(f"lock: others wait: {first[1]}, the fence grows: {second > first[0]}")
    print(f"flag: ann {flag(client, 'python', 'ann')}, bob {flag(client, 'python', 'bob')}")


if __name__ == "__main__":
    main()
