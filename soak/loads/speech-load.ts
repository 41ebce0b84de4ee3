import type { Deviation, SoakResponse } from '../site/soak-client.ts';
import type { Load } from './load.ts';
import { type Spoken, STORY, speechOf } from './material.ts';

const WAV_HEADER_BYTES = 44;

/** Assesses the length of a response. Synthesis is deterministic. */
export const ofLength =
  (bytes: number) =>
  (response: SoakResponse): Deviation =>
    response.bytes.length === bytes
      ? undefined
      : { end: 'wrong', detail: `${response.bytes.length} bytes of speech instead of ${bytes}` };

/** Speech as PCM and WAV, short and long, and clients that disconnect half-way. */
export const speechLoad: Load = {
  name: 'speech',
  organization: 'speech',
  site: 'main',
  pauseMs: 1500,
  async round(client, { sentences, storyBytes }, at) {
    const { text, pcm } = sentences[at % sentences.length] as Spoken;
    switch (at % 4) {
      case 0:
        await client.sendRequest({ ...speechOf(text), rows: 'one', judge: ofLength(pcm.length) });
        break;
      case 1: {
        const judge = ofLength(pcm.length + WAV_HEADER_BYTES);
        await client.sendRequest({ ...speechOf(text, { response_format: 'wav' }), rows: 'one', judge });
        break;
      }
      case 2:
        await client.sendRequest({ ...speechOf(STORY), rows: 'one', judge: ofLength(storyBytes) });
        break;
      default: {
        const leaveAfterMs = 20 + client.parts.random() * 600;
        await client.sendRequest({ ...speechOf(STORY), rows: 'one', leaveAfterMs });
      }
    }
  },
};
