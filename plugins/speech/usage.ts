/** The usage row of one speech request (spec 4.3, rule 3). */

import { SPEECH_RATE_HZ } from '../../src/contract/audio.ts';
import type { Logger } from '../../src/contract/logger.ts';
import type { UsageStatus, UsageWriter } from '../../src/contract/usage.ts';
import type { Caller } from '../../src/http/caller.ts';
import type { SpeechRequest } from './model.ts';

/** About four characters of English make a token. */
const CHARACTERS_PER_TOKEN = 4;
/** Audio codecs of speech models make 12.5 to 50 tokens a second; billing is the same for every engine. */
const TOKENS_PER_SECOND = 25;

/** Counts what one request really made, and writes exactly one row of it. */
export class SpeechTally {
  readonly #usage: UsageWriter;
  readonly #log: Logger;
  readonly #request: SpeechRequest;
  readonly #caller: Caller;
  #samples = 0;
  #written = false;

  constructor(parts: { usage: UsageWriter; log: Logger }, request: SpeechRequest, caller: Caller) {
    this.#usage = parts.usage;
    this.#log = parts.log;
    this.#request = request;
    this.#caller = caller;
  }

  add(samples: number): void {
    this.#samples += samples;
  }

  /** Resolves when the row is stored. Only the first call counts; a failure to store is logged. */
  async write(status: UsageStatus): Promise<void> {
    if (this.#written) return;
    this.#written = true;
    const { model, characters } = this.#request;
    const audioSeconds = this.#samples / SPEECH_RATE_HZ;
    try {
      await this.#usage.write({
        endpoint: '/v1/audio/speech',
        organization: this.#caller.organization,
        requestId: this.#caller.requestId,
        model,
        status,
        inputTokens: Math.ceil(characters / CHARACTERS_PER_TOKEN),
        // In this order the division is the last step, and exact lengths stay exact.
        outputTokens: Math.ceil((this.#samples * TOKENS_PER_SECOND) / SPEECH_RATE_HZ),
        characters,
        audioBytes: this.#samples * 2,
        audioSeconds,
      });
    } catch (error) {
      this.#log.error('usage row could not be written', error, { request_id: this.#caller.requestId });
    }
  }
}
