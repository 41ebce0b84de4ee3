/** Figures of a service with one execution provider: speech, transcription, embeddings and a language model over HTTP. */

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Float32Samples, LISTEN_RATE_HZ } from '../../src/contract/engines/audio.ts';
import { SERVICE_KEY } from '../../tools/harness/services/launcher.ts';
import { embeddingTexts } from '../batch/embedding-texts.ts';
import { streamChat } from '../llm/chat-client.ts';
import { appendFrames, atSocketRate } from '../realtime/appends.ts';
import { TimedClient } from '../realtime/client.ts';
import { type Service, speak, type TimedSpeech } from '../service.ts';
import { median, quantile } from '../statistics.ts';

/** Measured values with their units, by the name of the measure. */
export type Figures = Map<string, { readonly value: number; readonly unit: string }>;

export interface SpokenClip {
  readonly text: string;
  /** At {@link LISTEN_RATE_HZ}. */
  readonly samples: Float32Samples;
}

/** Sentences, most of them of 50 to 80 characters, of different lengths of speech. */
export const SENTENCES: readonly string[] = readFileSync(
  join(import.meta.dirname, '../corpus/texts.txt'),
  'utf8',
)
  .trim()
  .split('\n')
  .slice(12);
const SENTENCE_COUNT = 10;
const WARM_SENTENCES = 4;
const PARAGRAPH_CHARACTERS = 500;
const PARAGRAPH_COUNT = 4;
/** Concurrent streams, and the sentences that each of them requests one after the other. */
const STREAMS = [
  { streams: 1, sentences: 8 },
  { streams: 4, sentences: 4 },
  { streams: 16, sentences: 2 },
  { streams: 32, sentences: 2 },
] as const;
const COMMITS = 3;
const CHUNK_MS = 100;
/** Pause before the commit, so that all frames are read, as with a live client. */
const SETTLE_MS = 60;
const RECOGNISER = 'whisper base';
const WARM_CLIPS = 4;
const LISTENERS = 16;
const SINGLE_TEXTS = 30;
const BATCH_TEXTS = 64;
const BATCHES = 8;
const LONG_TOKENS = 256;
const PROMPT_WORDS = 700;
const WORDS = [...SENTENCES, ...SENTENCES].join(' ').split(' ');
const CHAT_ROUNDS = 4;
const CHAT_CLIENTS = 4;

/** Time to first audio and real-time factor of one request at a time, then of concurrent streams. */
export async function speechFigures(
  service: Service,
  model: string,
  name: string,
  into: Figures,
): Promise<void> {
  for (const text of SENTENCES.slice(-WARM_SENTENCES)) await speak(service, text, 'pcm', model);
  const texts = {
    'one sentence': SENTENCES.slice(0, SENTENCE_COUNT),
    '500 characters': paragraphs(PARAGRAPH_COUNT),
  };
  for (const [length, inputs] of Object.entries(texts)) {
    const first: TimedSpeech[] = [];
    const repeated: TimedSpeech[] = [];
    for (const input of inputs) {
      first.push(await speak(service, input, 'pcm', model));
      repeated.push(await speak(service, input, 'pcm', model));
    }
    into.set(`${name}, ${length}: time to first audio, p50`, {
      value: median(first.map(firstMs)),
      unit: 'ms',
    });
    into.set(`${name}, ${length}: real-time factor`, { value: realTimeFactor(first), unit: '' });
    into.set(`${name}, ${length}, same text again: time to first audio, p50`, {
      value: median(repeated.map(firstMs)),
      unit: 'ms',
    });
    into.set(`${name}, ${length}, same text again: real-time factor`, {
      value: realTimeFactor(repeated),
      unit: '',
    });
  }
  for (const { streams, sentences } of STREAMS)
    await streamFigures(service, model, name, streams, sentences, into);
}

