"""Shared code of the clients in Python: commands on standard input, messages on standard output, and a microphone."""

import asyncio
import base64
import json
import sys
import time

RATE_HZ = 24_000
FRAME_MS = 100
FRAME_BYTES = FRAME_MS * RATE_HZ * 2 // 1000

settings = json.loads(sys.argv[1])


def report(**message):
    """Prints a message for the test."""
    print(json.dumps(message), flush=True)


class Microphone:
    """Yields a frame of 100 ms in real time: queued speech, or silence. 16-bit samples at 24 kHz."""

    def __init__(self):
        self._speech = bytearray()

    def say(self, clip):
        """Speaks a clip in base64."""
        self._speech += base64.b64decode(clip)

    async def frames(self):
        started_at = time.monotonic()
        sent = 0
        while True:
            await asyncio.sleep(max(0, started_at + sent * FRAME_MS / 1000 - time.monotonic()))
            sent += 1
            frame = bytes(self._speech[:FRAME_BYTES])
            del self._speech[:FRAME_BYTES]
            yield frame.ljust(FRAME_BYTES, b"\0")


async def run_commands(**handlers):
    """Calls the handler of each command until the end of the input."""
    # A clip is longer than the default limit of a line.
    reader = asyncio.StreamReader(limit=1 << 24)
    loop = asyncio.get_running_loop()
    await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(reader), sys.stdin)
    while line := await reader.readline():
        for name, argument in json.loads(line).items():
            handlers[name](argument)
