"""Peer: snfa, a forced aligner for Japanese (an acoustic model trained on Common Voice). Writes one JSON line per text: the start and the
end of each phoneme in ms.

Usage: align_japanese.py < texts.json   (a list of {"path": WAV at 16 kHz, "phonemes": names of Julius, such as "sh"})
"""

import json
import sys
import wave

import numpy
import snfa

aligner = snfa.Aligner()
for job in json.load(sys.stdin):
    with wave.open(job["path"], "rb") as file:
        rate = file.getframerate()
        samples = numpy.frombuffer(file.readframes(file.getnframes()), dtype="<i2").astype(numpy.float32) / 32768
    if rate != aligner.sr:
        length = round(len(samples) * aligner.sr / rate)
        samples = numpy.interp(numpy.linspace(0, len(samples) - 1, length), numpy.arange(len(samples)), samples)
    unknown = [each for each in job["phonemes"] if each not in aligner.phone_dict]
    if unknown:
        raise ValueError(f"unknown phonemes {unknown}; known: {aligner.phone_set}")
    segments = aligner(samples.astype(numpy.float32), job["phonemes"])
    times = [[each.phoneme, int(each.start), int(each.end)] for each in segments]
    print(json.dumps({"path": job["path"], "times": times}), flush=True)
