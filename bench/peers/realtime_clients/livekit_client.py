"""
The unmodified OpenAI plugin of LiveKit: its speech recognition over realtime, and its realtime model. Both use `base_url`
with ws instead of http.
"""

import asyncio
import base64

from asked import RATE_HZ, pieces, read_task, report, silence
from livekit import rtc
from livekit.agents import llm, stt
from livekit.agents.utils import http_context
from livekit.plugins import openai
from openai.types.realtime import AudioTranscription
from openai.types.realtime.realtime_audio_input_turn_detection import ServerVad


def frames(pcm: bytes) -> list[rtc.AudioFrame]:
    return [rtc.AudioFrame(piece, RATE_HZ, 1, len(piece) // 2) for piece in pieces(pcm)]


async def recognise(base_url: str, key: str, pcm: bytes) -> None:
    """`openai.STT`: interim and final transcripts of turns that the service detects."""
    recogniser = openai.STT(
        model="svc-stt",
        base_url=base_url,
        api_key=key,
        use_realtime=True,
        turn_detection={"type": "server_vad", "threshold": 0.5, "silence_duration_ms": 400},
    )
    stream = recogniser.stream()
    for frame in frames(silence(1) + pcm + silence(1.5)):
        stream.push_frame(frame)
    kinds, final = [], None
    async for event in stream:
        kinds.append(event.type.value)
        if event.type == stt.SpeechEventType.FINAL_TRANSCRIPT:
            final = event.alternatives[0]
        if event.type == stt.SpeechEventType.RECOGNITION_USAGE:
            usage = event.recognition_usage
            break
    report(
        "livekit-stt",
        transcript=final.text,
        kinds=kinds,
        seconds=usage.audio_duration,
        tokens=usage.input_tokens + usage.output_tokens,
    )
    await stream.aclose()
    await recogniser.aclose()


async def converse(base_url: str, key: str, pcm: bytes, text: str) -> None:
    """`openai.realtime.RealtimeModel`: transcribes a turn, then synthesizes a message."""
    model = openai.realtime.RealtimeModel(
        model="svc-tts",
        base_url=base_url,
        api_key=key,
        input_audio_transcription=AudioTranscription(model="svc-stt"),
        turn_detection=ServerVad(
            type="server_vad",
            silence_duration_ms=400,
            create_response=False,
            interrupt_response=False,
        ),
    )
    session = model.session()
    heard: asyncio.Future = asyncio.Future()
    errors: list[str] = []
    session.on(
        "input_audio_transcription_completed",
        lambda event: event.is_final and not heard.done() and heard.set_result(event.transcript),
    )
    session.on("error", lambda event: errors.append(str(event.error.body.message)))
    for frame in frames(silence(1) + pcm + silence(1.5)):
        session.push_audio(frame)
    transcript = await heard

    context = session.chat_ctx.copy()
    context.add_message(role="user", content=text)
    await session.update_chat_ctx(context)
    generation = await session.generate_reply()
    audio, words = b"", ""
    async for message in generation.message_stream:
        async for frame in message.audio_stream:
            audio += bytes(frame.data)
        async for piece in message.text_stream:
            words += piece
    roles = [item.role for item in session.chat_ctx.items if isinstance(item, llm.ChatMessage)]
    report("livekit-turn", transcript=transcript, errors=errors)
    report("livekit-speak", transcript=words, audio=base64.b64encode(audio).decode(), roles=roles)
    await session.aclose()
    await model.aclose()


async def main() -> None:
    task = read_task()
    # Workers of the framework open this context for their jobs.
    async with http_context.open():
        await recognise(task.base_url, task.key, task.clip)
        await converse(task.base_url, task.key, task.clip, task.text)


asyncio.run(asyncio.wait_for(main(), 60))
