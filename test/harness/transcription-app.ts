import { readdirSync } from 'node:fs';
import { onTestFinished } from 'vitest';
import { transcriptionRoutes } from '../../plugins/speech/transcription/routes.ts';
import { Transcriber } from '../../plugins/speech/transcription/service.ts';
import type { SttEngine } from '../../src/contract/engines/engine.ts';
import { bind } from '../../src/http/route.ts';
import { RecordedCalls, type RecordedCallsOptions } from '../../tools/harness/doubles/recorded-calls.ts';
import { RecordingLogger } from '../../tools/harness/doubles/recording-logger.ts';
import { FakeAudioFiles } from '../doubles/fake-audio-files.ts';
import { FakeSttEngine, type FakeSttOptions } from '../doubles/fake-stt-engine.ts';
import { tempDir } from './temp-dir.ts';
import { testApp } from './test-app.ts';

export const TRANSCRIPTIONS = '/v1/audio/transcriptions';
export const TRANSLATIONS = '/v1/audio/translations';
/** Size limit of a file, in bytes. */
export const FILE_BYTES = 64 * 1024;
/** A file of 500 ms for the fake reader. */
export const AUDIO = new File([new Uint8Array(16_000)], 'clip.wav');

type Value = string | File;
/** Fields of a form; a field can have several values. */
export type Fields = Record<string, Value | readonly Value[]>;

export interface TranscriptionAppOptions extends RecordedCallsOptions {
  readonly perOrganization?: number;
  /** Ids of the engine. Default: `svc-stt`. */
  readonly models?: readonly string[];
}

/** The app with the transcription routes and a scripted engine. */
export async function transcriptionApp(
  options: FakeSttOptions = {},
  { perOrganization = 100, models = ['svc-stt'], ...billing }: TranscriptionAppOptions = {},
) {
  const engine = new FakeSttEngine(options);
  const files = new FakeAudioFiles();
  const calls = new RecordedCalls(billing);
  const log = new RecordingLogger();
  const folder = await tempDir();
  const transcriber = new Transcriber({
    stt: { ids: models, get: (id): SttEngine | undefined => (models.includes(id) ? engine : undefined) },
    audioFiles: files,
    calls,
    log,
    requestsPerOrganization: perOrganization,
  });
  const routes = bind(transcriptionRoutes({ folder, fileBytes: FILE_BYTES }), { transcriber });
  const app = testApp({ routes: [routes] });
  onTestFinished(() => app.close());
  const post = (fields: Fields, { path = TRANSCRIPTIONS, key = 'key-of-a', ...init }: PostOptions = {}) => {
    const body = new FormData();
    for (const [name, values] of Object.entries({ model: 'svc-stt', file: AUDIO, ...fields })) {
      for (const value of [values].flat() as Value[]) body.append(name, value);
    }
    return app.send(path, { method: 'POST', headers: { 'x-api-key': key }, body, ...init });
  };
  const staged = () => readdirSync(folder);
  const { rows } = calls;
  return { engine, files, calls, rows, log, transcriber, app, post, staged };
}

export interface PostOptions extends RequestInit {
  readonly path?: string;
  readonly key?: string;
}

/** `usage` of a transcript of the fake engine. */
export const USAGE = {
  type: 'tokens',
  input_tokens: 13,
  output_tokens: 3,
  total_tokens: 16,
  input_token_details: { audio_tokens: 11, text_tokens: 2 },
};
