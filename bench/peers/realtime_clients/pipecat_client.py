"""
The unmodified OpenAI speech recognition of Pipecat over realtime, in a pipeline. Its `base_url` is the complete URL of the
WebSocket.
"""

import asyncio

from asked import RATE_HZ, pieces, read_task, report, silence
from pipecat.frames.frames import (
    EndFrame,
    Frame,
    InputAudioRawFrame,
    InterimTranscriptionFrame,
    TranscriptionFrame,
)
from pipecat.pipeline.pipeline import Pipeline
from pipecat.pipeline.worker import PipelineParams, PipelineWorker
from pipecat.processors.frame_processor import FrameDirection, FrameProcessor
from pipecat.services.openai.stt import OpenAIRealtimeSTTService
from pipecat.workers.runner import WorkerRunner


class Listener(FrameProcessor):
    """The end of the pipeline."""

    def __init__(self) -> None:
        super().__init__()
        self.interim: list[str] = []
        self.final: asyncio.Future = asyncio.get_running_loop().create_future()

    async def process_frame(self, frame: Frame, direction: FrameDirection) -> None:
        await super().process_frame(frame, direction)
        if isinstance(frame, InterimTranscriptionFrame):
            self.interim.append(frame.text)
        if isinstance(frame, TranscriptionFrame) and not self.final.done():
            self.final.set_result(frame.text)
        await self.push_frame(frame, direction)


async def main() -> None:
    task = read_task()
    recogniser = OpenAIRealtimeSTTService(
        api_key=task.key,
        base_url=f"{task.base_url.replace('http', 'ws', 1)}/realtime",
        turn_detection={"type": "server_vad", "silence_duration_ms": 400},
        settings=OpenAIRealtimeSTTService.Settings(model="svc-stt"),
    )
    listener = Listener()
    params = PipelineParams(audio_in_sample_rate=RATE_HZ)
    worker = PipelineWorker(Pipeline([recogniser, listener]), params=params)
    runner = WorkerRunner(handle_sigint=False)
    await runner.add_workers(worker)
    running = asyncio.create_task(runner.run())
    await worker.queue_frames(
        InputAudioRawFrame(piece, RATE_HZ, 1) for piece in pieces(silence(1) + task.clip + silence(1.5))
    )
    transcript = await listener.final
    report("pipecat-stt", transcript=transcript, interim=listener.interim)
    await worker.queue_frame(EndFrame())
    await running


asyncio.run(asyncio.wait_for(main(), 60))
