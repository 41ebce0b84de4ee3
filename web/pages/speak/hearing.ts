/** What `POST /v1/audio/transcriptions` and `/translations` are asked, and what they answer. */

import type { ServerEvent } from '../../client/event-reader.ts';
import type { ServiceClient } from '../../client/service-client.ts';
import { faultOf } from '../../client/service-fault.ts';

/** How the words come: as text while they are heard, or as captions or all that is known of them at the end. */
export type HearingResult = 'text' | 'srt' | 'vtt' | 'verbose_json';

export interface HearingAsk {
  readonly task: 'transcriptions' | 'translations';
  readonly file: File;
  readonly model: string | undefined;
  /** ISO 639-1; empty when the service is to find out. A translation has none. */
  readonly language: string;
  readonly result: HearingResult;
}

/** Largest file that is taken, unless the operator of the service set another limit. */
export const MAX_FILE_BYTES = 25 * 1024 * 1024;

/** The form of a request. */
export function formOf({ task, file, model, language, result }: HearingAsk): FormData {
  const form = new FormData();
  if (model !== undefined) form.append('model', model);
  if (task === 'transcriptions' && language !== '') form.append('language', language);
  if (result === 'text') form.append('stream', 'true');
  else form.append('response_format', result);
  if (result === 'verbose_json' && task === 'transcriptions') {
    form.append('timestamp_granularities[]', 'segment');
    form.append('timestamp_granularities[]', 'word');
  }
  // Last, so that a field which is at fault is told before a large file has arrived.
  form.append('file', file);
  return form;
}

/** A piece of the text, or the tokens that it took when it is complete. */
export type HeardPart =
  | { readonly kind: 'words'; readonly text: string }
  | { readonly kind: 'end'; readonly inputTokens: number; readonly outputTokens: number };

/** What an event of a streamed transcription says; undefined: nothing new. @throws ServiceFault for an error in the stream. */
export function heardPart({ data }: ServerEvent): HeardPart | undefined {
  const event = JSON.parse(data) as StreamEvent;
  if ('error' in event) throw faultOf(event, 200);
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
 * What a recording says, in parts as they come.
 * @throws ServiceFault, or the reason of `signal`.
 */
export async function* hear(
  client: ServiceClient,
  ask: HearingAsk,
  signal: AbortSignal,
): AsyncGenerator<HeardPart> {
  const path = `v1/audio/${ask.task}`;
  const form = formOf(ask);
  if (ask.result !== 'text') {
    const answer = await client.send('POST', path, form, { signal });
    const text = await answer.text();
    yield { kind: 'words', text: ask.result === 'verbose_json' ? indented(text) : text };
    return;
  }
  for await (const event of client.events(path, form, { signal })) {
    const part = heardPart(event);
    if (part !== undefined) yield part;
  }
}

function indented(json: string): string {
  return JSON.stringify(JSON.parse(json), undefined, 2);
}

/** How the result is called and what it is as a file. */
const FILES: Readonly<Record<HearingResult, readonly [extension: string, type: string]>> = {
  text: ['txt', 'text/plain'],
  srt: ['srt', 'application/x-subrip'],
  vtt: ['vtt', 'text/vtt'],
  verbose_json: ['json', 'application/json'],
};

/** The result as a file beside the recording: the same name with another ending. */
export function resultFile(recording: string, result: HearingResult, text: string): File {
  const [extension, type] = FILES[result];
  const name = recording.replace(/\.[^.]*$/, '') || 'recording';
  return new File([text], `${name}.${extension}`, { type: `${type};charset=utf-8` });
}
