"""Decodes recordings to mono 16-bit WAV at 16 kHz with the decoder of faster-whisper.

Reads JSON lines {"source", "path", "channel": "mixed"|"left"|"right", "startS", "endS": number or null}.
"""

import json
import sys
import wave

import numpy
from faster_whisper.audio import decode_audio

RATE_HZ = 16_000

for line in sys.stdin:
    request = json.loads(line)
    if request["channel"] == "mixed":
        samples = decode_audio(request["source"])
    else:
        left, right = decode_audio(request["source"], split_stereo=True)
        samples = left if request["channel"] == "left" else right
    end = request["endS"] and round(request["endS"] * RATE_HZ)
    samples = samples[round(request["startS"] * RATE_HZ) : end]
    with wave.open(request["path"], "wb") as file:
        file.setnchannels(1)
        file.setsampwidth(2)
        file.setframerate(RATE_HZ)
        file.writeframes((samples * 32767).clip(-32768, 32767).astype(numpy.int16).tobytes())
    print(json.dumps({"path": request["path"], "seconds": len(samples) / RATE_HZ}), flush=True)
