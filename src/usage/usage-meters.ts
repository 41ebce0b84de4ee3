/** Usage meters of synthesis (spec 4.3, rule 3) and transcription calls (spec 4.7, rule 9). */

import type { Caller } from '../contract/accounts/caller.ts';
import type { Calls, CallUsage, NewCall, OpenCall } from '../contract/accounts/calls.ts';
import type { EndpointLabel, UsageStatus } from '../contract/accounts/usage.ts';
import { LISTEN_RATE_HZ, SPEECH_RATE_HZ } from '../contract/engines/audio.ts';
import type { Transcript, TranscriptionEvent, TranscriptionTask } from '../contract/engines/engine.ts';
import { audioTokens, characterTokens, textTokens } from '../kit/text/token-estimate.ts';

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

type Opening = Pick<NewCall, 'endpoint' | 'model' | 'maxUsage'>;

/** Measures the usage of one call. It can count before the call is opened. */
abstract class UsageMeter {
  readonly #caller: Caller;
  #call: OpenCall | undefined;

  constructor(caller: Caller) {
    this.#caller = caller;
  }

  /**
   * Closes the call; resolves when the row is stored. A call that was not opened has no row. Only the first
   * close has an effect.
   */
  async close(status: UsageStatus): Promise<void> {
    await this.closeCall({ ...this.consumed(status), status });
  }

  /** Discards a call that was rejected before any work was done: it has no usage row. */
  async discard(): Promise<void> {
    await this.#call?.discard();
  }

  protected async closeCall(end: { status: UsageStatus } & CallUsage): Promise<void> {
    await this.#call?.close(end);
  }

  protected async openCall(calls: Calls, opening: Opening): Promise<void> {
    this.#call = await calls.openCall({ ...opening, caller: this.#caller });
  }

  /** What was produced so far; nothing before the first output. */
  protected abstract consumed(status: UsageStatus): CallUsage;
}

/** Tokens of a text and of its audio. */
export interface SpeechTokens {
  readonly input: number;
  readonly output: number;
}

/** Parameters of a synthesis call. */
export interface SynthesisUsage {
  readonly model: string;
  /** Unicode code points. */
  readonly characters: number;
  /** Maximum that {@link SpeechUsageMeter.addCharacters} may reach. Default: {@link characters}. */
  readonly maxCharacters?: number;
  /** 1 is natural. */
  readonly speed: number;
  /** Default: `/v1/audio/speech`. */
  readonly endpoint?: EndpointLabel;
}

/** Measures the audio generated for a text. */
export class SpeechUsageMeter extends UsageMeter {
  readonly #text: SynthesisUsage;
  #characters: number;
  #spokenCharacters = 0;
  #samples = 0;
  #rateHz = SPEECH_RATE_HZ;
  #bytes = 0;

  constructor(text: SynthesisUsage, caller: Caller) {
    super(caller);
    this.#text = text;
    this.#characters = text.characters;
  }

  /** @throws ServiceError `insufficient_quota` if the credits do not cover the maximum cost. */
  open(calls: Calls): Promise<void> {
    const { model, speed, endpoint = '/v1/audio/speech' } = this.#text;
    const characters = this.#text.maxCharacters ?? this.#text.characters;
    const audioSeconds = EXTRA_SECONDS + (characters * MAX_SECONDS_PER_CHARACTER) / Math.min(1, speed);
    const inputTokens = characterTokens(characters);
    const outputTokens = Math.ceil(audioSeconds * TOKENS_PER_SECOND);
    const maxUsage = { inputTokens, outputTokens, characters, audioSeconds };
    return this.openCall(calls, { endpoint, model, maxUsage });
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

  /** @param bytes number of bytes sent. */
  addBytes(bytes: number): void {
    this.#bytes += bytes;
  }

  /** Whether any audio was generated. */
  get hasAudio(): boolean {
    return this.#samples > 0;
  }

  /** Tokens of the text and of the audio generated so far; none before the first audio. */
  get tokens(): SpeechTokens {
    return {
      input: this.hasAudio ? characterTokens(this.#characters) : 0,
      // The division comes last, so that exact lengths stay exact.
      output: Math.ceil((this.#billedSamples * TOKENS_PER_SECOND) / SPEECH_RATE_HZ),
    };
  }

  protected consumed(status: UsageStatus): CallUsage {
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

/** Parameters of a transcription call. */
export interface TranscriptionUsage {
  readonly model: string;
  readonly task: TranscriptionTask;
  readonly prompt?: string | undefined;
  /** Default: the endpoint of the task. */
  readonly endpoint?: EndpointLabel;
}

const ENDPOINTS: Readonly<Record<TranscriptionTask, EndpointLabel>> = {
  transcribe: '/v1/audio/transcriptions',
  translate: '/v1/audio/translations',
};

/** Measures the received audio and the transcript. */
export class TranscriptionUsageMeter extends UsageMeter {
  readonly #request: TranscriptionUsage;
  #samples = 0;
  #text = '';
  #final: Transcript | undefined;

  constructor(request: TranscriptionUsage, caller: Caller) {
    super(caller);
    this.#request = request;
  }

  /**
   * Opens the call.
   * @param audioSeconds maximum length of the audio.
   * @throws ServiceError `insufficient_quota` if the credits do not cover the maximum cost.
   */
  open(calls: Calls, audioSeconds: number): Promise<void> {
    const { model, task, prompt = '', endpoint = ENDPOINTS[task] } = this.#request;
    const inputTokens = audioTokens(audioSeconds) + textTokens(prompt);
    const outputTokens = Math.ceil(audioSeconds * MAX_TEXT_TOKENS_PER_SECOND) + EXTRA_TEXT_TOKENS;
    return this.openCall(calls, {
      endpoint,
      model,
      maxUsage: { inputTokens, outputTokens, audioSeconds },
    });
  }

  /** Whether any audio was received. */
  get hasReceivedAudio(): boolean {
    return this.#samples > 0;
  }

  /** Whether any text was transcribed. */
  get hasTranscript(): boolean {
    return this.#text !== '';
  }

  /** Closes a call without usage that was cancelled before any work was done. */
  async abandon(): Promise<void> {
    await this.closeCall({ status: 'cancelled', inputTokens: 0, outputTokens: 0, audioSeconds: 0 });
  }

  addAudio(samples: number): void {
    this.#samples += samples;
  }

  addEvent(event: TranscriptionEvent): void {
    if (event.kind === 'delta') this.#text += event.text;
    else this.#final = event.transcript;
  }

  protected consumed(): CallUsage {
    // Audio may be read before it is transcribed, and while the request waits.
    if (this.#final === undefined && !this.hasTranscript) {
      return { inputTokens: 0, outputTokens: 0, audioSeconds: 0 };
    }
    const { prompt = '' } = this.#request;
    const audioSeconds = this.#samples / LISTEN_RATE_HZ;
    // Engines report token counts only for finished transcriptions.
    const { audio, text } = this.#final?.inputTokens ?? {
      audio: audioTokens(audioSeconds),
      text: textTokens(prompt),
    };
    const transcript = this.#final?.text ?? this.#text;
    return {
      inputTokens: audio + text,
      outputTokens: this.#final?.outputTokens ?? textTokens(this.#text),
      audioSeconds,
      ...(transcript === '' ? {} : { transcript }),
    };
  }
}
