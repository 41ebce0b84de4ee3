"""Additional checks of all responses. Loaded by schemathesis."""

import schemathesis

KEYS = {"message", "type", "param", "code"}


@schemathesis.check
def one_error_shape(ctx, response, case):
    [request_id] = response.headers.get("x-request-id", [""])
    assert request_id.startswith("req_"), "the response has no x-request-id"
    if response.status_code < 400:
        return
    body = response.json()
    assert set(body) == {"error"}, "the error has other fields"
    error = body["error"]
    assert set(error) == KEYS, "the error has not exactly its four fields"
    assert isinstance(error["message"], str) and error["message"] != "", "the error says nothing"
    assert isinstance(error["type"], str), "the error has no type"
    for name in ("param", "code"):
        assert error[name] is None or isinstance(error[name], str), f"the error has a strange {name}"
