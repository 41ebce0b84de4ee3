"""
Uses files and batches with the unmodified `openai` package: create, poll, download, list, cancel, delete.
Reads its settings as one line of JSON and prints one JSON line per flow.
"""

import json
import sys
import time

import httpx2
from openai import APIStatusError, OpenAI

settings = json.loads(sys.stdin.readline())
ENDED = {"completed", "failed", "expired", "cancelled"}
TIMEOUT_S = 60

requests: list[str] = []
http = httpx2.Client(event_hooks={"request": [lambda request: requests.append(f"{request.method} {request.url.path}")]})
client = OpenAI(api_key=settings["key"], base_url=settings["base_url"], http_client=http)


def report(flow: str, **result: object) -> None:
    print(json.dumps({"flow": flow, **result}), flush=True)


def upload(lines: list[dict[str, object]]) -> str:
    content = "".join(json.dumps(line) + "\n" for line in lines).encode()
    file = client.files.create(file=("lines.jsonl", content), purpose="batch")
    return client.files.wait_for_processing(file.id).id


def wait_for_end(batch_id: str):
    deadline = time.monotonic() + TIMEOUT_S
    while True:
        batch = client.batches.retrieve(batch_id)
        if batch.status in ENDED:
            return batch
        if time.monotonic() > deadline:
            raise TimeoutError(f"the batch is still {batch.status}")
        time.sleep(0.1)


def lines_of(file_id: str | None) -> list[dict[str, object]]:
    if file_id is None:
        return []
    return [json.loads(line) for line in client.files.content(file_id).text.splitlines()]


def body(model: str) -> dict[str, object]:
    return {"model": model, "input": "The cat sat on the mat."}


file_id = upload(
    [
        {"custom_id": "good", "method": "POST", "url": "/v1/embeddings", "body": body(settings["embed_model"])},
        {"custom_id": "bad", "method": "POST", "url": "/v1/embeddings", "body": body("none")},
    ]
)
created = client.batches.create(
    input_file_id=file_id, endpoint="/v1/embeddings", completion_window="24h", metadata={"topic": "cats"}
)
batch = wait_for_end(created.id)
report(
    "batch",
    created=created.status,
    status=batch.status,
    metadata=batch.metadata,
    counts=batch.request_counts.model_dump() if batch.request_counts else None,
    output=[(line["custom_id"], line["response"]["status_code"]) for line in lines_of(batch.output_file_id)],
    errors=[(line["custom_id"], line["error"]["code"]) for line in lines_of(batch.error_file_id)],
)

for _ in range(4):
    wait_for_end(client.batches.create(input_file_id=file_id, endpoint="/v1/embeddings", completion_window="24h").id)
report("list", batches=len({each.id for each in client.batches.list(limit=2)}))

requests.clear()
try:
    client.batches.cancel(batch.id)
except APIStatusError as error:
    report("cancel", status=error.status_code, requests=len(requests))

report("delete", deleted=client.files.delete(file_id).deleted)
