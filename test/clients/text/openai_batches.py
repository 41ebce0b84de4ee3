"""
The `openai` package, unmodified, through files and batches: create, poll, download, list, cancel, delete.
Reads one line of JSON, tells one line for each flow.
"""

import json
import sys
import time

import httpx2
from openai import APIStatusError, OpenAI

ask = json.loads(sys.stdin.readline())
ENDED = {"completed", "failed", "expired", "cancelled"}
PATIENCE_S = 60

sent: list[str] = []
http = httpx2.Client(event_hooks={"request": [lambda request: sent.append(f"{request.method} {request.url.path}")]})
client = OpenAI(api_key=ask["key"], base_url=ask["base_url"], http_client=http)


def tell(flow: str, **told: object) -> None:
    print(json.dumps({"flow": flow, **told}), flush=True)


def upload(lines: list[dict[str, object]]) -> str:
    content = "".join(json.dumps(line) + "\n" for line in lines).encode()
    file = client.files.create(file=("lines.jsonl", content), purpose="batch")
    return client.files.wait_for_processing(file.id).id


def ended(batch_id: str):
    until = time.monotonic() + PATIENCE_S
    while True:
        batch = client.batches.retrieve(batch_id)
        if batch.status in ENDED:
            return batch
        if time.monotonic() > until:
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
        {"custom_id": "good", "method": "POST", "url": "/v1/embeddings", "body": body(ask["embed_model"])},
        {"custom_id": "bad", "method": "POST", "url": "/v1/embeddings", "body": body("none")},
    ]
)
created = client.batches.create(
    input_file_id=file_id, endpoint="/v1/embeddings", completion_window="24h", metadata={"topic": "cats"}
)
batch = ended(created.id)
tell(
    "batch",
    created=created.status,
    status=batch.status,
    metadata=batch.metadata,
    counts=batch.request_counts.model_dump() if batch.request_counts else None,
    output=[(line["custom_id"], line["response"]["status_code"]) for line in lines_of(batch.output_file_id)],
    errors=[(line["custom_id"], line["error"]["code"]) for line in lines_of(batch.error_file_id)],
)

for _ in range(4):
    ended(client.batches.create(input_file_id=file_id, endpoint="/v1/embeddings", completion_window="24h").id)
tell("list", batches=len({each.id for each in client.batches.list(limit=2)}))

sent.clear()
try:
    client.batches.cancel(batch.id)
except APIStatusError as error:
    tell("cancel", status=error.status_code, requests=len(sent))

tell("delete", deleted=client.files.delete(file_id).deleted)
