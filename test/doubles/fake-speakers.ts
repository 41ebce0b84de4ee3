/** A scripted speaker encoder and voice fitter without models. */

import type { Float32Samples } from '../../src/contract/engines/audio.ts';
import type {
  SpeakerEmbedding,
  SpeakerEncoder,
  SpeakerPrint,
  VoiceFitter,
  VoiceWork,
} from '../../src/contract/engines/voice.ts';
import { unitVector } from '../../src/kit/math/unit-vector.ts';

/** Embedding of a numbered speaker. The distance grows with the difference of the numbers, up to 10. */
export function embedding(speaker: number): SpeakerEmbedding {
  const angle = (speaker * Math.PI) / 20;
  return unitVector(Float32Array.of(Math.cos(angle), Math.sin(angle)));
}

export interface FakeSpeakersOptions {
  /** Speaker of each window; default: one speaker. */
  readonly speakers?: readonly number[];
  /** Awaited before each embedding; its errors are thrown. */
  readonly before?: (signal: AbortSignal) => Promise<void> | void;
}

export class FakeSpeakers implements SpeakerEncoder {
  readonly asked: { readonly samples: Float32Samples; readonly work: VoiceWork }[] = [];
  readonly #options: FakeSpeakersOptions;

  constructor(options: FakeSpeakersOptions = {}) {
    this.#options = options;
  }

  async encodeSpeaker(samples: Float32Samples, work: VoiceWork, signal: AbortSignal): Promise<SpeakerPrint> {
    const { speakers = [0, 0, 0, 0, 0], before } = this.#options;
    this.asked.push({ samples, work });
    await before?.(signal);
    signal.throwIfAborted();
    const partials = speakers.map(embedding);
    return { embedding: partials[0] ?? embedding(0), partials, pitchHz: 150 };
  }
}

export interface FakeFitterOptions {
  readonly isNeeded?: boolean;
  /** Version whose adaptations are current; each adaptation is `version:step`. */
  readonly version?: string;
  /** Number of better adaptations that `improveAdaptation` yields. */
  readonly steps?: number;
  /** Awaited before each better adaptation, starting with step 1; its errors are thrown. */
  readonly before?: (step: number, signal: AbortSignal) => Promise<void> | void;
}

export class FakeFitter implements VoiceFitter {
  readonly isNeeded: boolean;
  readonly begun: SpeakerPrint[] = [];
  readonly improved: { readonly from: string; readonly budgetMs: number; readonly fairnessKey: string }[] =
    [];
  /** Number of improvements that were aborted. */
  leftEarly = 0;
  readonly #options: FakeFitterOptions;

  constructor(options: FakeFitterOptions = {}) {
    this.isNeeded = options.isNeeded ?? true;
    this.#options = options;
  }

  isCurrent(adaptation: string): boolean {
    return adaptation.startsWith(`${this.#version}:`);
  }

  createInitial(speaker: SpeakerPrint): string {
    this.begun.push(speaker);
    return `${this.#version}:0`;
  }

  async *improveAdaptation(
    _samples: Float32Samples,
    from: string,
    budgetMs: number,
    fairnessKey: string,
    signal: AbortSignal,
  ): AsyncGenerator<string, void, undefined> {
    this.improved.push({ from, budgetMs, fairnessKey });
    const first = Number(from.split(':')[1]) + 1;
    const { steps = 2, before } = this.#options;
    let isLeft = true;
    try {
      for (let step = first; step < first + steps; step += 1) {
        await before?.(step, signal);
        signal.throwIfAborted();
        yield `${this.#version}:${step}`;
      }
      isLeft = false;
    } finally {
      if (isLeft) this.leftEarly += 1;
    }
  }

  get #version(): string {
    return this.#options.version ?? 'v1';
  }
}