/** Throughput and time to first audio of concurrent streams. */
export async function streamFigures(
  service: Service,
  model: string,
  name: string,
  streams: number,
  sentences: number,
  into: Figures,
): Promise<void> {
  const start = performance.now();
  const speeches = await Promise.all(
    Array.from({ length: streams }, async (_, stream) => {
      const all: TimedSpeech[] = [];
      for (let at = 0; at < sentences; at += 1) {
        all.push(
          await speak(service, SENTENCES[(stream * sentences + at) % SENTENCES.length] ?? '', 'pcm', model),
        );
      }
      return all;
    }),
  );
  const seconds = (performance.now() - start) / 1000;
  const all = speeches.flat();
  const audioS = all.reduce((sum, each) => sum + each.audioS, 0);
  const measure = `${name}, ${streams} concurrent streams`;
  into.set(`${measure}: audio per second`, { value: audioS / seconds, unit: 's' });
  into.set(`${measure}: time to first audio, p50`, { value: median(all.map(firstMs)), unit: 'ms' });
  into.set(`${measure}: time to first audio, p95`, { value: quantile(all.map(firstMs), 0.95), unit: 'ms' });
}

/** Time from commit to transcript over the WebSocket, of one client and of several. @returns the transcripts. */
export async function transcriptionFigures(
  service: Service,
  clips: readonly SpokenClip[],
  into: Figures,
): Promise<string[]> {
  const client = await openListener(service);
  for (const { samples } of clips.slice(0, WARM_CLIPS)) await commit(client, samples);
  const commits: { ms: number; text: string }[] = [];
  for (let round = 0; round < COMMITS; round += 1) {
    for (const { samples } of clips) commits.push(await commit(client, samples));
  }
  await client.close();
  const name = `${RECOGNISER}, commit to transcript`;
  const times = commits.map(({ ms }) => ms);
  const audioS = COMMITS * lengthS(clips);
  into.set(`${name}, p50`, { value: median(times), unit: 'ms' });
  into.set(`${name}, p95`, { value: quantile(times, 0.95), unit: 'ms' });
  into.set(`${name}: real-time factor`, {
    value: times.reduce((sum, ms) => sum + ms) / 1000 / audioS,
    unit: '',
  });

  const inputs = Array.from({ length: LISTENERS }, (_, at) => clips[at % clips.length]).filter(
    (clip) => clip !== undefined,
  );
  const clients = await Promise.all(inputs.map(() => openListener(service)));
  const start = performance.now();
  const together = await Promise.all(inputs.map(({ samples }, at) => commit(clients[at] ?? client, samples)));
  const seconds = (performance.now() - start) / 1000;
  await Promise.all(clients.map((each) => each.close()));
  const concurrent = `${RECOGNISER}, ${LISTENERS} clients commit at the same time`;
  into.set(`${concurrent}: audio per second`, { value: lengthS(inputs) / seconds, unit: 's' });
  into.set(`${concurrent}: commit to transcript, p95`, {
    value: quantile(
      together.map(({ ms }) => ms),
      0.95,
    ),
    unit: 'ms',
  });
  return commits.slice(0, clips.length).map(({ text }) => text);
}

async function openListener(service: Service): Promise<TimedClient> {
  const client = await TimedClient.open(service.baseUrl);
  await client.configure({ audio: { input: { transcription: { language: 'en' }, turn_detection: null } } });
  return client;
}

/** Sends a clip faster than real time, and commits it. */
async function commit(client: TimedClient, samples: Float32Samples): Promise<{ ms: number; text: string }> {
  for (const frame of appendFrames(atSocketRate(samples), CHUNK_MS)) client.sendFrame(frame);
  await Bun.sleep(SETTLE_MS);
  const startMs = client.send({ type: 'input_audio_buffer.commit' });
  for (;;) {
    const { type, atMs, transcript, error } = await client.next();
    if (type === 'conversation.item.input_audio_transcription.completed') {
      return { ms: atMs - startMs, text: transcript ?? '' };
    }
    if (error !== undefined) throw new Error(`${type}: ${error.message}`);
  }
}

function lengthS(clips: readonly SpokenClip[]): number {
  return clips.reduce((sum, { samples }) => sum + samples.length / LISTEN_RATE_HZ, 0);
}

