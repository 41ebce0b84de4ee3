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
  /** Version whose adaptations are current; each adaptation is `version:number`. */
  readonly version?: string;
}

export class FakeFitter implements VoiceFitter {
  readonly isNeeded: boolean;
  /** The speakers for whom an adaptation was created. */
  readonly fitted: SpeakerPrint[] = [];
  readonly #version: string;

  constructor({ isNeeded = true, version = 'v1' }: FakeFitterOptions = {}) {
    this.isNeeded = isNeeded;
    this.#version = version;
  }

  isCurrent(adaptation: string): boolean {
    return adaptation.startsWith(`${this.#version}:`);
  }

  createAdaptation(speaker: SpeakerPrint): string {
    this.fitted.push(speaker);
    return `${this.#version}:0`;
  }
}
