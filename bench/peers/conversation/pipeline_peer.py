"""Peer: transcription, language model and speech one after another, on the weights of the service.

500 ms of silence end a turn. Then faster-whisper (int8, greedy) transcribes the turn, llama.cpp generates until the end of the first
sentence (greedy, with a cached prompt), and kokoro-onnx synthesizes this sentence. The latency of a turn is the sum, without the time of
voice activity detection.

Usage: pipeline_peer.py WHISPER_FOLDER GGUF KOKORO VOICES_FOLDER THREADS SYSTEM_PROMPT
Lines in: {"audio": path of a WAV file, "conversation": number}. Turns of one conversation follow each other.
Lines out: {"latency_ms", "transcription_ms", "sentence_ms", "audio_ms", "heard", "said"}
"""

import asyncio
import glob
import json
import os
import re
import sys
import tempfile
import time
import urllib.request

import numpy as np
import xllamacpp
from faster_whisper import WhisperModel
from faster_whisper.audio import decode_audio
from kokoro_onnx import Kokoro

SILENCE_MS = 500
MAX_TOKENS = 60
CONTEXT_TOKENS = 4096

whisper_folder, gguf, kokoro_file, voices_folder, threads, system = sys.argv[1:7]


def packed_voices(folder):
    voices = {
        os.path.basename(path)[:-4]: np.fromfile(path, dtype=np.float32).reshape(510, 1, 256)
        for path in glob.glob(folder + "/*.bin")
    }
    with tempfile.NamedTemporaryFile(suffix=".npz", delete=False) as file:
        np.savez(file, **voices)
    return file.name


def first_sentence(messages):
    """Returns the first sentence, the whole reply, and the time until the first sentence ends in seconds."""
    body = {"messages": messages, "stream": True, "temperature": 0, "max_tokens": MAX_TOKENS, "cache_prompt": True}
    request = urllib.request.Request(
        llm.listening_address + "/v1/chat/completions",
        json.dumps(body).encode(),
        {"content-type": "application/json"},
    )
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    start = time.perf_counter()
    reply, sentence, seconds = "", "", None
    with opener.open(request, timeout=300) as stream:
        for line in stream:
            if not line.startswith(b"data: {"):
                continue
            choices = json.loads(line[6:]).get("choices") or [{}]
            reply += choices[0].get("delta", {}).get("content") or ""
            if seconds is None and len(reply.split()) > 1 and re.search(r"[.!?](\s|$)", reply):
                sentence, seconds = reply, time.perf_counter() - start
    return sentence or reply, reply, seconds or time.perf_counter() - start


async def first_audio(text):
    start = time.perf_counter()
    async for _ in kokoro.create_stream(text, voice="af_heart", speed=1.0, lang="en-us"):
        return time.perf_counter() - start
    return 0.0


params = xllamacpp.CommonParams()
params.model.path = gguf
params.n_ctx = CONTEXT_TOKENS
params.n_parallel = 1
params.n_gpu_layers = 0
params.cpuparams.n_threads = params.cpuparams_batch.n_threads = int(threads)
llm = xllamacpp.Server(params)
whisper = WhisperModel(whisper_folder, device="cpu", compute_type="int8", cpu_threads=int(threads))
kokoro = Kokoro(kokoro_file, packed_voices(voices_folder))
asyncio.run(first_audio("Warm up."))
first_sentence([{"role": "system", "content": system}, {"role": "user", "content": "Hello."}])

history, conversation = [], None
for line in sys.stdin:
    turn = json.loads(line)
    if turn["conversation"] != conversation:
        conversation = turn["conversation"]
        history = [{"role": "system", "content": system}]
    samples = decode_audio(turn["audio"])
    start = time.perf_counter()
    segments, _ = whisper.transcribe(
        samples, beam_size=1, language="en", without_timestamps=True, condition_on_previous_text=False
    )
    heard = " ".join(segment.text.strip() for segment in segments)
    transcription = time.perf_counter() - start
    history.append({"role": "user", "content": heard})
    sentence, reply, generation = first_sentence(history)
    history.append({"role": "assistant", "content": reply})
    audio = asyncio.run(first_audio(sentence.strip()))
    print(
        json.dumps(
            {
                "latency_ms": SILENCE_MS + 1000 * (transcription + generation + audio),
                "transcription_ms": 1000 * transcription,
                "sentence_ms": 1000 * generation,
                "audio_ms": 1000 * audio,
                "heard": heard,
                "said": sentence.strip(),
            }
        ),
        flush=True,
    )
