import { readFile, writeFile } from 'node:fs/promises';
import { invalidRequest } from '../../src/contract/core/error.ts';
import type { ClipFacts, ClipReader } from '../../src/contract/engines/video.ts';
import { isRecord } from '../../src/kit/validation/is-record.ts';
import { clipFacts } from '../contract/video-store.cases.ts';

/** A file that {@link fakeClips} reads as a clip with the given facts. */
export function fakeClip(facts: Partial<ClipFacts> = {}): string {
  return JSON.stringify({ fakeClip: facts });
}

/** Reads files of {@link fakeClip} and rejects others. The thumbnail is a text with the facts. */
export function fakeClips(): ClipReader {
  async function factsOf(path: string, field: string): Promise<Partial<ClipFacts>> {
    const text = await readFile(path, 'utf8');
    try {
      const { fakeClip: facts } = JSON.parse(text);
      if (isRecord(facts)) return { ...facts, lengthBytes: text.length };
    } catch {
      // A file without JSON is rejected below.
    }
    throw invalidRequest(`'${field}' is not a clip that can be decoded.`, field, 'invalid_value');
  }
  return {
    async measure(path, field, signal) {
      signal.throwIfAborted();
      return clipFacts(await factsOf(path, field));
    },
    async thumbnail(path, to, signal) {
      signal.throwIfAborted();
      await writeFile(to, `first frame of ${JSON.stringify(await factsOf(path, 'video'))}`);
    },
    close: async () => undefined,
  };
}
