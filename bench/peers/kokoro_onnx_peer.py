"""Peer: kokoro-onnx with the same int8 Kokoro file. Writes one JSON line per text with the best run.

Usage: kokoro_onnx_peer.py MODEL.onnx VOICE.bin RUNS < texts.json   (an object: name -> text)
"""

import asyncio
import json
import os
import sys
import tempfile
import time

import numpy
from kokoro_onnx import Kokoro

RATE_HZ = 24_000
model, voice, runs = sys.argv[1], sys.argv[2], int(sys.argv[3])
texts = json.load(sys.stdin)

folder = tempfile.TemporaryDirectory()
voices = os.path.join(folder.name, "voices.npz")
numpy.savez(voices, peer=numpy.fromfile(voice, dtype=numpy.float32).reshape(510, 1, 256))
kokoro = Kokoro(model, voices)


async def speak(text):
    start = time.perf_counter()
    first, samples = None, 0
    async for audio, _ in kokoro.create_stream(text, voice="peer", speed=1.0, lang="en-us"):
        first = first or time.perf_counter() - start
        samples += len(audio)
    return first, time.perf_counter() - start, samples / RATE_HZ


asyncio.run(speak("Warm up."))
for name, text in texts.items():
    results = [asyncio.run(speak(text)) for _ in range(runs)]
    line = {
        "text": name,
        "first_audio_s": min(first for first, _, _ in results),
        "total_s": min(total for _, total, _ in results),
        "audio_s": results[0][2],
    }
    print(json.dumps(line), flush=True)
