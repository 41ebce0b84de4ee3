/** Cost of the encoded formats of speech: time to the first byte, CPU, and words that a transcription loses. */

import { join } from 'node:path';
import { pcmToWav } from '../../../src/audio/wav.ts';
import { SPEECH_RATE_HZ } from '../../../src/contract/engines/audio.ts';
import { ENCODED_FORMATS, type EncodedFormat } from '../../../src/contract/engines/audio-encoder.ts';
import { silenceFfmpeg } from '../../../src/media/process/ffmpeg-log.ts';
import { SpeechFile } from '../../../src/media/speech/speech-file.ts';
import { type SpokenText, wordErrors } from '../../../tools/harness/media/transcript-normalizer.ts';
import { childrenOf, INFERENCE, launchService, NO_TEXT } from '../../../tools/harness/services/launcher.ts';
import { cpuMs } from '../../processes.ts';
import { type Row, report } from '../../report.ts';
import type { Service } from '../../service.ts';

const ROUNDS = 9;
const CPU_ROUNDS = 3;
const MODEL = 'tts-1';
const SENTENCE = 'Hello there, how can I help you today?';
const PARAGRAPH =
  'It was the best of times, it was the worst of times. It was the age of wisdom, it was the age of foolishness. ' +
  'It was the epoch of belief, it was the epoch of incredulity. It was the season of light, it was the season of darkness.';
const TEXTS = join(import.meta.dirname, '../../../tools/harness/media/spoken-texts.jsonl');
const ENCODERS = 'media/speech/worker';
const FIRST_BYTE_TARGET_MS = 60;
const CPU_TARGET_PERCENT = 3;
const WORDS_TARGET_POINTS = 0.5;
const HEADERS = { authorization: 'Bearer test-key-of-a' };

interface Spoken {
  readonly firstByteMs: number;
  readonly body: Uint8Array;
}

async function speak(service: Service, input: string, response_format: string): Promise<Spoken> {
  const start = performance.now();
  const response = await service.fetch('/v1/audio/speech', {
    method: 'POST',
    headers: { ...HEADERS, 'content-type': 'application/json' },
    body: JSON.stringify({ model: MODEL, input, response_format }),
  });
  if (!response.ok || !response.body) throw new Error(`${response.status}: ${await response.text()}`);
  let firstByteMs: number | undefined;
  const chunks: Uint8Array[] = [];
  for await (const chunk of response.body) {
    firstByteMs ??= performance.now() - start;
    chunks.push(chunk);
  }
  return { firstByteMs: firstByteMs ?? Number.NaN, body: Buffer.concat(chunks) };
}

async function transcribe(service: Service, file: Uint8Array, name: string): Promise<string> {
  const body = new FormData();
  body.append('model', 'whisper-1');
  body.append('language', 'en');
  body.append('file', new File([Uint8Array.from(file)], name));
  const response = await service.fetch('/v1/audio/transcriptions', {
    method: 'POST',
    headers: HEADERS,
    body,
  });
  if (!response.ok) throw new Error(`${response.status}: ${await response.text()}`);
  return ((await response.json()) as { text: string }).text;
}

const median = (values: readonly number[]) =>
  values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? Number.NaN;

/** Rounds with each format in turn, so that other load on the machine affects all of them. */
async function firstBytes(service: Service): Promise<Row[]> {
  const times = new Map<string, number[]>(['pcm', 'wav', ...ENCODED_FORMATS].map((format) => [format, []]));
  for (let round = 0; round < ROUNDS; round++) {
    for (const [format, values] of times) values.push((await speak(service, SENTENCE, format)).firstByteMs);
  }
  const pcm = median(times.get('pcm') ?? []);
  return [...times]
    .filter(([format]) => format !== 'pcm')
    .map(([format, values]) => ({
      measure: `first byte, ${format}`,
      ours: median(values),
      peer: pcm,
      unit: 'ms',
      target: FIRST_BYTE_TARGET_MS,
      judged: 'difference' as const,
    }));
}

async function cpuShares(service: Service): Promise<Row[]> {
  const rows: Row[] = [];
  const inference = childrenOf(service.pid, INFERENCE);
  const encoders = childrenOf(service.pid, ENCODERS);
  const total = (pids: readonly number[]) => pids.reduce((sum, pid) => sum + cpuMs(pid), 0);
  for (const format of ENCODED_FORMATS) {
    const before = [total(encoders), total(inference)] as const;
    for (let round = 0; round < CPU_ROUNDS; round++) await speak(service, PARAGRAPH, format);
    const [encoding, synthesis] = [total(encoders) - before[0], total(inference) - before[1]];
    rows.push({
      measure: `CPU of the encoder process as a share of synthesis, ${format}`,
      unit: '%',
      ours: (100 * encoding) / synthesis,
      target: CPU_TARGET_PERCENT,
    });
  }
  return rows;
}

async function encodedFile(format: EncodedFormat, pcm: Uint8Array): Promise<Uint8Array> {
  const file = await SpeechFile.open(format);
  const bytes = Buffer.concat([file.encode(pcm), file.finish()]);
  file.close();
  return bytes;
}

/** The same samples in each format, so that only the encoding differs. */
async function wordErrorRates(service: Service): Promise<Row[]> {
  silenceFfmpeg();
  const texts: SpokenText[] = (await Bun.file(TEXTS).text())
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line));
  const errors = new Map<string, number>();
  let words = 0;
  for (const { text, spoken } of texts) {
    const { body: pcm } = await speak(service, text, 'pcm');
    const files = new Map<string, Uint8Array>([['wav', pcmToWav(pcm, SPEECH_RATE_HZ)]]);
    for (const format of ENCODED_FORMATS) files.set(format, await encodedFile(format, pcm));
    for (const [format, file] of files) {
      const result = wordErrors(spoken, await transcribe(service, file, `speech.${format}`));
      errors.set(format, (errors.get(format) ?? 0) + result.errors);
      if (format === 'wav') words += result.words;
    }
  }
  const rate = (format: string) => (100 * (errors.get(format) ?? 0)) / words;
  return ENCODED_FORMATS.map((format) => ({
    measure: `word error rate, ${format}, ${texts.length} texts, ${words} words`,
    ours: rate(format),
    peer: rate('wav'),
    unit: '%',
    target: WORDS_TARGET_POINTS,
    judged: 'difference' as const,
  }));
}

export async function benchSpeechFormats(): Promise<void> {
  const service = await launchService({ config: NO_TEXT });
  try {
    const rows: Row[] = [];
    await speak(service, 'Warm up.', 'pcm');
    const withoutProcess = await speak(service, SENTENCE, 'mp3');
    const afterwards = await speak(service, SENTENCE, 'pcm');
    rows.push({
      measure: 'first byte, mp3, the request that starts the process',
      ours: withoutProcess.firstByteMs,
      peer: afterwards.firstByteMs,
      unit: 'ms',
      target: FIRST_BYTE_TARGET_MS,
      judged: 'difference',
    });
    rows.push(...(await firstBytes(service)), ...(await cpuShares(service)));
    rows.push(...(await wordErrorRates(service)));
    await report('speech-formats', 'Formats of speech compared with samples', rows, [
      `First bytes: the median of ${ROUNDS} requests over HTTP with Kokoro; the baseline is pcm.`,
      'CPU: Kokoro, a paragraph of 14 s.',
      'Words: Kokoro, transcribed by Whisper base of this service; the baseline is the same samples as wav.',
    ]);
  } finally {
    await service.stop();
  }
}
