/** The service behind POST /v1/audio/transcriptions and /v1/audio/translations. */

import type { Caller } from '../../../src/contract/accounts/caller.ts';
import { invalidRequest } from '../../../src/contract/core/error.ts';
import { LISTEN_RATE_HZ } from '../../../src/contract/engines/audio.ts';
import type { OpenAudioFile } from '../../../src/contract/engines/audio-file.ts';
import type {
  AudioChunk,
  SttEngine,
  TranscriptionEvent,
  TranscriptionRequest,
} from '../../../src/contract/engines/engine.ts';
import { requireModel } from '../../../src/contract/model-table.ts';
import type { Slots } from '../../../src/contract/plugin.ts';
import { FairSemaphore } from '../../../src/kit/limits/fair-semaphore.ts';
import { OpenRequests } from '../../../src/kit/limits/open-requests.ts';
import { logFailure } from '../../../src/kit/logging/log-failure.ts';
import { languageRule, reducedLanguage } from '../../../src/kit/validation/languages.ts';
import { billed } from '../../../src/usage/billed.ts';
import { TRANSCRIPTION_ENDPOINTS, TranscriptionUsageMeter } from '../../../src/usage/usage-meters.ts';
import type { TranscriptionFormParams } from './schema.ts';

/** File reader slots that a single API key cannot use. */
const SLOTS_FOR_OTHER_KEYS = 2;
const MAX_WAITING = 1000;

export interface TranscriberDeps extends Pick<Slots, 'stt' | 'audioFiles' | 'calls' | 'log'> {
  /** Maximum number of concurrent requests per organization, including uploads. */
  readonly requestsPerOrganization: number;
}

export class Transcriber {
  /** Requests in progress. Each starts before its upload is read, because the slots bound the disk space of uploads. */
  readonly open: OpenRequests;
  readonly #deps: TranscriberDeps;
  /** Limits concurrent file reads: each file is decoded in its own process. */
  readonly #files: FairSemaphore;

  constructor(deps: TranscriberDeps) {
    this.#deps = deps;
    this.open = new OpenRequests('transcription', deps.requestsPerOrganization);
    const { maxOpen } = deps.audioFiles;
    const maxPerKey = Math.max(1, maxOpen - SLOTS_FOR_OTHER_KEYS);
    this.#files = new FairSemaphore({
      maxConcurrent: maxOpen,
      maxConcurrentPerKey: maxPerKey,
      maxQueued: MAX_WAITING,
    });
  }

  /**
   * Transcribes a file: yields deltas, then the final. The usage row is stored before the final is yielded. Returning
   * early stops the work.
   * @throws ServiceError `invalid_request` for an unknown model, an unsupported language or a file that is not audio;
   *   the errors of the engine; the reason of the signal.
   */
  async *transcribe(
    params: TranscriptionFormParams,
    caller: Caller,
    signal: AbortSignal,
  ): AsyncGenerator<TranscriptionEvent, void, undefined> {
    const engine = requireModel(this.#deps.stt, params.model);
    const language = params.language && requireLanguage(engine, params.language, 'language');
    const languages = requireLanguages(engine, params.languages, language);
    const release = await this.#files.acquire(caller.keyId, signal);
    try {
      const file = await this.#deps.audioFiles.openFile(params.file.path, LISTEN_RATE_HZ, 'file', signal);
      try {
        yield* this.#events(engine, file, { ...params, language, languages }, caller, signal);
      } finally {
        await file.samples.return();
      }
    } finally {
      release();
    }
  }

  /** Logs a failure after the response has started, which cannot set the HTTP status any more. */
  logStreamFailure(error: unknown, { requestId }: Caller): void {
    logFailure(this.#deps.log, 'transcription failed in its stream', error, { request_id: requestId });
  }

  #events(
    engine: SttEngine,
    file: OpenAudioFile,
    params: TranscriptionFormParams,
    caller: Caller,
    signal: AbortSignal,
  ): AsyncIterable<TranscriptionEvent> {
    const { model, task, prompt } = params;
    const audio = new FileAudio(file);
    const meter = new TranscriptionUsageMeter({ audio, prompt });
    const maxUsage = meter.maxUsage(file.declaredS);
    return billed(
      { calls: this.#deps.calls, endpoint: TRANSCRIPTION_ENDPOINTS[task], model, caller, maxUsage },
      meter,
      () => engine.transcribe(audio, requestOf(params, caller.keyId), signal),
      signal,
    );
  }
}

/** @throws ServiceError if the model does not support the language. */
function requireLanguage({ languages }: SttEngine, written: string, param: string): string {
  const language = reducedLanguage(written, languages);
  if (language !== undefined) return language;
  throw invalidRequest(`'${param}' must be ${languageRule(languages)}.`, param, 'invalid_value');
}

/** @throws ServiceError if the model does not support one of the languages, or if `language` is another one. */
function requireLanguages(
  engine: SttEngine,
  written: readonly string[] | undefined,
  language: string | undefined,
): readonly string[] | undefined {
  if (written === undefined) return undefined;
  const languages = new Set(written.map((each, at) => requireLanguage(engine, each, `languages.${at}`)));
  if (language === undefined || languages.has(language)) return [...languages];
  throw invalidRequest(
    "'language' must be one of 'languages'. Omit one of the two.",
    'language',
    'invalid_value',
  );
}

function requestOf(params: TranscriptionFormParams, fairnessKey: string): TranscriptionRequest {
  const { task, language, languages, prompt, keywords, temperature, format, shown } = params;
  const needsSegments = format === 'verbose_json' || format === 'srt' || format === 'vtt';
  const timestamps = shown.words ? 'word' : needsSegments ? 'segment' : 'none';
  return {
    task,
    language,
    languages,
    prompt,
    keywords,
    temperature,
    timestamps,
    textTokens: params.logprobs,
    priority: 'interactive',
    fairnessKey,
  };
}

/** The audio of a file, which is read once. Counts the samples. */
class FileAudio implements AsyncIterable<AudioChunk> {
  readonly #file: OpenAudioFile;
  readSamples = 0;

  constructor(file: OpenAudioFile) {
    this.#file = file;
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<AudioChunk, void, undefined> {
    for await (const chunk of this.#file.samples) {
      this.readSamples += chunk.length;
      yield chunk;
    }
  }
}
