/** Time to the first byte of a reply, compared with `POST /v1/audio/speech` for the same text. */

import { SERVICE_KEY } from '../../tools/harness/services/launcher.ts';
import type { Measured } from '../realtime/measured.ts';
import type { Row } from '../report.ts';
import type { Service } from '../service.ts';
import { median } from '../statistics.ts';

const TARGET = 1.1;
const RUNS = 25;
/** Time until an aborted request has stopped. */
const SETTLE_MS = 400;
const TEXTS = {
  short: 'Hello there, how can I help you today?',
  sentence:
    'Long inputs are split internally at sentence boundaries and returned as one audio response, and the audio length scales linearly with the input length.',
};
/** Sample rates of speech over HTTP and of telephony. */
const RATES_HZ = [24_000, 8000];

/** Latency from the request to the first bytes, alternating between both endpoints. */
export async function voiceFirstRows(service: Service): Promise<Measured> {
  const rows: Row[] = [];
  for (const rateHz of RATES_HZ) {
    for (const [name, text] of Object.entries(TEXTS)) {
      const ours: number[] = [];
      const theirs: number[] = [];
      // The first run of each warms up.
      for (let run = 0; run <= RUNS; run++) {
        const message = { type: 'voice-request', text, sampleRate: rateHz };
        const partner = await firstBytesMs(service, '/v1/voices/partner?model=svc-tts', { message });
        const speech = { model: 'svc-tts', input: text, response_format: 'pcm' };
        const plain = await firstBytesMs(service, '/v1/audio/speech', speech);
        if (run === 0) continue;
        ours.push(partner);
        theirs.push(plain);
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
  return {
    rows,
    notes: [`First bytes: median of ${RUNS} alternating runs, aborted after the first bytes.`],
  };
}

/** Sends a request and aborts it after the first bytes. @returns the latency in ms. */
async function firstBytesMs(service: Service, path: string, body: object): Promise<number> {
  const controller = new AbortController();
  const startMs = performance.now();
  const response = await service.fetch(path, {
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization: `Bearer ${SERVICE_KEY}` },
    body: JSON.stringify(body),
    signal: controller.signal,
  });
  if (!response.ok || !response.body) throw new Error(`${path}: ${response.status} ${await response.text()}`);
  const { done } = await response.body.getReader().read();
  if (done) throw new Error(`${path}: no audio`);
  const ms = performance.now() - startMs;
  controller.abort();
  await Bun.sleep(SETTLE_MS);
  return ms;
}