/** Latency of one text and throughput of requests with many. @returns the vectors of a request. */
export async function embeddingFigures(service: Service, into: Figures): Promise<number[][]> {
  const texts = embeddingTexts(BATCHES * BATCH_TEXTS);
  const batches = Array.from({ length: BATCHES }, (_, at) =>
    texts.slice(at * BATCH_TEXTS, (at + 1) * BATCH_TEXTS),
  );
  for (const batch of batches.slice(0, 2)) await embed(service, batch);
  const singles: number[] = [];
  for (const text of texts.slice(0, SINGLE_TEXTS)) {
    const start = performance.now();
    await embed(service, [text]);
    singles.push(performance.now() - start);
  }
  into.set('all-MiniLM-L6-v2, one text, p50', { value: median(singles), unit: 'ms' });
  const start = performance.now();
  for (const batch of batches) await embed(service, batch);
  const each = (performance.now() - start) / 1000;
  into.set(`all-MiniLM-L6-v2, requests of ${BATCH_TEXTS} texts: texts per second`, {
    value: texts.length / each,
    unit: '',
  });
  const togetherStart = performance.now();
  await Promise.all(batches.map((batch) => embed(service, batch)));
  const together = (performance.now() - togetherStart) / 1000;
  into.set(`all-MiniLM-L6-v2, ${BATCHES} concurrent requests of ${BATCH_TEXTS} texts: texts per second`, {
    value: texts.length / together,
    unit: '',
  });
  return await embed(service, texts.slice(0, BATCH_TEXTS));
}

async function embed(service: Service, input: readonly string[]): Promise<number[][]> {
  const response = await service.fetch('/v1/embeddings', {
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization: `Bearer ${SERVICE_KEY}` },
    body: JSON.stringify({ model: 'all-minilm-l6-v2', input }),
  });
  if (!response.ok) throw new Error(`${response.status}: ${await response.text()}`);
  const { data } = (await response.json()) as { data: { embedding: number[] }[] };
  return data.map(({ embedding }) => embedding);
}

/** Rate of prompt tokens, and of generated tokens with one client and with several. @returns a greedy completion. */
export async function chatFigures(service: Service, model: string, into: Figures): Promise<string> {
  const sendRequest = (content: string, maxTokens: number) =>
    streamChat(service, SERVICE_KEY, { model, messages: [{ role: 'user', content }], max_tokens: maxTokens });
  await sendRequest('Hello.', 16);
  const prompts: number[] = [];
  const steps: number[] = [];
  for (let round = 0; round < CHAT_ROUNDS; round += 1) {
    const start = (round * PROMPT_WORDS) / CHAT_ROUNDS / 2;
    const { firstMs } = await sendRequest(
      `Round ${round}: ${WORDS.slice(start, start + PROMPT_WORDS).join(' ')}`,
      1,
    );
    prompts.push(firstMs);
    const story = await sendRequest(`Tell me a long story about the number ${round}.`, LONG_TOKENS);
    steps.push((story.lastMs - story.firstMs) / Math.max(1, story.tokens - 1));
  }
  into.set(`${model}, prompt of ${PROMPT_WORDS} words: time to first token, p50`, {
    value: median(prompts),
    unit: 'ms',
  });
  into.set(`${model}, one client: tokens per second`, { value: 1000 / median(steps), unit: '' });
  const start = performance.now();
  const together = await Promise.all(
    Array.from({ length: CHAT_CLIENTS }, (_, client) =>
      sendRequest(`Tell me a story about ${client} ships.`, LONG_TOKENS),
    ),
  );
  const tokens = together.reduce((sum, each) => sum + each.tokens, 0);
  into.set(`${model}, ${CHAT_CLIENTS} clients: tokens per second in total`, {
    value: (tokens * 1000) / (performance.now() - start),
    unit: '',
  });
  return (await sendRequest('Count from one to ten.', 64)).text;
}

/** Texts of about 500 characters. */
function paragraphs(count: number): string[] {
  const texts: string[] = [];
  let text = '';
  for (const sentence of [...SENTENCES, ...SENTENCES]) {
    text = text === '' ? sentence : `${text} ${sentence}`;
    if (text.length < PARAGRAPH_CHARACTERS) continue;
    texts.push(text);
    text = '';
  }
  return texts.slice(0, count);
}

function firstMs({ firstAudioS }: TimedSpeech): number {
  return firstAudioS * 1000;
}

function realTimeFactor(speeches: readonly TimedSpeech[]): number {
  const sum = (of: (each: TimedSpeech) => number) => speeches.reduce((total, each) => total + of(each), 0);
  return sum((each) => each.totalS) / sum((each) => each.audioS);
}
