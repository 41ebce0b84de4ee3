/** Transcription over HTTP, and memory during the transcription of the longest upload. */

import { Resampler } from '../../src/audio/resampler.ts';
import { encodeWav } from '../../src/audio/wav.ts';
import { LISTEN_RATE_HZ } from '../../src/contract/engines/audio.ts';
import { joined } from '../../tools/harness/media/sample-runs.ts';
import { launchService, NO_SPEAKER, NO_TEXT } from '../../tools/harness/services/launcher.ts';
import type { TranscriptionCorpus } from '../corpus/clip.ts';
import { readWav } from '../corpus/wav-file.ts';
import type { Row } from '../report.ts';
import { residentAloneKb, residentKb } from '../resident-memory.ts';
import type { Service } from '../service.ts';

const RUNS = 3;
/** 27 minutes of 16-bit samples at 8 kHz are slightly below the upload limit of 25 MiB. */
const MAX_S = 27 * 60;
const MAX_RATE_HZ = 8000;
const SAMPLE_EVERY_MS = 500;

/** Starts the service with these weights and measures it. */
export async function serviceRows(
  { timed }: TranscriptionCorpus,
  weights: string,
  notes: string[],
): Promise<Row[]> {
  const config = `${NO_SPEAKER}${NO_TEXT}
[models."svc-stt"]
kind = "whisper"
weights = "${weights}"
`;
  const service = await launchService({ config });
  try {
    const rows: Row[] = [];
    for (const group of ['3 s', '8 s', '25 s']) {
      const clips = timed.filter((clip) => clip.group === group);
      let sum = 0;
      for (const { audio } of clips) {
        const file = await Bun.file(audio).bytes();
        let best = Number.POSITIVE_INFINITY;
        for (let run = 0; run < RUNS; run++) best = Math.min(best, (await upload(service, file)).seconds);
        sum += best;
      }
      rows.push({ measure: `${group} as WAV over HTTP → final text`, ours: sum / clips.length, unit: 's' });
    }
    const longest = await maxWav(timed.find(({ group }) => group === '5 min')?.audio ?? '');
    const before = residentAloneKb(service.pid);
    const familyBefore = residentKb(service.pid);
    let [peak, familyPeak] = [before, familyBefore];
    const watch = setInterval(() => {
      peak = Math.max(peak, residentAloneKb(service.pid));
      familyPeak = Math.max(familyPeak, residentKb(service.pid));
    }, SAMPLE_EVERY_MS);
    const { seconds, text } = await upload(service, longest);
    clearInterval(watch);
    const words = text.split(' ').length;
    notes.push(
      `27 minutes at 8 kHz: ${words} words; the upload has ${Math.round(longest.length / 2 ** 20)} MiB.`,
    );
    rows.push(
      { measure: '27 minutes at 8 kHz over HTTP → final text', ours: seconds, unit: 's' },
      { measure: 'real-time factor of 27 minutes', ours: seconds / MAX_S, unit: '' },
      {
        measure: 'memory growth of the serving process in this time',
        ours: (peak - before) / 1024,
        unit: 'MiB',
      },
      {
        measure: 'memory growth of all processes in this time',
        ours: (familyPeak - familyBefore) / 1024,
        unit: 'MiB',
      },
    );
    return rows;
  } finally {
    await service.stop();
  }
}

async function upload(service: Service, file: Uint8Array<ArrayBuffer>) {
  const form = new FormData();
  form.set('model', 'svc-stt');
  form.set('language', 'en');
  form.set('response_format', 'json');
  form.set('file', new Blob([file]), 'speech.wav');
  const start = performance.now();
  const response = await service.fetch('/v1/audio/transcriptions', { method: 'POST', body: form });
  if (!response.ok) throw new Error(`${response.status}: ${await response.text()}`);
  const { text } = (await response.json()) as { text: string };
  return { text, seconds: (performance.now() - start) / 1000 };
}

/** The clip of five minutes, repeated and resampled to the rate of telephony. */
async function maxWav(path: string): Promise<Uint8Array<ArrayBuffer>> {
  const resampler = new Resampler({ fromHz: LISTEN_RATE_HZ, toHz: MAX_RATE_HZ, format: 'float32' });
  const once = joined([resampler.push(await readWav(path)), resampler.flush()]);
  resampler.close();
  const samples = new Float32Array(MAX_S * MAX_RATE_HZ);
  for (let at = 0; at < samples.length; at += once.length)
    samples.set(once.subarray(0, samples.length - at), at);
  return encodeWav(samples, MAX_RATE_HZ);
}
