/** Names of transcription models in realtime sessions. */

import type { ModelTable } from '../../../src/contract/model-table.ts';

/**
 * OpenAI's transcription models that exist only in realtime sessions (openai 7.57.0, `AudioTranscription.model`): further names of
 * its model for files.
 */
const REALTIME_NAMES: ReadonlyMap<string, string> = new Map([
  ['gpt-live-transcribe', 'gpt-transcribe'],
  ['gpt-realtime-whisper', 'gpt-transcribe'],
]);

type Ids = Pick<ModelTable<unknown>, 'ids'>;

/** Returns the names that clients may send. */
export function transcriptionNames({ ids }: Ids): readonly string[] {
  const further = [...REALTIME_NAMES].filter(([name, id]) => !ids.includes(name) && ids.includes(id));
  return [...ids, ...further.map(([name]) => name)];
}

/** Returns the id of the model that a name stands for. */
export function transcriptionModelId(name: string, { ids }: Ids): string {
  return ids.includes(name) ? name : (REALTIME_NAMES.get(name) ?? name);
}
