import { type Deviation, type SoakResponse, shareOfWords, sseValues } from '../site/soak-client.ts';
import type { Load } from './load.ts';
import { type Spoken, transcriptionOf } from './material.ts';

/** Minimum share of the words of the expected transcript. */
const MIN_SHARE = 0.9;

/** Whether a text is the transcript of a speech. */
export function transcriptViolation(expected: string, actual: string): Deviation {
  const share = shareOfWords(expected, actual);
  if (share >= MIN_SHARE) return undefined;
  return { end: 'wrong', detail: `a transcript with ${Math.round(share * 100)} % of the words` };
}

/** Assesses a streamed transcription. */
function streamedDeviation(expected: string, response: SoakResponse): Deviation {
  const values = sseValues(response.text()).filter((value) => value !== '[DONE]');
  if (values.some((value) => value.error !== undefined || value.type === 'error')) {
    return { end: 'failed', detail: 'an error event' };
  }
  const last = values.at(-1);
  if (last?.type !== 'transcript.text.done') return { end: 'wrong', detail: 'a stream without its end' };
  return transcriptViolation(expected, String(last.text));
}

/** Recordings to text, whole and streamed, and clients that leave half-way. */
export const transcriptionLoad: Load = {
  name: 'transcriptions',
  organization: 'transcriptions',
  site: 'main',
  pauseMs: 3000,
  async round(client, { sentences }, at) {
    const { wav, transcript } = sentences[at % sentences.length] as Spoken;
    if (at % 5 === 4) {
      const leaveAfterMs = 20 + client.parts.random() * 300;
      await client.sendRequest({ ...transcriptionOf(wav), rows: 'one', leaveAfterMs });
      return;
    }
    const isStreamed = at % 2 === 1;
    await client.sendRequest({
      ...transcriptionOf(wav, isStreamed ? { stream: 'true' } : {}),
      rows: 'one',
      judge: (response) =>
        isStreamed
          ? streamedDeviation(transcript, response)
          : transcriptViolation(transcript, response.json<{ text: string }>().text),
    });
  },
};
