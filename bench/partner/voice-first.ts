/** How soon the first bytes of a piece of a reply come, beside the same text of `POST /v1/audio/speech`. */

import { CallPlatform } from '../../test/support/call-simulator-platform.ts';
import { SERVICE_KEY } from '../../test/support/launcher.ts';
import type { Measured } from '../realtime/measured.ts';
import type { Row } from '../report.ts';
import { type Service, speak } from '../service.ts';
import { median } from '../statistics.ts';

const TARGET = 1.1;
const RUNS = 25;
const TEXTS = {
  short: 'Hello there, how can I help you today?',
  sentence:
    'Long inputs are split internally at sentence boundaries and returned as one audio response, and the audio length scales linearly with the input length.',
};
/** That of speech over HTTP, and that of a telephone. */
const RATES_HZ = [24_000, 8000];

/** From the request to the first bytes, the two in turn. */
export async function voiceFirstRows(service: Service): Promise<Measured> {
  const platform = new CallPlatform({ baseUrl: service.baseUrl, key: SERVICE_KEY });
  const rows: Row[] = [];
  for (const rateHz of RATES_HZ) {
    for (const [name, text] of Object.entries(TEXTS)) {
      const ours: number[] = [];
      const theirs: number[] = [];
      // The first run of each warms up.
      for (let run = 0; run <= RUNS; run++) {
        const spoken = await platform.speak(text, rateHz, () => undefined, AbortSignal.timeout(30_000));
        const heard = await speak(service, text);
        if (run === 0) continue;
        ours.push(spoken.firstMs);
        theirs.push(heard.firstAudioS * 1000);
      }
      rows.push({
        measure: `voice, first bytes at ${rateHz} Hz, ${name}; peer: POST /v1/audio/speech (pcm)`,
        ours: median(ours),
        peer: median(theirs),
        unit: 'ms',
        target: TARGET,
      });
    }
  }
  return { rows, notes: [`First bytes: median of ${RUNS} runs, both read to their end, in turn.`] };
}
