"""The unmodified `openai` package. `websocket_base_url` selects a service without TLS."""

import asyncio
import base64

from asked import pieces, read_task, report, silence
from openai import AsyncOpenAI

TRANSCRIPT = "conversation.item.input_audio_transcription"


async def until(connection, last: str) -> list:
    """All events up to the first one of type `last`."""
    events = []
    async for event in connection:
        events.append(event)
        if event.type == "error":
            raise RuntimeError(event.error.message)
        if event.type == last:
            return events
    raise RuntimeError(f"the connection ended before {last}")


def of(events: list, kind: str) -> list:
    return [event for event in events if event.type == kind]


async def append(connection, pcm: bytes) -> None:
    for piece in pieces(pcm):
        await connection.input_audio_buffer.append(audio=base64.b64encode(piece).decode())


async def commit(client: AsyncOpenAI, pcm: bytes) -> None:
    async with client.realtime.connect(model="svc-stt") as connection:
        await until(connection, "session.created")
        await connection.session.update(
            session={"type": "transcription", "audio": {"input": {"transcription": {"model": "svc-stt"}}}}
        )
        await until(connection, "session.updated")
        await append(connection, pcm)
        await connection.input_audio_buffer.commit()
        events = await until(connection, f"{TRANSCRIPT}.completed")
        report(
            "commit",
            transcript=events[-1].transcript,
            deltas="".join(event.delta for event in of(events, f"{TRANSCRIPT}.delta")),
            tokens=events[-1].usage.total_tokens,
        )


async def turn(client: AsyncOpenAI, pcm: bytes) -> None:
    async with client.realtime.connect(model="svc-stt") as connection:
        detection = {"type": "server_vad", "silence_duration_ms": 400}
        await connection.session.update(
            session={"type": "transcription", "audio": {"input": {"turn_detection": detection}}}
        )
        await append(connection, silence(1) + pcm + silence(1))
        events = await until(connection, f"{TRANSCRIPT}.completed")
        [started] = of(events, "input_audio_buffer.speech_started")
        [stopped] = of(events, "input_audio_buffer.speech_stopped")
        report(
            "turn",
            transcript=events[-1].transcript,
            start_ms=started.audio_start_ms,
            end_ms=stopped.audio_end_ms,
        )


async def speak(client: AsyncOpenAI, text: str) -> None:
    # This package uses the GA event names.
    async with client.realtime.connect(model="svc-tts", extra_query={"events": "ga"}) as connection:
        await connection.session.update(session={"type": "realtime", "output_modalities": ["audio"]})
        content = [{"type": "input_text", "text": text}]
        await connection.conversation.item.create(
            item={"type": "message", "role": "user", "content": content}
        )
        await connection.response.create()
        events = await until(connection, "response.done")
        pcm = b"".join(base64.b64decode(event.delta) for event in of(events, "response.output_audio.delta"))
        [done] = of(events, "response.output_audio_transcript.done")
        report(
            "speak",
            status=events[-1].response.status,
            transcript=done.transcript,
            audio=base64.b64encode(pcm).decode(),
            tokens=events[-1].response.usage.total_tokens,
        )


async def main() -> None:
    task = read_task()
    client = AsyncOpenAI(
        api_key=task.key,
        base_url=task.base_url,
        websocket_base_url=task.base_url.replace("http", "ws", 1),
    )
    await commit(client, task.clip)
    await turn(client, task.clip)
    await speak(client, task.text)


asyncio.run(asyncio.wait_for(main(), 60))
