"""Input and output of the clients of this folder."""

import json
import sys
from dataclasses import dataclass

RATE_HZ = 24_000
# One append: 100 ms of 16-bit samples.
PIECE_BYTES = RATE_HZ // 10 * 2


@dataclass
class Task:
    """One line of JSON on standard input."""

    base_url: str  # http://host:port/v1
    key: str
    pcm: str  # path of a clip: 16-bit, 24 kHz, mono
    text: str  # to synthesize

    @property
    def clip(self) -> bytes:
        with open(self.pcm, "rb") as file:
            return file.read()


def read_task() -> Task:
    return Task(**json.loads(sys.stdin.readline()))


def pieces(pcm: bytes) -> list[bytes]:
    return [pcm[at : at + PIECE_BYTES] for at in range(0, len(pcm), PIECE_BYTES)]


def silence(seconds: float) -> bytes:
    return bytes(int(RATE_HZ * seconds) * 2)


def report(flow: str, **result: object) -> None:
    print(json.dumps({"flow": flow, **result}), flush=True)
