"""Synthesizes speech with eSpeak NG for the corpus. The same line always gives the same samples.

Reads JSON lines {"path", "text", "voice", "wordsPerMinute"} and writes a mono 16-bit WAV at each path.
The voice is a voice name of eSpeak with a variant, for example `en-us+f2`.
"""

import ctypes
import json
import sys
import wave

import espeakng_loader

SYNCHRONOUS, RATE, CHARACTERS_UTF8, POSITION_CHARACTER = 2, 1, 1, 1

espeak = ctypes.CDLL(espeakng_loader.get_library_path())
rate_hz = espeak.espeak_Initialize(SYNCHRONOUS, 0, espeakng_loader.get_data_path().encode(), 0)
if rate_hz <= 0:
    sys.exit("eSpeak NG does not start")
spoken = bytearray()


@ctypes.CFUNCTYPE(ctypes.c_int, ctypes.POINTER(ctypes.c_short), ctypes.c_int, ctypes.c_void_p)
def take(samples, count, _events):
    if samples and count > 0:
        spoken.extend(ctypes.string_at(samples, count * 2))
    return 0


espeak.espeak_SetSynthCallback(take)
for line in sys.stdin:
    request = json.loads(line)
    if espeak.espeak_SetVoiceByName(request["voice"].encode()) != 0:
        sys.exit(f"eSpeak NG has no voice {request['voice']}")
    espeak.espeak_SetParameter(RATE, request["wordsPerMinute"], 0)
    # Some voices contain noise. Its default seed is the process id.
    espeak.espeak_ng_SetRandSeed(ctypes.c_long(1))
    spoken.clear()
    text = request["text"].encode()
    espeak.espeak_Synth(text, len(text) + 1, 0, POSITION_CHARACTER, 0, CHARACTERS_UTF8, None, None)
    with wave.open(request["path"], "wb") as file:
        file.setnchannels(1)
        file.setsampwidth(2)
        file.setframerate(rate_hz)
        file.writeframes(bytes(spoken))
    print(json.dumps({"path": request["path"], "rateHz": rate_hz, "bytes": len(spoken)}), flush=True)
