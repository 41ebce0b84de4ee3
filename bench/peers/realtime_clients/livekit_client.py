"""
LiveKit's OpenAI plugin, unmodified: its speech recognition over realtime, and its realtime model. Its `base_url`
points both at the service; http there becomes ws.
"""

import asyncio
import base64

from asked import RATE_HZ, asked, pieces, silence, tell
from livekit import rtc
from livekit.agents import llm, stt
from livekit.agents.utils import http_context
from livekit.plugins import openai
from openai.types.realtime import AudioTranscription
from openai.types.realtime.realtime_audio_input_turn_detection import ServerVad


def frames(pcm: bytes) -> list[rtc.AudioFrame]:
    return [rtc.AudioFrame(piece, RATE_HZ, 1, len(piece) // 2) for piece in pieces(pcm)]


async def recognise(base_url: str, key: str, pcm: bytes) -> None:
    """`openai.STT`: interim and final transcripts of turns that the service finds."""
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
    tell(
        "livekit-stt",
        transcript=final.text,
        kinds=kinds,
        seconds=usage.audio_duration,
        tokens=usage.input_tokens + usage.output_tokens,
    )
    await stream.aclose()
    await recogniser.aclose()


async def converse(base_url: str, key: str, pcm: bytes, text: str) -> None:
    """`openai.realtime.RealtimeModel`: a turn is written down, then a message is read aloud."""
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
    tell("livekit-turn", transcript=transcript, errors=errors)
    tell("livekit-speak", transcript=words, audio=base64.b64encode(audio).decode(), roles=roles)
    await session.aclose()
    await model.aclose()


async def main() -> None:
    ask = asked()
    # What a worker of the framework opens for its jobs.
    async with http_context.open():
        await recognise(ask.base_url, ask.key, ask.clip)
        await converse(ask.base_url, ask.key, ask.clip, ask.text)


asyncio.run(asyncio.wait_for(main(), 60))
