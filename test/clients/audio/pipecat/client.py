"""Speech and transcription with the services of Pipecat for OpenAI. Settings on standard input, one JSON line per result."""

import asyncio
import json
import sys

from loguru import logger
from pipecat.frames.frames import (
    ErrorFrame,
    InputAudioRawFrame,
    TranscriptionFrame,
    TTSAudioRawFrame,
    TTSSpeakFrame,
    VADUserStartedSpeakingFrame,
    VADUserStoppedSpeakingFrame,
)
from pipecat.services.openai.stt import OpenAISTTService
from pipecat.services.openai.tts import OpenAITTSService
from pipecat.tests.utils import run_test

settings = json.loads(sys.stdin.readline())
SERVER = {"api_key": settings["key"], "base_url": settings["baseURL"]}
RATE_HZ = 24_000
FRAME_BYTES = RATE_HZ // 50 * 2


def report(check, **result):
    print(json.dumps({"check": check, **result}), flush=True)


async def frames_of(service, sent):
    down, up = await run_test(service, frames_to_send=sent)
    errors = [frame.error for frame in up if isinstance(frame, ErrorFrame)]
    if errors:
        raise RuntimeError(errors)
    return down


async def main():
    logger.remove()
    tts = OpenAITTSService(
        **SERVER,
        settings=OpenAITTSService.Settings(model=settings["speech"], voice=settings["voice"]),
    )
    spoken = await frames_of(tts, [TTSSpeakFrame(settings["text"])])
    audio = b"".join(frame.audio for frame in spoken if isinstance(frame, TTSAudioRawFrame))
    report("speech", seconds=len(audio) / 2 / RATE_HZ)

    stt = OpenAISTTService(
        **SERVER, settings=OpenAISTTService.Settings(model=settings["transcription"])
    )
    microphone = [
        InputAudioRawFrame(audio[at : at + FRAME_BYTES], RATE_HZ, 1)
        for at in range(0, len(audio), FRAME_BYTES)
    ]
    heard = await frames_of(
        stt, [VADUserStartedSpeakingFrame(), *microphone, VADUserStoppedSpeakingFrame()]
    )
    report("json", text=" ".join(frame.text for frame in heard if isinstance(frame, TranscriptionFrame)))


asyncio.run(main())
