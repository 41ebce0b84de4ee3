"""An agent session of LiveKit with the realtime model of its plugin for OpenAI. Settings: baseURL, model, key, instructions, tool, output."""

import asyncio
import logging
import os
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(__file__), ".."))

from bridge import RATE_HZ, Microphone, report, run_commands, settings
from livekit import rtc
from livekit.agents import Agent, AgentSession, function_tool
from livekit.agents.voice import io
from livekit.plugins import openai


class MicrophoneInput(io.AudioInput):
    def __init__(self, microphone):
        super().__init__(label="microphone")
        self._frames = microphone.frames()

    async def __anext__(self):
        samples = await anext(self._frames)
        return rtc.AudioFrame(samples, RATE_HZ, 1, len(samples) // 2)


class Speaker(io.AudioOutput):
    """Plays audio in real time, and reports the played position."""

    def __init__(self):
        super().__init__(
            label="speaker",
            capabilities=io.AudioOutputCapabilities(pause=False),
            sample_rate=RATE_HZ,
        )
        self._started_at = 0.0
        self._queued_s = 0.0
        self._end = None

    async def capture_frame(self, frame):
        await super().capture_frame(frame)
        if self._queued_s == 0:
            self._started_at = time.monotonic()
            self.on_playback_started(created_at=time.time())
        self._queued_s += frame.duration
        report(kind="audio", bytes=len(bytes(frame.data)))

    def flush(self):
        super().flush()
        if self._queued_s > 0:
            left_s = self._started_at + self._queued_s - time.monotonic()
            self._end = asyncio.get_running_loop().call_later(max(0, left_s), self._finish, False)

    def clear_buffer(self):
        if self._queued_s > 0:
            self._finish(True)

    def _finish(self, interrupted):
        if self._end is not None:
            self._end.cancel()
            self._end = None
        position = min(time.monotonic() - self._started_at, self._queued_s)
        self._queued_s = 0.0
        self.on_playback_finished(playback_position=position, interrupted=interrupted)


async def find_table(raw_arguments: dict) -> str:
    report(kind="call", name=settings["tool"]["name"], arguments=raw_arguments)
    return settings["output"]


class ErrorReporter(logging.Handler):
    """Reports the errors in the log of the library, which an operator would see."""

    def emit(self, record):
        report(kind="error", message=self.format(record))


async def main():
    logging.getLogger("livekit").addHandler(ErrorReporter(logging.ERROR))
    model = openai.realtime.RealtimeModel(
        model=settings["model"], base_url=settings["baseURL"], api_key=settings["key"]
    )
    session = AgentSession(llm=model)
    microphone = Microphone()
    session.input.audio = MicrophoneInput(microphone)
    session.output.audio = Speaker()

    def item_added(event):
        item = event.item
        if item.type != "message":
            return
        if item.interrupted:
            report(kind="interrupted")
        if item.role == "assistant":
            report(kind="assistant", text=item.text_content or "")

    def transcribed(event):
        if event.is_final:
            report(kind="user", text=event.transcript)

    def state_changed(event):
        if event.old_state == "speaking" and event.new_state == "listening":
            report(kind="listening")

    session.on("conversation_item_added", item_added)
    session.on("user_input_transcribed", transcribed)
    session.on("agent_state_changed", state_changed)
    session.on("error", lambda event: report(kind="error", message=str(event.error)))
    session.on("close", lambda event: event.error and report(kind="error", message=str(event.error)))

    tool = function_tool(find_table, raw_schema=settings["tool"])
    await session.start(Agent(instructions=settings["instructions"], tools=[tool]))
    report(kind="open")
    await run_commands(say=microphone.say)
    await session.aclose()


asyncio.run(main())
