"""Peer: kokoro-onnx with the phonemes of misaki, and the same weights and voices. Writes a WAV file per text and one JSON line for it.

Usage: misaki_kokoro_peer.py MODEL.onnx FOLDER < jobs.json   (a list of {"language", "voice": path of a .bin, "texts"})
"""

import json
import os
import sys
import tempfile
import wave

import numpy
from kokoro_onnx import Kokoro
from misaki_phonemes import g2p_of

RATE_HZ = 24_000
model, folder = sys.argv[1], sys.argv[2]
jobs = json.load(sys.stdin)

scratch = tempfile.TemporaryDirectory()
voices = os.path.join(scratch.name, "voices.npz")
styles = {job["language"]: numpy.fromfile(job["voice"], dtype=numpy.float32).reshape(510, 1, 256) for job in jobs}
numpy.savez(voices, **styles)
kokoro = Kokoro(model, voices)

for job in jobs:
    language = job["language"]
    g2p = g2p_of(language)
    for index, text in enumerate(job["texts"]):
        phonemes, _ = g2p(text)
        samples, _ = kokoro.create(phonemes, voice=language, is_phonemes=True)
        path = os.path.join(folder, f"{language}-{index}.wav")
        with wave.open(path, "wb") as file:
            file.setnchannels(1)
            file.setsampwidth(2)
            file.setframerate(RATE_HZ)
            file.writeframes((numpy.clip(samples, -1, 1) * 32767).astype("<i2").tobytes())
        print(json.dumps({"language": language, "text": text, "path": path}), flush=True)
