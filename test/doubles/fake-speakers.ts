/** An encoder and a fitter of voices without a model: they say what the test lets them. */

import type { Float32Samples } from '../../src/contract/engines/audio.ts';
import type {
  SpeakerEmbedding,
  SpeakerEncoder,
  SpeakerPrint,
  VoiceFitter,
  VoiceWork,
} from '../../src/contract/engines/voice.ts';
import { unitVector } from '../../src/kit/math/unit-vector.ts';

/** A speaker, as far from others as their numbers are apart: 10 is as far as can be. */
export function embedding(speaker: number): SpeakerEmbedding {
  const angle = (speaker * Math.PI) / 20;
  return unitVector(Float32Array.of(Math.cos(angle), Math.sin(angle)));
}

export interface FakeSpeakersOptions {
  /** Who speaks in each window; default: one speaker. */
  readonly speakers?: readonly number[];
  /** Awaited before each print; what it throws, the print throws. */
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
  /** Better adaptations that `improve` finds. */
  readonly steps?: number;
  /** Awaited before each better adaptation, the first is step 1; what it throws, `improve` throws. */
  readonly before?: (step: number, signal: AbortSignal) => Promise<void> | void;
}

export class FakeFitter implements VoiceFitter {
  readonly isNeeded: boolean;
  readonly begun: SpeakerPrint[] = [];
  readonly improved: { readonly from: string; readonly budgetMs: number; readonly fairnessKey: string }[] =
    [];
  /** Improvements that were left in the middle. */
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
