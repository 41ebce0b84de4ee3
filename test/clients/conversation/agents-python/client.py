"""A realtime session of OpenAI's Agents SDK for Python. Settings: socketURL, model, key, instructions, tool, output."""

import asyncio
import json
import os
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(__file__), ".."))

from agents import FunctionTool
from agents.realtime import RealtimeAgent, RealtimeRunner
from bridge import RATE_HZ, Microphone, report, run_commands, settings


class Speaker:
    """Plays audio in real time."""

    def __init__(self):
        self._timer = None
        self._end = 0.0

    def play(self, pcm):
        report(kind="audio", bytes=len(pcm))
        now = time.monotonic()
        self._end = max(now, self._end) + len(pcm) / 2 / RATE_HZ
        if self._timer:
            self._timer.cancel()
        self._timer = asyncio.get_running_loop().call_later(self._end - now, self._silent)

    def stop(self):
        if self._timer:
            self._timer.cancel()
            self._timer = None
            self._end = 0.0
            report(kind="interrupted")

    def _silent(self):
        self._timer = None
        report(kind="listening")


async def find_table(_, arguments):
    report(kind="call", name=settings["tool"]["name"], arguments=json.loads(arguments))
    return settings["output"]


def text_of(item):
    return "".join(getattr(part, "text", None) or getattr(part, "transcript", None) or "" for part in item.content)


async def report_events(session):
    speaker = Speaker()
    reported = set()
    async for event in session:
        if event.type == "audio":
            speaker.play(event.audio.data)
        elif event.type == "audio_interrupted":
            speaker.stop()
        elif event.type == "error":
            report(kind="error", message=str(event.error))
        elif event.type == "raw_model_event" and event.data.type in ("error", "exception"):
            report(kind="error", message=str(event.data))
        elif event.type in ("history_added", "history_updated"):
            for item in [event.item] if event.type == "history_added" else event.history:
                text = text_of(item) if item.type == "message" else ""
                if text and item.status != "in_progress" and (item.item_id, text) not in reported:
                    reported.add((item.item_id, text))
                    report(kind=item.role, text=text)


async def main():
    tool = settings["tool"]
    function = FunctionTool(
        name=tool["name"],
        description=tool["description"],
        params_json_schema=tool["parameters"],
        on_invoke_tool=find_table,
    )
    agent = RealtimeAgent(name="guide", instructions=settings["instructions"], tools=[function])
    runner = RealtimeRunner(agent, config={"model_settings": {"model_name": settings["model"]}, "tracing_disabled": True})
    url = f"{settings['socketURL']}?model={settings['model']}"
    async with await runner.run(model_config={"api_key": settings["key"], "url": url}) as session:
        microphone = Microphone()

        async def send():
            async for samples in microphone.frames():
                await session.send_audio(samples)

        tasks = [asyncio.create_task(send()), asyncio.create_task(report_events(session))]
        report(kind="open")
        await run_commands(say=microphone.say)
        for task in tasks:
            task.cancel()


asyncio.run(main())
