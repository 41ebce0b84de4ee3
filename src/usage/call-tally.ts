/** The usage row of each speech (spec 4.3, rule 3) and of each transcription (spec 4.7, rule 9), whoever asked for it. */

import { LISTEN_RATE_HZ, SPEECH_RATE_HZ } from '../contract/audio.ts';
import type { Caller } from '../contract/caller.ts';
import type { Transcript, TranscriptionEvent, TranscriptionTask } from '../contract/engine.ts';
import type { Logger } from '../contract/logger.ts';
import type { UsageEntry, UsageStatus, UsageWriter } from '../contract/usage.ts';
import { characterTokens, heardTokens, textTokens } from '../kit/token-estimate.ts';

/** Audio codecs of speech models make 12.5 to 50 tokens a second; billing is the same for every engine. */
const TOKENS_PER_SECOND = 25;

export interface UsageParts {
  readonly usage: UsageWriter;
  readonly log: Logger;
}

type Consumed = Omit<UsageEntry, 'organization' | 'requestId' | 'status'>;

/** Counts what one request really consumed, and writes exactly one row of it. */
abstract class Tally {
  readonly #parts: UsageParts;
  readonly #caller: Caller;
  #written = false;

  constructor(parts: UsageParts, caller: Caller) {
    this.#parts = parts;
    this.#caller = caller;
  }

  /** Resolves when the row is stored. Only the first call counts; a failure to store is logged. */
  async write(status: UsageStatus): Promise<void> {
    if (this.#written) return;
    this.#written = true;
    const { organization, requestId } = this.#caller;
    try {
      await this.#parts.usage.write({ ...this.consumed(), organization, requestId, status });
    } catch (error) {
      this.#parts.log.error('usage row could not be written', error, { request_id: requestId });
    }
  }

  protected abstract consumed(): Consumed;
}

/** What was asked of a voice. */
export interface SpokenText {
  readonly model: string;
  /** Unicode code points. */
  readonly characters: number;
}

/** Counts the audio that a text gave. */
export class SpeechTally extends Tally {
  readonly #text: SpokenText;
  #samples = 0;
  #bytes = 0;

  constructor(parts: UsageParts, text: SpokenText, caller: Caller) {
    super(parts, caller);
    this.#text = text;
  }

  /**
   * @param samples at 24 kHz, as they were made.
   * @param bytes as they are sent.
   */
  add(samples: number, bytes: number): void {
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

  protected consumed(): Consumed {
    const { model, characters } = this.#text;
    const { input: inputTokens, output: outputTokens } = this.tokens;
    return {
      endpoint: '/v1/audio/speech',
      model,
      inputTokens,
      outputTokens,
      characters,
      audioBytes: this.#bytes,
      audioSeconds: this.#samples / SPEECH_RATE_HZ,
    };
  }
}

/** What was asked of a recogniser. */
export interface HeardSpeech {
  readonly model: string;
  readonly task: TranscriptionTask;
  readonly prompt?: string | undefined;
}

/** Counts the audio that was heard and the text that it gave. */
export class TranscriptionTally extends Tally {
  readonly #ask: HeardSpeech;
  #samples = 0;
  #text = '';
  #final: Transcript | undefined;

  constructor(parts: UsageParts, ask: HeardSpeech, caller: Caller) {
    super(parts, caller);
    this.#ask = ask;
  }

  /** Whether any audio was heard. */
  get hasHeard(): boolean {
    return this.#samples > 0;
  }

  /** Whether any text came of it. */
  get hasSaid(): boolean {
    return this.#text !== '';
  }

  hears(samples: number): void {
    this.#samples += samples;
  }

  says(event: TranscriptionEvent): void {
    if (event.kind === 'delta') this.#text += event.text;
    else this.#final = event.transcript;
  }

  protected consumed(): Consumed {
    const { task, model, prompt = '' } = this.#ask;
    const audioSeconds = this.#samples / LISTEN_RATE_HZ;
    // Only a finished one was counted by its engine.
    const { audio, text } = this.#final?.inputTokens ?? {
      audio: heardTokens(audioSeconds),
      text: textTokens(prompt),
    };
    const transcript = this.#final?.text ?? this.#text;
    return {
      endpoint: task === 'translate' ? '/v1/audio/translations' : '/v1/audio/transcriptions',
      model,
      inputTokens: audio + text,
      outputTokens: this.#final?.outputTokens ?? textTokens(this.#text),
      audioSeconds,
      ...(transcript === '' ? {} : { transcript }),
    };
  }
}
