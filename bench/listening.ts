/** The transcription engine with its inference pool, without HTTP. */

import { loadConfig } from '../server/config.ts';
import type { Float32Samples } from '../src/contract/engines/audio.ts';
import type { AudioChunk, SttEngine, TranscriptionRequest } from '../src/contract/engines/engine.ts';
import { once } from '../src/kit/async/once.ts';
import { systemClock } from '../src/kit/clock.ts';
import { noMetrics, silentLog } from '../tools/harness/doubles/doubles.ts';
import { openEngines } from '../tools/harness/models/open-engines.ts';

const MODEL = 'svc-stt';

export interface TurnSegmenter {
  readonly engine: SttEngine;
  close(): Promise<void>;
}

/** Starts the engine and its inference process with the settings of the environment. */
export async function openListener(weights: string): Promise<TurnSegmenter> {
  const { modelsDir, inference } = loadConfig(process.env);
  const { slots, close } = await openEngines({
    needs: new Set(['stt']),
    models: { transcription: new Map([[MODEL, { kind: 'whisper', weights }]]) },
    inference,
    modelsDir,
    clock: systemClock,
    log: silentLog,
    metrics: noMetrics,
  });
  const engine = slots.stt?.get(MODEL);
  if (engine === undefined) throw new Error('the transcription engine is missing');
  return { engine, close };
}

export interface Transcribed {
  readonly text: string;
  /** From the request, with all audio in memory, to the final text. */
  readonly seconds: number;
}

/** Transcribes audio that is in memory. */
export async function transcribe(
  { engine }: TurnSegmenter,
  samples: Float32Samples,
  language = 'en',
): Promise<Transcribed> {
  const start = performance.now();
  const text = await finalText(engine, once(samples), language);
  return { text, seconds: (performance.now() - start) / 1000 };
}

/** Transcribes audio that may still arrive. @returns the final text. */
export async function finalText(
  engine: SttEngine,
  audio: AsyncIterable<AudioChunk>,
  language: string,
  prompt?: string,
): Promise<string> {
  const request: TranscriptionRequest = {
    task: 'transcribe',
    language,
    prompt,
    timestamps: 'none',
    priority: 'interactive',
    fairnessKey: 'bench',
  };
  for await (const event of engine.transcribe(audio, request, new AbortController().signal)) {
    if (event.kind === 'final') return event.transcript.text;
  }
  throw new Error('the engine ended without a final text');
}
