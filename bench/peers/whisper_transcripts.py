"""Transcribes WAV files with faster-whisper. Reads paths from standard input, one per line.

Usage: whisper_transcripts.py MODEL_DIR < paths   → one JSON line {"path", "text"} each
"""

import json
import sys

from faster_whisper import WhisperModel

model = WhisperModel(sys.argv[1], device="cpu", compute_type="int8", cpu_threads=2)
for path in sys.stdin.read().split("\n"):
    if not path:
        continue
    segments, _ = model.transcribe(
        path, beam_size=5, language="en", without_timestamps=True, condition_on_previous_text=False
    )
    print(json.dumps({"path": path, "text": " ".join(s.text.strip() for s in segments)}), flush=True)
