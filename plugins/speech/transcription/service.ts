/** The service behind POST /v1/audio/transcriptions and /v1/audio/translations. */

import type { Caller } from '../../../src/contract/accounts/caller.ts';
import { invalidRequest, ServiceError } from '../../../src/contract/core/error.ts';
import { LISTEN_RATE_HZ } from '../../../src/contract/engines/audio.ts';
import type { OpenAudioFile } from '../../../src/contract/engines/audio-file.ts';
import type { AudioChunk, SttEngine, TranscriptionEvent } from '../../../src/contract/engines/engine.ts';
import { requireModel } from '../../../src/contract/model-table.ts';
import type { Slots } from '../../../src/contract/plugin.ts';
import { FairSemaphore } from '../../../src/kit/limits/fair-semaphore.ts';
import { type OpenRequest, OpenRequests } from '../../../src/kit/limits/open-requests.ts';
import { logFailure } from '../../../src/kit/logging/log-failure.ts';
import { languageName } from '../../../src/kit/validation/languages.ts';
import { TranscriptionUsageMeter } from '../../../src/usage/usage-meters.ts';
import type { TranscriptionAsk } from './schema.ts';

/** Turns to have a file read that no key has to itself. */
const TURNS_FOR_OTHERS = 2;
const MAX_WAITING = 1000;

export interface TranscriberParts extends Pick<Slots, 'stt' | 'audioFiles' | 'calls' | 'log'> {
  /** Requests of one organization that may be open at once, uploads included. */
  readonly requestsPerOrganization: number;
}

export class Transcriber {
  readonly #parts: TranscriberParts;
  readonly #open: OpenRequests;
  /** Files that are read at once: each has a decoder in a process of its own. Others wait for their turn. */
  readonly #files: FairSemaphore;

  constructor(parts: TranscriberParts) {
    this.#parts = parts;
    this.#open = new OpenRequests('transcription', parts.requestsPerOrganization);
    const { maxOpen } = parts.audioFiles;
    const ofOneOwner = Math.max(1, maxOpen - TURNS_FOR_OTHERS);
    this.#files = new FairSemaphore({ maxConcurrent: maxOpen, maxConcurrentPerKey: ofOneOwner, maxQueued: MAX_WAITING });
  }

  /**
   * Takes a place for a request, before its upload is read: places bound the disk that uploads take.
   * @throws ServiceError `rate_limited` when the organization has too many requests open.
   */
  begin(caller: Caller, signal: AbortSignal): OpenRequest {
    return this.#open.startRequest(caller, signal);
  }

  /**
   * Transcribes a file: deltas, then the final, then the usage row is stored. Not consuming stops the work.
   * @throws ServiceError: `invalid_request` for an unknown model, a language it lacks and a file that is no
   *   audio; what the engine throws; the signal's reason after an abort.
   */
  async *transcribe(
    ask: TranscriptionAsk,
    caller: Caller,
    signal: AbortSignal,
  ): AsyncGenerator<TranscriptionEvent, void, undefined> {
    const engine = this.#engine(ask);
    const end = await this.#files.acquire(caller.keyId, signal);
    try {
      const file = await this.#parts.audioFiles.openFile(ask.file.path, LISTEN_RATE_HZ, 'file', signal);
      yield* this.#events(engine, file, ask, caller, signal);
    } finally {
      end();
    }
  }

  /** Notes a failure that no status can tell any more, because the answer had begun. */
  failedLate(error: unknown, { requestId }: Caller): void {
    logFailure(this.#parts.log, 'transcription failed in its stream', error, { request_id: requestId });
  }

  /** Resolves when nothing is running; at the signal it stops what still is. */
  drain(until: AbortSignal): Promise<void> {
    return this.#open.drain(until);
  }

  /** Stops every request that is running. */
  stop(): void {
    this.#open.stop();
  }

  async *#events(
    engine: SttEngine,
    file: OpenAudioFile,
    ask: TranscriptionAsk,
    caller: Caller,
    signal: AbortSignal,
  ): AsyncGenerator<TranscriptionEvent, void, undefined> {
    const usageMeter = new TranscriptionUsageMeter(ask, caller);
    let refused = false;
    try {
      await usageMeter.open(this.#parts.calls, file.declaredS);
      for await (const event of engine.transcribe(
        counted(file, usageMeter),
        requestOf(ask, caller.keyId),
        signal,
      )) {
        usageMeter.addEvent(event);
        // The row comes first: whoever has the final may look for it.
        if (event.kind === 'final') await usageMeter.close('completed');
        yield event;
      }
    } catch (error) {
      refused = !signal.aborted && isRefusal(error, usageMeter);
      if (!refused) await usageMeter.close(signal.aborted ? 'cancelled' : 'failed');
      throw error;
    } finally {
      await file.samples.return();
      // Still open here: the consumer left in the middle.
      if (usageMeter.hasReceivedAudio && !refused) await usageMeter.close('cancelled');
      else await usageMeter.discard();
    }
  }

  #engine({ model, language }: TranscriptionAsk): SttEngine {
    const engine = requireModel(this.#parts.stt, model);
    if (language !== undefined) requireLanguage(engine, language);
    return engine;
  }
}

/** @throws ServiceError for a language that the model does not know. */
function requireLanguage({ languages }: SttEngine, language: string): void {
  if (languages?.includes(language) ?? languageName(language) !== undefined) return;
  const allowed = languages === undefined ? 'an ISO 639-1 code' : `one of ${languages.join(', ')}`;
  throw invalidRequest(`'language' must be ${allowed}.`, 'language', 'invalid_value');
}

function requestOf(ask: TranscriptionAsk, fairnessKey: string) {
  const { task, language, prompt, temperature, format, shown } = ask;
  const needsSegments = format === 'verbose_json' || format === 'srt' || format === 'vtt';
  const timestamps = shown.words ? 'word' : needsSegments ? 'segment' : 'none';
  return { task, language, prompt, temperature, timestamps, priority: 'interactive', fairnessKey } as const;
}

async function* counted(
  { samples }: OpenAudioFile,
  usageMeter: TranscriptionUsageMeter,
): AsyncGenerator<AudioChunk, void, undefined> {
  for await (const run of samples) {
    usageMeter.addAudio(run.length);
    yield run;
  }
}

/** Whether nothing was done yet: refusals have no row. An engine may hear a little before it says that it is full. */
function isRefusal(error: unknown, { hasReceivedAudio: hasHeard, hasTranscript: hasSaid }: TranscriptionUsageMeter): boolean {
  if (!(error instanceof ServiceError)) return false;
  return error.kind === 'overloaded' ? !hasSaid : error.kind === 'invalid_request' && !hasHeard;
}
