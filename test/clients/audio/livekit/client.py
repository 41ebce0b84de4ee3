"""Speech and transcription with the plugins of LiveKit Agents for OpenAI. Settings on standard input, one JSON line per result."""

import asyncio
import json
import sys

from livekit import rtc
from livekit.plugins import openai

settings = json.loads(sys.stdin.readline())
SERVER = {"api_key": settings["key"], "base_url": settings["baseURL"]}


def report(check, **result):
    print(json.dumps({"check": check, **result}), flush=True)


async def main():
    tts = openai.TTS(model=settings["speech"], voice=settings["voice"], **SERVER)
    frames = []
    async with tts.synthesize(settings["text"]) as stream:
        async for audio in stream:
            frames.append(audio.frame)
    speech = rtc.combine_audio_frames(frames)
    report("speech", seconds=speech.duration, rate=speech.sample_rate)
    await tts.aclose()

    stt = openai.STT(model=settings["transcription"], **SERVER)
    event = await stt.recognize(speech)
    report("json", text=event.alternatives[0].text)
    await stt.aclose()


asyncio.run(main())
