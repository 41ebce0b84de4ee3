/** The service with `ORT_PROVIDER=cuda`, compared with the CPU of the same machine. Needs a GPU and `bun run setup --gpu`. */

import { join } from 'node:path';
import { decodeToFloat32 } from '../../../src/audio/codec.ts';
import { type Float32Samples, LISTEN_RATE_HZ } from '../../../src/contract/engines/audio.ts';
import { RECORDINGS_FOLDER } from '../../../tools/harness/media/recordings.ts';
import { wordErrors } from '../../../tools/harness/media/transcript-normalizer.ts';
import {
  launchService,
  NO_EMBEDDINGS,
  NO_RECOGNISER,
  NO_SPEAKER,
  NO_TEXT,
} from '../../../tools/harness/services/launcher.ts';
import { toListenRate } from '../../corpus/wav-file.ts';
import {
  chatFigures,
  embeddingFigures,
  type Figures,
  SENTENCES,
  type SpokenClip,
  speechFigures,
  streamFigures,
  transcriptionFigures,
} from '../../gpu/figures.ts';
import { similarity } from '../../gpu/similarity.ts';
import { type Row, report } from '../../report.ts';
import { type Service, speak } from '../../service.ts';
import { mean } from '../../statistics.ts';

type Provider = 'cuda' | 'cpu';

const CHAT_MODEL = 'smollm2-135m-instruct';
const SPEECH_RATE_HZ = 24_000;
const CLIP_COUNT = 8;
/** Numbers of inference processes, compared with 16 concurrent streams on the GPU. */
const WORKERS = [1, 8];
const WORKER_STREAMS = 16;

const WITHOUT_TEXT = `
[models."svc-tts"]
kind = "kokoro"

[models."svc-tts-fast"]
kind = "piper"

[models."${CHAT_MODEL}"]
kind = "upstream"
base_url = "http://127.0.0.1:9/v1"
model = "none"
`;
const TEXT_ONLY = `
[models."${CHAT_MODEL}"]
kind = "llama"
weights = "${CHAT_MODEL}"
${NO_SPEAKER}${NO_RECOGNISER}${NO_EMBEDDINGS}`;
const kokoroOnly = (workers: number) => `
[inference]
workers = ${workers}

[models."svc-tts"]
kind = "kokoro"
${NO_RECOGNISER}${NO_TEXT}`;

interface ProviderResult {
  readonly figures: Figures;
  /** Speech of {@link SENTENCES} at {@link SPEECH_RATE_HZ}. */
  readonly kokoro: readonly Float32Samples[];
  readonly piper: readonly Float32Samples[];
  readonly transcripts: readonly string[];
  readonly vectors: readonly (readonly number[])[];
  readonly completion: string;
}

export async function benchGpu(): Promise<void> {
  const gpu = queryGpu('name,driver_version,memory.total');
  if (gpu === undefined) {
    console.error('gpu: skipped, because nvidia-smi finds no GPU.');
    return;
  }
  const notes = [`GPU, driver, memory: ${gpu}.`];
  const recorded = await recordedClips();
  const clipsOf = (kokoro: readonly Float32Samples[]) => [
    ...recorded,
    ...kokoro.map((samples, at) => ({
      text: SENTENCES[at] ?? '',
      samples: toListenRate(samples, SPEECH_RATE_HZ),
    })),
  ];
  const cuda = await measure('cuda', clipsOf, notes);
  const workers: Figures = new Map();
  for (const count of WORKERS) await workerFigures(count, workers);
  // Both providers transcribe the same clips: those of the GPU.
  const cpu = await measure('cpu', () => clipsOf(cuda.kokoro), notes);
  const clips = clipsOf(cuda.kokoro);

  const rows: Row[] = [...cuda.figures].map(([name, { value, unit }]) => {
    const peer = cpu.figures.get(name)?.value;
    return { measure: name, ours: value, unit, ...(peer !== undefined && { peer }) };
  });
  for (const [name, { value, unit }] of workers) rows.push({ measure: name, ours: value, unit });
  for (const [name, ours, peer] of [
    ['kokoro', cuda.kokoro, cpu.kokoro],
    ['piper', cuda.piper, cpu.piper],
  ] as const) {
    const all = ours.map((samples, at) => similarity(samples, peer[at] ?? samples));
    notes.push(
      `${name}, speech of both providers, ${all.length} sentences: maximum difference of the length ${Math.max(...all.map((each) => each.lengthDifference))} samples, mean correlation of the envelope ${mean(all.map((each) => each.envelopeCorrelation)).toFixed(4)}, minimum ${Math.min(...all.map((each) => each.envelopeCorrelation)).toFixed(4)}, mean correlation of the samples ${mean(all.map((each) => each.sampleCorrelation)).toFixed(4)}, maximum difference of the level ${Math.max(...all.map((each) => each.levelDifferenceDb)).toFixed(2)} dB.`,
    );
  }
  const same = cuda.transcripts.filter((text, at) => text === cpu.transcripts[at]).length;
  notes.push(
    `Transcripts: ${same} of ${clips.length} identical. Word errors: ${errorsOf(cuda.transcripts, clips)} on the GPU, ${errorsOf(cpu.transcripts, clips)} on the CPU.`,
  );
  cuda.transcripts.forEach((text, at) => {
    if (text !== cpu.transcripts[at]) notes.push(`GPU: "${text}", CPU: "${cpu.transcripts[at]}".`);
  });
  const difference = Math.max(
    ...cuda.vectors.flatMap((vector, at) =>
      vector.map((value, i) => Math.abs(value - (cpu.vectors[at]?.[i] ?? Number.NaN))),
    ),
  );
  notes.push(
    `Embeddings: maximum difference of an element of a vector ${difference.toExponential(1)}.`,
    `Greedy completions of both providers are ${cuda.completion === cpu.completion ? 'identical' : 'different'}.`,
  );
  await report('gpu', 'CUDA compared with the CPU of the same machine', rows, notes);
}

