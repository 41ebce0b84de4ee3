/** The turns of one speaker, detected in real time by the models of the service without a connection. */

import { loadConfig } from '../../server/config.ts';
import { encodeAudio, float32ToInt16 } from '../../src/audio/codec.ts';
import { newId } from '../../src/contract/core/id.ts';
import { type Float32Samples, LISTEN_RATE_HZ } from '../../src/contract/engines/audio.ts';
import type { SttEngine, VadEngine } from '../../src/contract/engines/engine.ts';
import type { TurnEndDetector } from '../../src/contract/engines/turn-end.ts';
import { UserTurns } from '../../src/conversation/input/user-turns.ts';
import { Playback } from '../../src/conversation/playback.ts';
import type { ConversationSettings } from '../../src/conversation/settings.ts';
import { systemClock } from '../../src/kit/clock.ts';
import { noopTracer } from '../../src/kit/logging/spans.ts';
import { noMetrics, silentLog } from '../../tools/harness/doubles/doubles.ts';
import { RecordedCalls } from '../../tools/harness/doubles/recorded-calls.ts';
import { openEngines } from '../../tools/harness/models/open-engines.ts';

const MODEL = 'svc-stt';
const FRAME_MS = 20;
const FRAME_SAMPLES = (LISTEN_RATE_HZ * FRAME_MS) / 1000;
const FORMAT = { encoding: 'pcm16', rateHz: LISTEN_RATE_HZ } as const;

export interface ListeningModels {
  readonly stt: SttEngine;
  readonly vad: VadEngine;
  readonly turnEnd: TurnEndDetector;
  close(): Promise<void>;
}

/** Opens Whisper base, voice activity detection and end-of-turn detection. */
export async function openListeningModels(): Promise<ListeningModels> {
  const { modelsDir, inference } = loadConfig(process.env);
  const { slots, close } = await openEngines({
    needs: new Set(['stt', 'vad', 'turnEnd']),
    models: { transcription: new Map([[MODEL, { kind: 'whisper', weights: 'base' }]]) },
    inference,
    modelsDir,
    clock: systemClock,
    log: silentLog,
    metrics: noMetrics,
  });
  const stt = slots.stt?.get(MODEL);
  if (stt === undefined || slots.vad === undefined || slots.turnEnd === undefined)
    throw new Error('a model is missing');
  return { stt, vad: slots.vad, turnEnd: slots.turnEnd, close };
}

export interface AssistantSpeech {
  /** Mono, 16 kHz; it plays from the start of the clip on. */
  readonly samples: Float32Samples;
  readonly text: string;
}

export interface DetectedEvents {
  /** Kind of each event, and the time in ms from the start of the clip. */
  readonly events: readonly { readonly kind: string; readonly atMs: number }[];
}

/** Sends a clip in real time, and reports its events. @param assistant speech that is played during the clip. */
export async function detectTurns(
  { stt, vad, turnEnd }: ListeningModels,
  clip: Float32Samples,
  detection: 'semantic_vad' | 'server_vad',
  assistant?: AssistantSpeech,
): Promise<DetectedEvents> {
  const playback = new Playback(systemClock);
  const settings = {
    inputFormat: FORMAT,
    transcription: { language: 'en', prompt: undefined },
    turnDetection: {
      type: detection,
      eagerness: 'auto',
      createResponse: true,
      interruptResponse: true,
      vad: {
        threshold: 0.5,
        prefixPaddingMs: 300,
        minSpeechDurationMs: 100,
        silenceDurationMs: detection === 'semantic_vad' ? 4000 : 500,
      },
    },
  } as unknown as ConversationSettings;
  const events: { kind: string; atMs: number }[] = [];
  const startMs = performance.now();
  const turns: UserTurns = new UserTurns(
    {
      vad,
      turnEnd,
      playback,
      model: MODEL,
      clock: systemClock,
      log: silentLog,
      tracer: noopTracer,
      calls: new RecordedCalls(),
      stt: { ids: [MODEL], get: () => stt },
      caller: { organization: 'bench', keyId: 'bench', requestId: newId('req_') } as never,
      guardsInterruptions: true,
      interruptibleMs: () => playback.aheadMs,
      report(event) {
        events.push({ kind: event.kind, atMs: performance.now() - startMs });
        if (event.kind === 'turn_committed') turns.transcribe(event.itemId);
      },
      onPreview: () => undefined,
      onPreviewRevoked: () => undefined,
      onTurnEnd: () => undefined,
    },
    settings,
  );
  if (assistant !== undefined) {
    const lengthMs = (assistant.samples.length * 1000) / LISTEN_RATE_HZ;
    playback.addAudio('item_assistant', pcm16(assistant.samples), FORMAT);
    playback.addWords('item_assistant', [{ text: assistant.text, startMs: 0, endMs: lengthMs }]);
  }
  for (let at = 0; at < clip.length; at += FRAME_SAMPLES) {
    const dueMs = startMs + ((at + FRAME_SAMPLES) * 1000) / LISTEN_RATE_HZ;
    await Bun.sleep(Math.max(0, dueMs - performance.now()));
    turns.append(pcm16(clip.subarray(at, at + FRAME_SAMPLES)));
  }
  await turns.close();
  return { events };
}

function pcm16(samples: Float32Samples): Uint8Array {
  return encodeAudio(float32ToInt16(samples), 'pcm16');
}
