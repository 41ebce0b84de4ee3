/**
 * An agent session of LiveKit for Node with the realtime model of its plugin for OpenAI. Settings: packages (module that loads
 * the versions to test), unitsPerSecond (of played positions), needsRoom, baseURL, model, key, instructions, tool, output.
 */

import { ReadableStream } from 'node:stream/web';
import { report, reportReceivedFrames, reportSentFrames, runCommands, settings } from '../bridge.mjs';
import { startMicrophone } from './sound.mjs';

const { load } = await import(settings.packages);
const { initializeLogger, llm, runWithJobContextAsync, voice } = await load('@livekit/agents');
const { realtime } = await load('@livekit/agents-plugin-openai');
const { AudioFrame, Room } = await load('@livekit/rtc-node');
// Earlier versions do not export the classes of inputs and outputs.
const io = voice.AudioInput ? voice : await load('./node_modules/@livekit/agents/dist/voice/io.js');
const { WebSocket } = await load('ws');
const RATE_HZ = 24_000;

reportSentFrames(WebSocket);
reportReceivedFrames(WebSocket);

// Errors in the log are what an operator would see.
initializeLogger({ pretty: false, level: 'error' });

class MicrophoneInput extends io.AudioInput {
  constructor(stream) {
    super();
    if (this.multiStream) this.multiStream.addInputStream(stream);
    else this.deferredStream.setSource(stream);
  }
}

/** Plays audio in real time, and reports the played position. */
class Speaker extends io.AudioOutput {
  startedAt = 0;
  queuedMs = 0;

  constructor() {
    super(RATE_HZ);
  }

  async captureFrame(frame) {
    await super.captureFrame(frame);
    if (this.queuedMs === 0) {
      this.startedAt = performance.now();
      this.onPlaybackStarted?.(Date.now());
    }
    this.queuedMs += (frame.samplesPerChannel / frame.sampleRate) * 1000;
    report({ kind: 'audio', bytes: frame.data.byteLength });
  }

  flush() {
    super.flush();
    if (this.queuedMs === 0) return;
    const leftMs = this.startedAt + this.queuedMs - performance.now();
    this.timer = setTimeout(() => this.finish(false), leftMs);
  }

  clearBuffer() {
    if (this.queuedMs > 0) this.finish(true);
  }

  finish(interrupted) {
    clearTimeout(this.timer);
    const playedMs = Math.min(performance.now() - this.startedAt, this.queuedMs);
    this.queuedMs = 0;
    this.onPlaybackFinished({ playbackPosition: (playedMs / 1000) * settings.unitsPerSecond, interrupted });
  }
}

const model = new realtime.RealtimeModel({
  model: settings.model,
  baseURL: settings.baseURL,
  apiKey: settings.key,
});
const session = new voice.AgentSession({ llm: model });
let microphone;
session.input.audio = new MicrophoneInput(
  new ReadableStream({
    start(controller) {
      microphone = startMicrophone((bytes) => {
        const samples = new Int16Array(bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.length));
        controller.enqueue(new AudioFrame(samples, RATE_HZ, 1, samples.length));
      });
    },
  }),
);
session.output.audio = new Speaker();
session.on('conversation_item_added', ({ item }) => {
  if (item.type !== 'message' || item.role !== 'assistant') return;
  if (item.interrupted) report({ kind: 'interrupted' });
  report({ kind: 'assistant', text: item.textContent ?? '' });
});
session.on('user_input_transcribed', ({ transcript, isFinal }) => {
  if (isFinal) report({ kind: 'user', text: transcript });
});
session.on('agent_state_changed', ({ oldState, newState }) => {
  if (oldState === 'speaking' && newState === 'listening') report({ kind: 'listening' });
});
session.on('error', ({ error }) => report({ kind: 'error', message: String(error?.message ?? error) }));

const { name, description, parameters } = settings.tool;
const find = llm.tool({
  ...{ description, parameters },
  execute: async (input) => {
    report({ kind: 'call', name, arguments: input });
    return JSON.parse(settings.output);
  },
});
const start = (room) =>
  session.start({
    agent: new voice.Agent({ instructions: settings.instructions, tools: { [name]: find } }),
    room,
    inputOptions: { audioEnabled: false },
    outputOptions: { audioEnabled: false, transcriptionEnabled: false },
  });
if (settings.needsRoom) {
  // Earlier versions need a job with a room, although the session has its own input and output.
  await runWithJobContextAsync({}, () => start(new Room()));
} else await start();
report({ kind: 'open' });
await runCommands({ say: microphone.say });
