import { join } from 'node:path';
import { encodeWav } from '../../src/audio/wav.ts';
import { openDiskBlobs } from '../../src/blobs/disk-blobs.ts';
import type { Id } from '../../src/contract/core/id.ts';
import { clipBlob, type VoiceRecord } from '../../src/contract/stores/voice-store.ts';
import { once } from '../../src/kit/async/once.ts';
import { systemClock } from '../../src/kit/clock.ts';
import { openSqlite } from '../../src/records/dialects/sqlite-records.ts';
import { voiceStore } from '../../src/records/stores/voice-store.ts';
import { voiceRecord } from '../contract/voice-store.cases.ts';

/** A clip of 6 s at 16 kHz with a constant sample value, which the fake cloning server repeats. */
export function clipOf(value: number): Buffer {
  return encodeWav(new Int16Array(96_000).fill(value), 16_000);
}

export interface StoredVoiceFiles {
  /** Stores a voice like an enrollment. */
  put(clip: Uint8Array, fields?: Partial<VoiceRecord>): Promise<VoiceRecord>;
  delete(organization: string, id: Id<'tts-vc-voice_'>): Promise<boolean>;
  close(): Promise<void>;
}

/** Accesses the voices in the DATA_DIR of a service, which may be running. */
export async function storedVoiceFiles(dataDir: string): Promise<StoredVoiceFiles> {
  const records = openSqlite(join(dataDir, 'service.sqlite'));
  const blobs = await openDiskBlobs(join(dataDir, 'blobs'), systemClock);
  const store = voiceStore(records);
  const never = new AbortController().signal;
  return {
    async put(clip, fields) {
      const voice = voiceRecord(fields);
      await blobs.write(clipBlob(voice.id), once(clip), never);
      await store.put(voice, 1000);
      return voice;
    },
    async delete(organization, id) {
      await blobs.delete(clipBlob(id));
      return store.delete(organization, id);
    },
    async close() {
      await blobs.close();
      await records.close();
    },
  };
}
