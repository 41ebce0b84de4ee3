import type { SoakClient } from '../site/soak-client.ts';
import { CLONED_MODEL } from '../site/soak-config.ts';
import type { Load } from './load.ts';
import { CLIP_TEXT, type Material, SENTENCES, speechOf } from './material.ts';

interface VoiceOnWire {
  readonly voice_id: string;
}

async function voiceRound(client: SoakClient, { voiceClip }: Material, at: number): Promise<void> {
  const body = new FormData();
  const fields = { name: `Voice ${at}`, consent: 'The speaker agrees.', ref_text: CLIP_TEXT };
  for (const [name, value] of Object.entries(fields)) body.set(name, value);
  body.set('audio_sample', new File([voiceClip], 'clip.wav', { type: 'audio/wav' }));
  const stored = await client.sendRequest({ path: '/v1/audio/voices', method: 'POST', body, rows: 'one' });
  if (stored === undefined) return;
  const { voice_id } = stored.json<VoiceOnWire>();
  const path = `/v1/audio/voices/${voice_id}`;
  client.keep('voice', voice_id, `${path}/audio`, voiceClip);
  await client.sendRequest({
    ...speechOf(SENTENCES[1], { model: CLONED_MODEL, voice: voice_id }),
    rows: 'one',
    // The length depends on the voice, but is more than 0.5 s.
    judge: ({ bytes }) =>
      bytes.length > 24_000 ? undefined : { end: 'wrong', detail: 'less than 0.5 s of speech' },
  });
  if (at % 2 === 0) await client.drop('voice', voice_id, path);
}

/** Creates voices, synthesizes speech with them, and mostly deletes them. */
export const voiceLoad: Load = {
  name: 'voices',
  organization: 'voices',
  site: 'main',
  pauseMs: 12_000,
  round: voiceRound,
};
