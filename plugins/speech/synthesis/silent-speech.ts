import { SPEECH_RATE_HZ } from '../../../src/contract/engines/audio.ts';
import type { Speech } from '../../../src/speak/speech-requests.ts';

/** As long as the pause of a full stop. */
const SILENCE_MS = 500;
const BYTES_PER_SAMPLE = 2;
const WORDS = /[\p{L}\p{N}]/u;

/**
 * The speech of a text without letters and digits, such as `.` or an emoji: silence that is not billed, because clients of OpenAI
 * expect a file. They test a key with a full stop, and send the sentences of an answer one by one.
 * @returns undefined if the text has letters or digits: they are of a language that the model cannot speak.
 */
export function silentSpeech(text: string): Speech | undefined {
  if (WORDS.test(text)) return undefined;
  return { audio: silence(), tokens: () => ({ input: 0, output: 0 }) };
}

async function* silence(): Speech['audio'] {
  yield new Uint8Array((SILENCE_MS / 1000) * SPEECH_RATE_HZ * BYTES_PER_SAMPLE);
}
