/** Usage meters of synthesis (spec 4.3, rule 3) and transcription calls (spec 4.7, rule 9). */

import type { CallUsage, UsageAmounts } from '../contract/accounts/calls.ts';
import type { EndpointLabel, UsageStatus } from '../contract/accounts/usage.ts';
import { LISTEN_RATE_HZ, SPEECH_RATE_HZ } from '../contract/engines/audio.ts';
import type { Transcript, TranscriptionEvent, TranscriptionTask } from '../contract/engines/engine.ts';
import { audioTokens, characterTokens, textTokens } from '../kit/text/token-estimate.ts';
import type { Meter } from './billed.ts';

/**
 * Audio tokens per second of speech. Codecs of speech models use 12.5 to 50; billing is the same for every
 * engine.
 */
const TOKENS_PER_SECOND = 25;
/**
 * Upper bound of the audio length of a text, for the reservation. A story takes 70 ms per character, a list
 * of numbers 500 ms; the constant covers leading and trailing silence and very short texts.
 */
const MAX_SECONDS_PER_CHARACTER = 1;
const EXTRA_SECONDS = 5;
/** Upper bound of the text tokens of a transcription, including text that a model invents for silence. */
const MAX_TEXT_TOKENS_PER_SECOND = 10;
const EXTRA_TEXT_TOKENS = 250;

/** Tokens of a text and of its audio. */
export interface SpeechTokens {
  readonly input: number;
  readonly output: number;
}

/** Parameters of a synthesis call. */
export interface SynthesisUsage {
  /** Unicode code points. */
  readonly characters: number;
  /** Maximum that {@link SpeechUsageMeter.addCharacters} may reach. Default: {@link characters}. */
  readonly maxCharacters?: number;
  /** 1 is natural. */
  readonly speed: number;
}

/** Measures the audio generated for a text. The items are the encoded audio. */
export class SpeechUsageMeter implements Meter<Uint8Array<ArrayBuffer>> {
  readonly #text: SynthesisUsage;
  #characters: number;
  #spokenCharacters = 0;
  #samples = 0;
  #rateHz = SPEECH_RATE_HZ;
  #bytes = 0;

  constructor(text: SynthesisUsage) {
    this.#text = text;
    this.#characters = text.characters;
  }

  /** Upper bound of the usage. */
  get maxUsage(): UsageAmounts {
    const { speed, characters: known, maxCharacters: characters = known } = this.#text;
    const audioSeconds = EXTRA_SECONDS + (characters * MAX_SECONDS_PER_CHARACTER) / Math.min(1, speed);
    const inputTokens = characterTokens(characters);
    const outputTokens = Math.ceil(audioSeconds * TOKENS_PER_SECOND);
    return { inputTokens, outputTokens, characters, audioSeconds };
  }

  /** Adds text that was not known when the call was opened. */
  addCharacters(characters: number): void {
    this.#characters += characters;
  }

  /** Adds text whose audio has started. */
  addSpokenCharacters(characters: number): void {
    this.#spokenCharacters += characters;
  }

  /**
   * @param samples number of generated samples.
   * @param rateHz their sample rate, the same for the whole call.
   */
  addSamples(samples: number, rateHz: number): void {
    this.#samples += samples;
    this.#rateHz = rateHz;
  }

  add(chunk: Uint8Array<ArrayBuffer>): void {
    this.#bytes += chunk.length;
  }

  /** Whether any audio was generated. */
  get hasOutput(): boolean {
    return this.#samples > 0;
  }

  /** Tokens of the text and of the audio generated so far; none before the first audio. */
  get tokens(): SpeechTokens {
    return {
      input: this.hasOutput ? characterTokens(this.#characters) : 0,
      // The division comes last, so that exact lengths stay exact.
      output: Math.ceil((this.#billedSamples * TOKENS_PER_SECOND) / SPEECH_RATE_HZ),
    };
  }

  /** A text without speakable text leaves no usage row. */
  usage(status: UsageStatus): CallUsage | undefined {
    if (status === 'completed' && !this.hasOutput) return undefined;
    // The rest of an interrupted text was not synthesized.
    const characters = status === 'completed' ? this.#characters : this.#spokenCharacters;
    return {
      inputTokens: characterTokens(characters),
      outputTokens: this.tokens.output,
      characters,
      audioBytes: this.#bytes,
      audioSeconds: this.#billedSamples / SPEECH_RATE_HZ,
    };
  }

  /** Generated samples as a whole number of samples at 24 kHz, so that engines of any rate are billed alike. */
  get #billedSamples(): number {
    return Math.round((this.#samples * SPEECH_RATE_HZ) / this.#rateHz);
  }
}

/** Audio that counts what was read of it. */
export interface MeasuredAudio {
  /** Number of samples at 16 kHz that were read. */
  readonly readSamples: number;
}

/** Parameters of a transcription call. */
export interface TranscriptionUsage {
  readonly audio: MeasuredAudio;
  readonly prompt?: string | undefined;
  /** Whether a transcript without text leaves a usage row. Default: true. */
  readonly recordsSilence?: boolean;
}

/** Endpoint labels of the tasks. */
export const TRANSCRIPTION_ENDPOINTS: Readonly<Record<TranscriptionTask, EndpointLabel>> = {
  transcribe: '/v1/audio/transcriptions',
  translate: '/v1/audio/translations',
};

/** Measures the audio that was read, and the transcript. */
export class TranscriptionUsageMeter implements Meter<TranscriptionEvent> {
  readonly #request: TranscriptionUsage;
  #text = '';
  #final: Transcript | undefined;

  constructor(request: TranscriptionUsage) {
    this.#request = request;
  }

  /**
   * Returns the upper bound of the usage.
   * @param audioSeconds maximum length of the audio.
   */
  maxUsage(audioSeconds: number): UsageAmounts {
    const { prompt = '' } = this.#request;
    const inputTokens = audioTokens(audioSeconds) + textTokens(prompt);
    const outputTokens = Math.ceil(audioSeconds * MAX_TEXT_TOKENS_PER_SECOND) + EXTRA_TEXT_TOKENS;
    return { inputTokens, outputTokens, audioSeconds };
  }

  /** Whether any text was transcribed. */
  get hasOutput(): boolean {
    return this.#text !== '';
  }

  add(event: TranscriptionEvent): void {
    if (event.kind === 'delta') this.#text += event.text;
    else this.#final = event.transcript;
  }

  isLast(event: TranscriptionEvent): boolean {
    return event.kind === 'final';
  }

  usage(status: UsageStatus): CallUsage | undefined {
    // Audio may be read before it is transcribed, and while the request waits.
    if (this.#final === undefined && !this.hasOutput) {
      return { inputTokens: 0, outputTokens: 0, audioSeconds: 0 };
    }
    const { prompt = '', recordsSilence = true } = this.#request;
    const audioSeconds = this.#request.audio.readSamples / LISTEN_RATE_HZ;
    // Engines report token counts only for finished transcriptions.
    const { audio, text } = this.#final?.inputTokens ?? {
      audio: audioTokens(audioSeconds),
      text: textTokens(prompt),
    };
    const transcript = this.#final?.text ?? this.#text;
    if (status === 'completed' && transcript === '' && !recordsSilence) return undefined;
    return {
      inputTokens: audio + text,
      outputTokens: this.#final?.outputTokens ?? textTokens(this.#text),
      audioSeconds,
      ...(transcript === '' ? {} : { transcript }),
    };
  }
}
