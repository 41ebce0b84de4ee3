"""Peer: faster-whisper, int8, greedy, with a CTranslate2 model directory. Writes one JSON line for each input line.

Usage: faster_whisper_peer.py MODEL_DIR THREADS
Lines in: {"audio": path, "runs": number of runs, "language": "en", "task": "transcribe"|"translate"}
Lines out: {"audio", "seconds": best of the runs, without reading the file, "text"}
"""

import json
import sys
import time

from faster_whisper import WhisperModel
from faster_whisper.audio import decode_audio

model = WhisperModel(sys.argv[1], device="cpu", compute_type="int8", cpu_threads=int(sys.argv[2]))
for line in sys.stdin:
    request = json.loads(line)
    samples = decode_audio(request["audio"])
    best, text = float("inf"), ""
    for _ in range(request["runs"]):
        start = time.perf_counter()
        segments, _ = model.transcribe(
            samples,
            beam_size=1,
            language=request["language"],
            task=request["task"],
            without_timestamps=True,
            condition_on_previous_text=False,
        )
        text = " ".join(segment.text.strip() for segment in segments)
        best = min(best, time.perf_counter() - start)
    print(json.dumps({"audio": request["audio"], "seconds": best, "text": text}), flush=True)
