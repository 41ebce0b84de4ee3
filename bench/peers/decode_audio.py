"""Real recordings as mono 16-bit WAV at 16 kHz, decoded by the peer's own decoder.

Reads JSON lines {"source", "path", "channel": "mixed"|"left"|"right", "startS", "endS": number or null}.
"""

import json
import sys
import wave

import numpy
from faster_whisper.audio import decode_audio

RATE_HZ = 16_000

for line in sys.stdin:
    wanted = json.loads(line)
    if wanted["channel"] == "mixed":
        samples = decode_audio(wanted["source"])
    else:
        left, right = decode_audio(wanted["source"], split_stereo=True)
        samples = left if wanted["channel"] == "left" else right
    end = wanted["endS"] and round(wanted["endS"] * RATE_HZ)
    samples = samples[round(wanted["startS"] * RATE_HZ) : end]
    with wave.open(wanted["path"], "wb") as file:
        file.setnchannels(1)
        file.setsampwidth(2)
        file.setframerate(RATE_HZ)
        file.writeframes((samples * 32767).clip(-32768, 32767).astype(numpy.int16).tobytes())
    print(json.dumps({"path": wanted["path"], "seconds": len(samples) / RATE_HZ}), flush=True)