async function measure(
  provider: Provider,
  clipsOf: (kokoro: readonly Float32Samples[]) => readonly SpokenClip[],
  notes: string[],
): Promise<ProviderResult> {
  const figures = loggedFigures(provider);
  const startMs = performance.now();
  const service = await launch(provider, WITHOUT_TEXT);
  const [kokoro, piper, transcripts, vectors] = [[], [], [], []] as [
    Float32Samples[],
    Float32Samples[],
    string[],
    number[][],
  ];
  const part = async (name: string, run: () => Promise<void>) => {
    try {
      await run();
    } catch (error) {
      notes.push(`${provider}: ${name} failed: ${error instanceof Error ? error.message : String(error)}.`);
    }
  };
  try {
    notes.push(`${provider}: first start with the conversion of the models ${seconds(startMs)} s.`);
    noteMemory(provider, 'after the start', notes);
    await part('kokoro', async () => {
      kokoro.push(...(await spoken(service, 'svc-tts')));
      await speechFigures(service, 'svc-tts', 'kokoro', figures);
    });
    await part('embeddings', async () => {
      vectors.push(...(await embeddingFigures(service, figures)));
    });
    await part('transcription', async () => {
      transcripts.push(...(await transcriptionFigures(service, clipsOf(kokoro), figures)));
    });
    await part('piper', async () => {
      piper.push(...(await spoken(service, 'svc-tts-fast')));
      await speechFigures(service, 'svc-tts-fast', 'piper', figures);
    });
    noteMemory(provider, 'after the measurement', notes);
    for (const line of service.output().split('\n'))
      if (/"level":"(warn|error)"/.test(line)) console.error(line);
    await service.stop();
    let completion = '';
    await part(CHAT_MODEL, async () => {
      completion = await measureChat(provider, figures, notes);
    });
    return { figures, kokoro, piper, transcripts, vectors, completion };
  } finally {
    await service.stop();
  }
}

async function measureChat(provider: Provider, figures: Figures, notes: string[]): Promise<string> {
  const startMs = performance.now();
  const service = await launch(provider, TEXT_ONLY);
  try {
    notes.push(`${provider}: start with ${CHAT_MODEL} only ${seconds(startMs)} s.`);
    const completion = await chatFigures(service, CHAT_MODEL, figures);
    noteMemory(provider, `with ${CHAT_MODEL} only`, notes);
    return completion;
  } finally {
    await service.stop();
  }
}

async function workerFigures(workers: number, into: Figures): Promise<void> {
  const figures = loggedFigures('cuda');
  const service = await launch('cuda', kokoroOnly(workers));
  try {
    for (const text of SENTENCES.slice(-2 * WORKER_STREAMS)) await speak(service, text);
    await streamFigures(service, 'svc-tts', `kokoro, workers = ${workers}`, WORKER_STREAMS, 2, figures);
    for (const [name, figure] of figures) into.set(name, figure);
  } finally {
    await service.stop();
  }
}

function launch(provider: Provider, config: string): Promise<Service> {
  return launchService({ config, env: { ORT_PROVIDER: provider } });
}

async function spoken(service: Service, model: string): Promise<Float32Samples[]> {
  const all: Float32Samples[] = [];
  for (const text of SENTENCES.slice(0, CLIP_COUNT)) {
    all.push(decodeToFloat32((await speak(service, text, 'pcm', model)).body, 'pcm16'));
  }
  return all;
}

/** Two recordings of human speech of 5 s: the channels of a stereo file of 16-bit samples at {@link LISTEN_RATE_HZ}. */
async function recordedClips(): Promise<SpokenClip[]> {
  const file = await Bun.file(join(RECORDINGS_FOLDER, 'stereo_diarization.wav')).bytes();
  const both = decodeToFloat32(file.subarray(44), 'pcm16');
  const texts = [
    'He began a confused complaint against the wizard who had vanished behind the curtain on the left.',
    'The horizon seems extremely distant.',
  ];
  return texts.map((text, channel) => ({ text, samples: both.filter((_, at) => at % 2 === channel) }));
}

function errorsOf(transcripts: readonly string[], clips: readonly SpokenClip[]): string {
  const all = clips.map(({ text }, at) => wordErrors(text, transcripts[at] ?? ''));
  const sum = (of: (each: { errors: number; words: number }) => number) =>
    all.reduce((total, each) => total + of(each), 0);
  return `${sum((each) => each.errors)} of ${sum((each) => each.words)} words`;
}

/** Figures that are also printed when they are measured. */
function loggedFigures(provider: Provider): Figures {
  const figures: Figures = new Map();
  const set = figures.set.bind(figures);
  figures.set = (name, figure) => {
    console.error(`${provider}: ${name}: ${figure.value.toPrecision(4)} ${figure.unit}`);
    return set(name, figure);
  };
  return figures;
}

function noteMemory(provider: Provider, when: string, notes: string[]): void {
  if (provider === 'cuda') notes.push(`GPU memory in use ${when}: ${queryGpu('memory.used')}.`);
}

function queryGpu(fields: string): string | undefined {
  try {
    const query = Bun.spawnSync(['nvidia-smi', `--query-gpu=${fields}`, '--format=csv,noheader']);
    return query.success ? query.stdout.toString().trim() : undefined;
  } catch {
    return undefined;
  }
}

function seconds(startMs: number): string {
  return ((performance.now() - startMs) / 1000).toFixed(1);
}
