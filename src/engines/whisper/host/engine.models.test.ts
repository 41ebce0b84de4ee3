import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type SttEngineUnderTest, sttEngineCases } from '../../../../test/contract/stt-engine.cases.ts';
import { IS_DEEP_TIER } from '../../../../test/harness/tier.ts';
import { noMetrics, silentLog } from '../../../../tools/harness/doubles/doubles.ts';
import { joined } from '../../../../tools/harness/media/sample-runs.ts';
import { SPOKEN_RATE_HZ, silence, speak } from '../../../../tools/harness/media/spoken.ts';
import { wordErrors } from '../../../../tools/harness/media/transcript-normalizer.ts';
import { openEngines } from '../../../../tools/harness/models/open-engines.ts';
import { Resampler } from '../../../audio/resampler.ts';
import { loadConfig } from '../../../config/config.ts';
import { type Float32Samples, LISTEN_RATE_HZ } from '../../../contract/engines/audio.ts';
import type { AudioChunk, Transcript } from '../../../contract/engines/engine.ts';
import { systemClock } from '../../../kit/clock.ts';

const TEXT = 'The old lighthouse keeper walked along the path above the harbour every evening.';
const REQUEST = {
  task: 'transcribe',
  timestamps: 'none',
  priority: 'interactive',
  fairnessKey: 'a',
} as const;
const LONG_TEXTS = [
  'Four friends from the village opened a small bakery near the railway station last spring.',
  'On Mondays they sell bread with walnuts, and on Fridays there are cakes with lemon.',
  'The station master buys two loaves each morning and never forgets to say thank you.',
  'In the summer the queue reaches the bridge, and children play near the river while they wait.',
  'Nobody knows how the oldest of them keeps the fire so even, but everybody has a theory.',
  'Some say it is the wood, others say it is the song that he sings while he works.',
];

/** Synthesizes texts at 16 kHz, with one second of silence after each. */
async function synthesize(texts: readonly string[]): Promise<Float32Samples> {
  const chunks = (await speak(texts)).flatMap((samples) => [samples, silence(1000)]);
  const resampler = new Resampler({ fromHz: SPOKEN_RATE_HZ, toHz: LISTEN_RATE_HZ, format: 'float32' });
  try {
    return joined([resampler.push(joined(chunks)), resampler.flush()]);
  } finally {
    resampler.close();
  }
}

let opened: Promise<SttEngineUnderTest> | undefined;
afterAll(async () => (await opened)?.close());

/** The default transcription model in one process, which all tests of this file share. */
function openWhisper(): Promise<SttEngineUnderTest> {
  opened ??= loadWhisper();
  return opened;
}

async function loadWhisper(): Promise<SttEngineUnderTest> {
  const { slots, close } = await openEngines({
    needs: new Set(['stt']),
    models: { transcription: new Map([['it', { kind: 'whisper', weights: 'base' }]]) },
    inference: { provider: 'cpu', workers: 1, threads: 1, queueLimit: 64, environment: {} },
    modelsDir: loadConfig(process.env).modelsDir,
    clock: systemClock,
    log: silentLog,
    metrics: noMetrics,
  });
  const engine = slots.stt?.get('it');
  if (engine === undefined) throw new Error('the table lacks its only model');
  return { engine, speech: await synthesize([TEXT]), close };
}

sttEngineCases('whisper', async () => ({ ...(await openWhisper()), close: async () => undefined }));

it('spells names as the keywords do, in every window', async () => {
  const { engine } = await openWhisper();
  const text = 'Please ask Catherine Smyth and John about the summer house.';
  async function transcribed(texts: readonly string[], keywords?: readonly string[]): Promise<string> {
    const speech = await synthesize(texts);
    async function* audio(): AsyncGenerator<AudioChunk> {
      yield speech;
    }
    const { signal } = new AbortController();
    const request = { ...REQUEST, keywords };
    for await (const event of engine.transcribe(audio(), request, signal))
      if (event.kind === 'final') return event.transcript.text;
    throw new Error('no final');
  }
  const keywords = ['Kathryn Smyth', 'Jon'];
  const [usual, hinted] = [/Catherine Sm.*\bJohn\b/, /Kathryn\b.*\bJon\b/];
  expect(await transcribed([text])).toMatch(usual);
  expect(await transcribed([text], keywords)).toMatch(hinted);
  const long = [text, ...LONG_TEXTS, text];
  expect((await transcribed(long, keywords)).match(/\bJon\b/g)).toHaveLength(2);
  if (IS_DEEP_TIER) expect((await transcribed(long)).match(/\bJohn\b/g)).toHaveLength(2);
});

describe('audio of several windows', () => {
  const never = new AbortController().signal;
  let subject: SttEngineUnderTest;
  let speech: Float32Samples;
  beforeAll(async () => {
    subject = await openWhisper();
    speech = await synthesize(LONG_TEXTS);
  });

  async function* chunks(length: number): AsyncGenerator<AudioChunk> {
    for (let start = 0; start < speech.length; start += length) {
      yield speech.slice(start, start + length);
      yield 'pause';
    }
  }

  async function transcript(audio: AsyncIterable<AudioChunk>): Promise<Transcript> {
    const request = { ...REQUEST, timestamps: 'word' } as const;
    for await (const event of subject.engine.transcribe(audio, request, never)) {
      if (event.kind === 'final') return event.transcript;
    }
    throw new Error('no final');
  }

  it('loses no word between windows, and has the same transcript for any chunk size', async () => {
    expect(speech.length / LISTEN_RATE_HZ).toBeGreaterThan(32);
    const whole = await transcript(chunks(speech.length));
    // `whisper-windows.test.ts` compares the windows themselves.
    if (IS_DEEP_TIER) expect(await transcript(chunks(7777))).toEqual(whole);
    const { errors, words } = wordErrors(LONG_TEXTS.join(' '), whole.text);
    expect(words).toBeGreaterThan(90);
    expect(errors).toBeLessThanOrEqual(4);
    let lastS = 0;
    for (const { startS, endS } of whole.words) {
      expect(startS).toBeGreaterThanOrEqual(lastS);
      lastS = endS;
    }
    expect(lastS).toBeLessThanOrEqual(whole.durationS);
  });
});
