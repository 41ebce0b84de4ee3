/** What loads send, and what is right to come back: made by the service itself before anything is broken. */

import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pcmToWav } from '../../src/audio/wav.ts';
import { smallClip } from '../../tools/harness/services/video-service.ts';
import type { Answer, SoakClient } from '../soak-client.ts';
import { EMBED_MODEL, HEARING_MODEL, VOICE_MODEL } from '../soak-config.ts';

export const SENTENCES = [
  'The harbour was quiet that morning, and only two of the boats had gone out.',
  'Do you have a table for four people on Friday evening?',
  'Nobody expected rain, but the clouds over the hills were growing darker by the minute.',
] as const;
/** Several pieces of speech, so that faults find it half-way. */
export const STORY = SENTENCES.join(' ').repeat(3);
/** Some megabytes of speech: more than buffers on the way to a client hold. */
export const TALE = STORY.repeat(3);
/** What the clip of a stored voice says. */
export const CLIP_TEXT = `${SENTENCES[0]} ${SENTENCES[2]}`;

export const PCM_RATE_HZ = 24_000;

/** A text as the service says and hears it. */
export interface Spoken {
  readonly text: string;
  /** 16-bit samples at 24 kHz. */
  readonly pcm: Uint8Array<ArrayBuffer>;
  readonly wav: Uint8Array<ArrayBuffer>;
  /** What the recogniser makes of it when nothing disturbs it. */
  readonly heard: string;
}

export interface Material {
  readonly sentences: readonly Spoken[];
  /** Bytes of {@link STORY} and {@link TALE} as PCM. */
  readonly storyBytes: number;
  readonly taleBytes: number;
  /** WAV of a speaker who says {@link CLIP_TEXT}. */
  readonly voiceClip: Uint8Array<ArrayBuffer>;
  /** MP4 of two seconds. */
  readonly videoClip: Uint8Array<ArrayBuffer>;
  /** Tokens of an embedding in addition to one per word of {@link wordsOfLength}. */
  readonly tokensAround: number;
}

/** A text of so many words, each of them one token. */
export const wordsOfLength = (words: number) => Array.from({ length: words }, () => 'one').join(' ');

/** @throws when the service does not do what it is asked although nothing disturbs it. */
export async function makeMaterial(client: SoakClient): Promise<Material> {
  const pcmOf = async (input: string) =>
    (await must(client.ask({ ...speechOf(input), rows: 'one' }), 'speech')).bytes;
  const sentences: Spoken[] = [];
  for (const text of SENTENCES) {
    const pcm = await pcmOf(text);
    const wav = pcmToWav(pcm, PCM_RATE_HZ);
    const heard = await must(client.ask({ ...transcriptionOf(wav), rows: 'one' }), 'a transcription');
    sentences.push({ text, pcm, wav, heard: heard.json<{ text: string }>().text });
  }
  const embedded = await must(
    client.ask({
      ...{ path: '/v1/embeddings', method: 'POST', rows: 'one' },
      body: { model: EMBED_MODEL, input: wordsOfLength(5) },
    }),
    'an embedding',
  );
  const folder = await mkdtemp(join(tmpdir(), 'soak-clip-'));
  try {
    return {
      sentences,
      storyBytes: (await pcmOf(STORY)).length,
      taleBytes: (await pcmOf(TALE)).length,
      voiceClip: pcmToWav(await pcmOf(CLIP_TEXT), PCM_RATE_HZ),
      videoClip: await smallClip(folder),
      tokensAround: embedded.json<{ usage: { prompt_tokens: number } }>().usage.prompt_tokens - 5,
    };
  } finally {
    await rm(folder, { recursive: true });
  }
}

async function must(asked: Promise<Answer | undefined>, what: string): Promise<Answer> {
  const answer = await asked;
  if (answer === undefined) throw new Error(`${what} failed before the first fault`);
  return answer;
}

export const speechOf = (input: string, fields: object = {}) => ({
  ...{ path: '/v1/audio/speech', method: 'POST' as const },
  body: { model: VOICE_MODEL, input, response_format: 'pcm', ...fields },
});

export function transcriptionOf(wav: Uint8Array<ArrayBuffer>, fields: Readonly<Record<string, string>> = {}) {
  const body = new FormData();
  for (const [name, value] of Object.entries({ model: HEARING_MODEL, ...fields })) body.set(name, value);
  body.set('file', new File([wav], 'speech.wav', { type: 'audio/wav' }));
  return { path: '/v1/audio/transcriptions', method: 'POST' as const, body };
}
