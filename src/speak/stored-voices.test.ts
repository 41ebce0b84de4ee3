import { describe, expect, it, onTestFinished } from 'vitest';
import { chunks } from '../../test/contract/blob-store.cases.ts';
import { voiceRecord } from '../../test/contract/voice-store.cases.ts';
import { tempDir } from '../../test/harness/temp-dir.ts';
import { ManualClock } from '../../tools/harness/doubles/manual-clock.ts';
import { memoryRecords } from '../../tools/harness/doubles/memory-records.ts';
import { openDiskBlobs } from '../blobs/disk-blobs.ts';
import type { NamedVoice } from '../contract/engines/named-voice.ts';
import { clipBlob } from '../contract/stores/voice-store.ts';
import { voiceStore } from '../records/stores/voice-store.ts';
import { hasNamedVoice, StoredVoices, selectVoice } from './stored-voices.ts';

const never = new AbortController().signal;

async function setUp() {
  const records = memoryRecords();
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
    await voices.setAdaptation(voice.id, 'better');
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

describe('selectVoice', () => {
  const named = { hasVoice: (name: string) => name === 'alloy' };
  const select = (stored: StoredVoices, id: string | undefined, engine = named) =>
    selectVoice(stored, engine, { id, model: 'tts-1', param: 'voice', organization: 'a' });

  it('selects a stored voice, a voice of the engine, or none', async () => {
    const { stored, voice } = await setUp();
    expect(await select(stored, voice.id)).toMatchObject({ voice: { id: voice.id } });
    expect(await select(stored, 'alloy')).toEqual({ voiceName: 'alloy' });
    expect(await select(stored, undefined)).toEqual({ voice: undefined });
    await expect(select(stored, 'alto')).rejects.toMatchObject({ code: 'voice_not_found' });
  });

  it('never sends the id of a stored voice of another organization to an engine as a name', async () => {
    const { stored, voice } = await setUp();
    const foreign = selectVoice(
      stored,
      { hasVoice: () => true },
      { id: voice.id, model: 'tts-1', param: 'voice', organization: 'b' },
    );
    await expect(foreign).rejects.toMatchObject({ code: 'voice_not_found' });
  });
});

describe('the language of selectVoice', () => {
  const engine = {
    languages: ['en-US', 'es'],
    languageOf: (tag: string) =>
      ['en-US', 'es'].find((each) => each.startsWith(tag.slice(0, 2).toLowerCase())),
  };
  const select = async (fields: object, selected: object = engine) =>
    selectVoice((await setUp()).stored, selected, {
      id: undefined,
      model: 'tts-1',
      param: 'voice',
      organization: 'a',
      ...fields,
    });

  it('is that of the engine, also for a stored voice', async () => {
    expect(await select({ language: 'ES_mx' })).toEqual({ voice: undefined, language: 'es' });
    expect(await select({})).toEqual({ voice: undefined, language: undefined });
    const { stored, voice } = await setUp();
    const requested = { id: voice.id, model: 'm', param: 'voice', organization: 'a', language: 'es' };
    expect(await selectVoice(stored, engine, requested)).toMatchObject({
      voice: { id: voice.id },
      language: 'es',
    });
  });

  it('is as written for an engine that does not know its languages', async () => {
    expect(await select({ language: 'xx' }, {})).toEqual({ voice: undefined, language: 'xx' });
  });

  it('is rejected with the supported languages', async () => {
    await expect(select({ language: 'de' })).rejects.toMatchObject({
      kind: 'invalid_request',
      param: 'language',
      code: 'unsupported_value',
      message: expect.stringMatching(/'de'.*tts-1.*en-US, es/),
    });
    const languageParam = 'session.audio.output.language';
    await expect(select({ language: 'de', languageParam })).rejects.toMatchObject({ param: languageParam });
  });
});

describe('hasNamedVoice', () => {
  const hasVoice = () => true;
  it('needs a model with a list of voices, or with the rules of OpenAI', () => {
    expect(hasNamedVoice(undefined, 'alloy')).toBe(false);
    expect(hasNamedVoice({ hasVoice }, 'alloy')).toBe(false);
    expect(hasNamedVoice({ hasVoice, voices: [] }, 'alloy')).toBe(true);
    expect(hasNamedVoice({ hasVoice, compatibility: 'openai' }, 'alloy')).toBe(true);
    expect(hasNamedVoice({ compatibility: 'openai' }, 'alloy')).toBe(false);
    expect(hasNamedVoice({ hasVoice: () => false, voices: [] }, 'alloy')).toBe(false);
  });

  it('is false for the id of a stored voice', () => {
    expect(hasNamedVoice({ hasVoice, voices: [] }, 'tts-vc-voice_1')).toBe(false);
  });
});

describe('the error of an unknown voice', () => {
  const messageOf = async (stored: StoredVoices, id: string, organization = 'a') =>
    selectVoice(stored, {}, { id, model: 'tts-1', param: 'voice', organization }).then(
      () => '',
      (error: Error) => error.message,
    );

  it('names the voice, the nearest one by id or name, and where voices are listed', async () => {
    const { voice, stored } = await setUp();
    const rule =
      "'voice' must be the id of a stored voice of your organization, or unset for the default voice";
    const hint = `Did you mean '${voice.id}'? ${rule}; GET /v1/audio/voices lists your voices.`;
    const typo = `${voice.id.slice(0, -1)}x`;
    expect(await messageOf(stored, typo)).toBe(`Unknown voice '${typo}'. ${hint}`);
    expect(await messageOf(stored, voice.name)).toBe(`Unknown voice '${voice.name}'. ${hint}`);
    expect(await messageOf(stored, 'alloy')).toBe(
      `Unknown voice 'alloy'. ${rule}; GET /v1/audio/voices lists your voices.`,
    );
  });

  const named = {
    voices: ['alloy', 'ash', 'af_alloy'].map((id) => ({ id }) as NamedVoice),
    hasVoice: () => false,
    voiceProblem: (name: string) => (name.includes('+') ? 'The blend is wrong.' : undefined),
  };
  const LISTED =
    "'voice' must be a voice of the model, as listed by GET /v1/audio/voices?model=tts-1, the id of a stored voice of your organization, or unset for the default voice.";

  it('names similar voices of the model, and where they are listed', async () => {
    const { voice, stored } = await setUp();
    const errorOf = (id: string) =>
      selectVoice(stored, named, { id, model: 'tts-1', param: 'voice', organization: 'a' }).then(
        () => '',
        (error: Error) => error.message,
      );
    expect(await errorOf('aloy')).toBe(`Unknown voice 'aloy'. Did you mean 'alloy'? ${LISTED}`);
    expect(await errorOf('a_alloy')).toBe(
      `Unknown voice 'a_alloy'. Did you mean 'alloy' or 'af_alloy'? ${LISTED}`,
    );
    expect(await errorOf('zzz')).toBe(`Unknown voice 'zzz'. ${LISTED}`);
    expect(await errorOf(voice.name)).toContain(`Did you mean '${voice.id}'?`);
    expect(await errorOf('alloy+x')).toBe(`Unknown voice 'alloy+x'. The blend is wrong. ${LISTED}`);
  });

  it('does not name voices of other organizations', async () => {
    const { voice, stored } = await setUp();
    expect(await messageOf(stored, voice.name, 'b')).not.toContain(voice.id);
  });
});
