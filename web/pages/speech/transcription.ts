/** Requests to `POST /v1/audio/transcriptions` and `/translations`, and their responses. */

import type { ServerEvent } from '../../client/event-reader.ts';
import type { ServiceClient } from '../../client/service-client.ts';
import { errorFromBody } from '../../client/service-error.ts';

/** Response format: streamed text, JSON, captions, or JSON with timestamps. */
export type TranscriptionFormat = 'text' | 'json' | 'srt' | 'vtt' | 'verbose_json';

export interface TranscriptionParams {
  readonly task: 'transcriptions' | 'translations';
  readonly file: File;
  readonly model: string | undefined;
  /** ISO 639-1 code; empty for automatic detection. Not used for translations. */
  readonly language: string;
  readonly result: TranscriptionFormat;
}

/** Default of the service's file size limit, in bytes. */
export const MAX_FILE_BYTES = 25 * 1024 * 1024;

/** Builds the request form. */
export function formOf({ task, file, model, language, result }: TranscriptionParams): FormData {
  const form = new FormData();
  if (model !== undefined) form.append('model', model);
  if (task === 'transcriptions' && language !== '') form.append('language', language);
  if (result === 'text') form.append('stream', 'true');
  else form.append('response_format', result);
  if (result === 'verbose_json' && task === 'transcriptions') {
    form.append('timestamp_granularities[]', 'segment');
    form.append('timestamp_granularities[]', 'word');
  }
  // Last: the service validates the other fields before it receives a large file.
  form.append('file', file);
  return form;
}

/** A text delta, or the usage at the end. */
export type TranscriptPart =
  | { readonly kind: 'words'; readonly text: string }
  | { readonly kind: 'end'; readonly inputTokens: number; readonly outputTokens: number };

/**
 * Parses an event of a streamed transcription; undefined if it adds nothing. @throws ServiceError for an
 * error event.
 */
export function parseTranscriptEvent({ data }: ServerEvent): TranscriptPart | undefined {
  const event = JSON.parse(data) as StreamEvent;
  if ('error' in event) throw errorFromBody(event, 200);
  if (event.type === 'transcript.text.delta') return { kind: 'words', text: event.delta };
  if (event.type !== 'transcript.text.done') return undefined;
  const { input_tokens: inputTokens, output_tokens: outputTokens } = event.usage;
  return { kind: 'end', inputTokens, outputTokens };
}

type StreamEvent =
  | { readonly error: unknown }
  | { readonly type: 'transcript.text.delta'; readonly delta: string }
  | {
      readonly type: 'transcript.text.done';
      readonly usage: { readonly input_tokens: number; readonly output_tokens: number };
    }
  | { readonly type: 'other' };

/**
 * Transcribes a recording and yields the text as it arrives.
 * @throws ServiceError, or the reason of `signal`.
 */
export async function* transcribe(
  client: ServiceClient,
  params: TranscriptionParams,
  signal: AbortSignal,
): AsyncGenerator<TranscriptPart> {
  const path = `v1/audio/${params.task}`;
  const form = formOf(params);
  if (params.result !== 'text') {
    const result = await client.send('POST', path, form, { signal });
    const text = await result.text();
    yield { kind: 'words', text: isJson(params.result) ? indented(text) : text };
    return;
  }
  for await (const event of client.events(path, form, { signal })) {
    const part = parseTranscriptEvent(event);
    if (part !== undefined) yield part;
  }
}

const isJson = (result: TranscriptionFormat) => result === 'json' || result === 'verbose_json';

function indented(json: string): string {
  return JSON.stringify(JSON.parse(json), undefined, 2);
}

/** File extension and media type by response format. */
const FILES: Readonly<Record<TranscriptionFormat, readonly [extension: string, type: string]>> = {
  text: ['txt', 'text/plain'],
  json: ['json', 'application/json'],
  srt: ['srt', 'application/x-subrip'],
  vtt: ['vtt', 'text/vtt'],
  verbose_json: ['json', 'application/json'],
};

/** The result as a file with the base name of the recording. */
export function resultFile(recording: string, result: TranscriptionFormat, text: string): File {
  const [extension, type] = FILES[result];
  const name = recording.replace(/\.[^.]*$/, '') || 'recording';
  return new File([text], `${name}.${extension}`, { type: `${type};charset=utf-8` });
}
