/** The usage row of each speech (spec 4.3, rule 3) and of each transcription (spec 4.7, rule 9), whoever asked for it. */

import type { Caller } from '../contract/accounts/caller.ts';
import type { NewCall, Calls, CallUsage, OpenCall } from '../contract/accounts/calls.ts';
import type { EndpointLabel, UsageStatus } from '../contract/accounts/usage.ts';
import { LISTEN_RATE_HZ, SPEECH_RATE_HZ } from '../contract/engines/audio.ts';
import type { Transcript, TranscriptionEvent, TranscriptionTask } from '../contract/engines/engine.ts';
import { characterTokens, audioTokens, textTokens } from '../kit/text/token-estimate.ts';

/** Audio codecs of speech models make 12.5 to 50 tokens a second; billing is the same for every engine. */
const TOKENS_PER_SECOND = 25;
/**
 * Longest audio that a text is reserved for. A story takes 70 ms a character and a list of numbers half a second;
 * silence at the ends and a text of one letter have the constant.
 */
const MAX_SECONDS_PER_CHARACTER = 1;
const MAX_SECONDS_BESIDE = 5;
/** Most text tokens of a second that is heard, and of silence that a model takes for words. */
const MAX_HEARD_TOKENS_PER_SECOND = 10;
const MAX_HEARD_TOKENS_BESIDE = 250;

type Opening = Pick<NewCall, 'endpoint' | 'model' | 'maxUsage'>;

/** Counts what one call really consumes; it may count before the call is opened. */
abstract class Tally {
  readonly #caller: Caller;
  #call: OpenCall | undefined;

  constructor(caller: Caller) {
    this.#caller = caller;
  }

  /** Resolves when the row is stored; a call that was not opened has none. Only the first end counts. */
  async close(status: UsageStatus): Promise<void> {
    await this.end({ ...this.consumed(), status });
  }

  /** The call was refused before anything was done: it has no row. */
  async discard(): Promise<void> {
    await this.#call?.discard();
  }

  protected async end(end: { status: UsageStatus } & CallUsage): Promise<void> {
    await this.#call?.close(end);
  }

  protected async begin(calls: Calls, opening: Opening): Promise<void> {
    this.#call = await calls.openCall({ ...opening, caller: this.#caller });
  }

  protected abstract consumed(): CallUsage;
}

/** What was asked of a voice. */
export interface SynthesisUsage {
  readonly model: string;
  /** Unicode code points. */
  readonly characters: number;
  /** 1 is natural. */
  readonly speed: number;
  /** Absent: that of `POST /v1/audio/speech`. */
  readonly endpoint?: EndpointLabel;
}

/** Counts the audio that a text gave. */
export class SpeechUsageMeter extends Tally {
  readonly #text: SynthesisUsage;
  #samples = 0;
  #bytes = 0;

  constructor(text: SynthesisUsage, caller: Caller) {
    super(caller);
    this.#text = text;
  }

  /** @throws ServiceError `insufficient_quota` when the credits do not cover the most that it may cost. */
  open(calls: Calls): Promise<void> {
    const { model, characters, speed, endpoint = '/v1/audio/speech' } = this.#text;
    const audioSeconds = MAX_SECONDS_BESIDE + (characters * MAX_SECONDS_PER_CHARACTER) / Math.min(1, speed);
    const inputTokens = characterTokens(characters);
    const outputTokens = Math.ceil(audioSeconds * TOKENS_PER_SECOND);
    const most = { inputTokens, outputTokens, characters, audioSeconds };
    return this.begin(calls, { endpoint, model, maxUsage: most });
  }

  /**
   * @param samples at 24 kHz, as they were made.
   * @param bytes as they are sent.
   */
  addAudio(samples: number, bytes: number): void {
    this.#samples += samples;
    this.#bytes += bytes;
  }

  /** Tokens of the text, and of the audio so far. */
  get tokens(): { readonly input: number; readonly output: number } {
    return {
      input: characterTokens(this.#text.characters),
      // In this order the division is the last step, and exact lengths stay exact.
      output: Math.ceil((this.#samples * TOKENS_PER_SECOND) / SPEECH_RATE_HZ),
    };
  }

  protected consumed(): CallUsage {
    const { input: inputTokens, output: outputTokens } = this.tokens;
    return {
      inputTokens,
      outputTokens,
      characters: this.#text.characters,
      audioBytes: this.#bytes,
      audioSeconds: this.#samples / SPEECH_RATE_HZ,
    };
  }
}

/** What was asked of a recogniser. */
export interface TranscriptionUsage {
  readonly model: string;
  readonly task: TranscriptionTask;
  readonly prompt?: string | undefined;
  /** Absent: that of the task. */
  readonly endpoint?: EndpointLabel;
}

const ENDPOINTS: Readonly<Record<TranscriptionTask, EndpointLabel>> = {
  transcribe: '/v1/audio/transcriptions',
  translate: '/v1/audio/translations',
};

/** Counts the audio that was heard and the text that it gave. */
export class TranscriptionUsageMeter extends Tally {
  readonly #ask: TranscriptionUsage;
  #samples = 0;
  #text = '';
  #final: Transcript | undefined;

  constructor(ask: TranscriptionUsage, caller: Caller) {
    super(caller);
    this.#ask = ask;
  }

  /**
   * @param audioSeconds most that it may hear.
   * @throws ServiceError `insufficient_quota` when the credits do not cover the most that it may cost.
   */
  open(calls: Calls, audioSeconds: number): Promise<void> {
    const { model, task, prompt = '', endpoint = ENDPOINTS[task] } = this.#ask;
    const inputTokens = audioTokens(audioSeconds) + textTokens(prompt);
    const outputTokens = Math.ceil(audioSeconds * MAX_HEARD_TOKENS_PER_SECOND) + MAX_HEARD_TOKENS_BESIDE;
    return this.begin(calls, {
      endpoint,
      model,
      maxUsage: { inputTokens, outputTokens, audioSeconds },
    });
  }

  /** Whether any audio was heard. */
  get hasReceivedAudio(): boolean {
    return this.#samples > 0;
  }

  /** Whether any text came of it. */
  get hasTranscript(): boolean {
    return this.#text !== '';
  }

  /** Ends a call for which nothing was done, and which was no refusal. */
  async abandon(): Promise<void> {
    await this.end({ status: 'cancelled', inputTokens: 0, outputTokens: 0, audioSeconds: 0 });
  }

  addAudio(samples: number): void {
    this.#samples += samples;
  }

  addEvent(event: TranscriptionEvent): void {
    if (event.kind === 'delta') this.#text += event.text;
    else this.#final = event.transcript;
  }

  protected consumed(): CallUsage {
    const { prompt = '' } = this.#ask;
    const audioSeconds = this.#samples / LISTEN_RATE_HZ;
    // Only a finished one was counted by its engine.
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
