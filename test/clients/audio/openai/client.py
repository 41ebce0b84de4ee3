"""
Speech and transcription with the unmodified `openai` package. Reads its settings as one line of JSON and prints one JSON line per
result.
"""

import json
import sys

from openai import OpenAI

settings = json.loads(sys.stdin.readline())
client = OpenAI(api_key=settings["key"], base_url=settings["baseURL"], max_retries=0)
SPEECH = {"model": settings["speech"], "voice": settings["voice"], "input": settings["text"]}


def report(check, **result):
    print(json.dumps({"check": check, **result}), flush=True)


recording = client.audio.speech.create(**SPEECH).read()
report("speech", bytes=len(recording))

with client.audio.speech.with_streaming_response.create(**SPEECH, response_format="pcm") as response:
    streamed = sum(len(chunk) for chunk in response.iter_bytes())
report("streamed speech", type=response.headers["content-type"], seconds=streamed / 2 / 24_000)


def transcribe(**fields):
    file = ("speech.mp3", recording)
    return client.audio.transcriptions.create(model=settings["transcription"], file=file, **fields)


report("json", text=transcribe().text)
verbose = transcribe(response_format="verbose_json", timestamp_granularities=["word", "segment"])
report(
    "verbose_json",
    text=verbose.text,
    language=verbose.language,
    words=[word.word for word in verbose.words],
    segments=len(verbose.segments),
)
if settings["viaProxy"]:
    sys.exit()
report("text", text=transcribe(response_format="text"))
report("srt", text=transcribe(response_format="srt"))
report("vtt", text=transcribe(response_format="vtt"))
events = list(transcribe(stream=True))
report(
    "stream",
    text="".join(event.delta for event in events if event.type == "transcript.text.delta"),
    last=events[-1].type,
)
translated = client.audio.translations.create(
    model=settings["transcription"], file=("speech.mp3", recording)
)
report("translation", text=translated.text)
