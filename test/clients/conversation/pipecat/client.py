"""A pipeline of Pipecat with its realtime service for OpenAI. Settings: socketURL, model, key, instructions, tool, output."""

import asyncio
import json
import os
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(__file__), ".."))

from bridge import RATE_HZ, Microphone, report, run_commands, settings
from loguru import logger
from pipecat.adapters.llm.schemas.function_schema import FunctionSchema
from pipecat.adapters.llm.schemas.tools_schema import ToolsSchema
from pipecat.frames.frames import BotStoppedSpeakingFrame, EndFrame, InputAudioRawFrame, LLMRunFrame
from pipecat.observers.base_observer import BaseObserver
from pipecat.pipeline.pipeline import Pipeline
from pipecat.pipeline.worker import PipelineParams, PipelineWorker
from pipecat.processors.aggregators.llm_context import LLMContext
from pipecat.processors.aggregators.llm_response_universal import LLMContextAggregatorPair
from pipecat.services.openai.realtime.llm import OpenAIRealtimeLLMService
from pipecat.transports.base_input import BaseInputTransport
from pipecat.transports.base_output import BaseOutputTransport
from pipecat.transports.base_transport import TransportParams
from pipecat.workers.runner import WorkerRunner

PARAMS = TransportParams(
    audio_in_enabled=True,
    audio_in_sample_rate=RATE_HZ,
    audio_out_enabled=True,
    audio_out_sample_rate=RATE_HZ,
)


class MicrophoneInput(BaseInputTransport):
    def __init__(self, microphone):
        super().__init__(PARAMS)
        self._microphone = microphone
        self._task = None

    async def start(self, frame):
        await super().start(frame)
        self._task = self.create_task(self._push_frames())
        await self.set_transport_ready(frame)

    async def cleanup(self):
        if self._task:
            await self.cancel_task(self._task)
        await super().cleanup()

    async def _push_frames(self):
        async for samples in self._microphone.frames():
            await self.push_audio_frame(InputAudioRawFrame(samples, RATE_HZ, 1))


class Speaker(BaseOutputTransport):
    """Plays audio in real time."""

    def __init__(self):
        super().__init__(PARAMS)
        self._end = 0.0

    async def start(self, frame):
        await super().start(frame)
        await self.set_transport_ready(frame)

    async def write_audio_frame(self, frame):
        report(kind="audio", bytes=len(frame.audio))
        now = time.monotonic()
        self._end = max(now, self._end) + len(frame.audio) / 2 / RATE_HZ
        await asyncio.sleep(self._end - now)
        return True


class Playback(BaseObserver):
    async def on_push_frame(self, data):
        if isinstance(data.frame, BotStoppedSpeakingFrame) and isinstance(data.source, Speaker):
            if data.direction.name == "DOWNSTREAM":
                report(kind="listening")


async def find_table(params):
    report(kind="call", name=params.function_name, arguments=dict(params.arguments))
    await params.result_callback(json.loads(settings["output"]))


async def main():
    logger.remove()
    # What an operator would see.
    logger.add(lambda line: report(kind="error", message=str(line)), level="ERROR")

    llm = OpenAIRealtimeLLMService(
        api_key=settings["key"],
        base_url=settings["socketURL"],
        settings=OpenAIRealtimeLLMService.Settings(
            model=settings["model"], system_instruction=settings["instructions"]
        ),
    )
    tool = settings["tool"]
    llm.register_function(tool["name"], find_table)
    schema = FunctionSchema(
        name=tool["name"],
        description=tool["description"],
        properties=tool["parameters"]["properties"],
        required=tool["parameters"]["required"],
    )
    # Pipelines start with a greeting.
    messages = [{"role": "user", "content": settings["greeting"]}]
    context = LLMContext(messages, tools=ToolsSchema(standard_tools=[schema]))
    user, assistant = LLMContextAggregatorPair(context)
    microphone = Microphone()
    pipeline = Pipeline([MicrophoneInput(microphone), user, llm, Speaker(), assistant])
    worker = PipelineWorker(
        pipeline,
        params=PipelineParams(audio_in_sample_rate=RATE_HZ, audio_out_sample_rate=RATE_HZ),
        observers=[Playback()],
    )

    @user.event_handler("on_user_turn_message_added")
    async def user_said(_, message):
        report(kind="user", text=message.content)

    @assistant.event_handler("on_assistant_turn_stopped")
    async def assistant_said(_, message):
        if message.interrupted:
            report(kind="interrupted")
        report(kind="assistant", text=message.content)

    @worker.event_handler("on_pipeline_error")
    async def failed(_, frame):
        report(kind="error", message=frame.error)

    @worker.event_handler("on_pipeline_started")
    async def started(*_):
        report(kind="open")

    async def commands():
        await run_commands(say=microphone.say)
        await worker.queue_frame(EndFrame())

    runner = WorkerRunner(handle_sigint=False)
    await runner.add_workers(worker)
    await worker.queue_frame(LLMRunFrame())
    await asyncio.gather(runner.run(), commands())


asyncio.run(main())
