"""
Mixed load with httpx: streamed speech, transcriptions and files of 1 MB, embeddings, small GET requests. Reads one line of
JSON (`base_url`, `key`), sends requests until standard input ends, then prints one JSON line with the number of requests and
every failure. A failure is a status other than 2xx, a broken transfer or an empty body. Requests are never retried.
"""

import asyncio
import io
import json
import sys
import wave
from collections import Counter

import httpx

settings = json.loads(sys.stdin.readline())
MEGABYTE = 1 << 20
# Sentences, so that the response is streamed while it is synthesized.
TEXT = "The harbour was quiet that morning. Two boats lay at the pier, and a gull walked between them. " * 2
counts: Counter[str] = Counter()
failures: list[str] = []
stopped = asyncio.Event()


def silence_wav() -> bytes:
    """A WAV file of 1 MB: 32 s, 16 kHz, mono, 16 bits."""
    file = io.BytesIO()
    with wave.open(file, "wb") as wav:
        wav.setnchannels(1)
        wav.setsampwidth(2)
        wav.setframerate(16_000)
        wav.writeframes(bytes(MEGABYTE))
    return file.getvalue()


WAV = silence_wav()
LINE = json.dumps({"custom_id": "a", "body": {"model": "all-minilm-l6-v2", "input": "x" * 1000}}) + "\n"
JSONL = (LINE * (MEGABYTE // len(LINE))).encode()


def check(response: httpx.Response, body: bytes) -> None:
    if not response.is_success:
        raise RuntimeError(f"HTTP {response.status_code} {body[:200]!r}")
    if not body:
        raise RuntimeError("empty body")


async def speech(client: httpx.AsyncClient) -> None:
    fields = {"model": "svc-tts", "input": TEXT, "response_format": "pcm"}
    async with client.stream("POST", "/v1/audio/speech", json=fields) as response:
        body = b"".join([chunk async for chunk in response.aiter_bytes()])
    check(response, body)


async def transcription(client: httpx.AsyncClient) -> None:
    files = {"file": ("silence.wav", WAV, "audio/wav")}
    response = await client.post("/v1/audio/transcriptions", data={"model": "svc-stt"}, files=files)
    check(response, response.content)


async def upload(client: httpx.AsyncClient) -> None:
    files = {"file": ("lines.jsonl", JSONL, "application/jsonl")}
    response = await client.post("/v1/files", data={"purpose": "batch"}, files=files)
    check(response, response.content)
    path = f"/v1/files/{response.json()['id']}"
    # Shared storage: the next request may reach the other node.
    response = await client.get(f"{path}/content")
    check(response, response.content)
    if response.content != JSONL:
        raise RuntimeError("the stored file differs")
    response = await client.delete(path)
    check(response, response.content)


async def embedding(client: httpx.AsyncClient) -> None:
    response = await client.post("/v1/embeddings", json={"model": "all-minilm-l6-v2", "input": [TEXT]})
    check(response, response.content)


async def models(client: httpx.AsyncClient) -> None:
    response = await client.get("/v1/models")
    check(response, response.content)


async def worker(client: httpx.AsyncClient, request) -> None:
    while not stopped.is_set():
        counts[request.__name__] += 1
        try:
            await request(client)
        except Exception as error:  # every kind of failure is reported
            failures.append(f"{request.__name__}: {type(error).__name__} {error}")
        # The nodes share two cores with their models: the load must not fill their queues.
        await asyncio.sleep(0.05)


async def main() -> None:
    headers = {"authorization": f"Bearer {settings['key']}"}
    async with httpx.AsyncClient(base_url=settings["base_url"], headers=headers, timeout=120) as client:
        mix = [speech] * 3 + [transcription] * 2 + [upload] * 2 + [embedding] * 2 + [models]
        workers = asyncio.gather(*(worker(client, request) for request in mix))
        await asyncio.to_thread(sys.stdin.read)
        stopped.set()
        await workers
    print(json.dumps({"requests": sum(counts.values()), "counts": counts, "failures": failures}))


asyncio.run(main())
