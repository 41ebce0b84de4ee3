import { describe, expect, it, onTestFinished } from 'vitest';
import { chunks } from '../../test/contract/blob-store.cases.ts';
import { voiceRecord } from '../../test/contract/voice-store.cases.ts';
import { tempDir } from '../../test/harness/temp-dir.ts';
import { ManualClock } from '../../tools/harness/doubles/manual-clock.ts';
import { openDiskBlobs } from '../blobs/disk-blobs.ts';
import { clipBlob } from '../contract/stores/voice-store.ts';
import { openSqlite } from '../records/dialects/sqlite-records.ts';
import { voiceStore } from '../records/stores/voice-store.ts';
import { StoredVoices } from './stored-voices.ts';

const never = new AbortController().signal;

async function setUp() {
  const records = openSqlite(':memory:');
  onTestFinished(() => records.close());
  const voices = voiceStore(records);
  const blobs = await openDiskBlobs(await tempDir(), new ManualClock());
  const voice = voiceRecord({ adaptation: 'mix', organization: 'a' });
  await voices.put(voice, 10);
  await blobs.write(clipBlob(voice.id), chunks('RI', 'FF'), never);
  return { voices, blobs, voice, stored: new StoredVoices({ voices, blobs }) };
}

describe('StoredVoices', () => {
  it('returns a voice for the speech engines', async () => {
    const { voice, stored } = await setUp();
    const found = await stored.find(voice.id, 'a');
    expect(found).toMatchObject({ id: voice.id, adaptation: 'mix', refText: voice.refText });
    expect(String(await found?.clip(never))).toBe('RIFF');
  });

  it('returns the current state of a voice', async () => {
    const { voices, voice, stored } = await setUp();
    await voices.setAdaptation(voice.id, 'better', false);
    expect(await stored.find(voice.id, 'a')).toMatchObject({ adaptation: 'better' });
  });

  it('returns undefined for an unknown voice and for a voice of another organization', async () => {
    const { voice, stored } = await setUp();
    expect(await stored.find(voice.id, 'b')).toBeUndefined();
    expect(await stored.find('alloy', 'a')).toBeUndefined();
  });

  it('throws voice_deleted for the clip of a deleted voice, and an internal error for a lost clip', async () => {
    const { voices, blobs, voice, stored } = await setUp();
    const found = await stored.find(voice.id, 'a');
    await blobs.delete(clipBlob(voice.id));
    await expect(found?.clip(never)).rejects.toMatchObject({ kind: 'internal' });
    await voices.delete('a', voice.id);
    await expect(found?.clip(never)).rejects.toMatchObject({ kind: 'not_found', code: 'voice_not_found' });
  });
});
