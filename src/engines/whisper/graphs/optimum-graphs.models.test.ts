import { mkdirSync, mkdtempSync, rmSync, statSync } from 'node:fs';
import { cp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { moveWeightsOut } from '../../../../test/generators/external-weights.ts';
import {
  type OptimumForm,
  SMALL_VOCABULARY,
  writeOptimumExport,
} from '../../../../test/generators/optimum-export.ts';
import { tempDir } from '../../../../test/harness/temp-dir.ts';
import { inDeepTier } from '../../../../test/harness/tier.ts';
import { recorded } from '../../../../test/media/heard-audio.ts';
import { transcriptWords } from '../../../../tools/harness/media/transcript-normalizer.ts';
import { loadConfig } from '../../../config/config.ts';
import type { Float32Samples } from '../../../contract/engines/audio.ts';
import { whisperFiles } from '../import/files.ts';
import type { OptimumFiles } from '../import/optimum-files.ts';
import { loadWhisper } from '../model.ts';
import type { WhisperGraphs } from '../shared/graphs.ts';
import type { WindowTranscript } from '../shared/protocol.ts';
import { openOptimumGraphs } from './optimum-graphs.ts';

const JFK =
  'And so my fellow Americans ask not what your country can do for you ask what you can do for your country';
const { modelsDir } = loadConfig(process.env);
const runtime = { provider: 'cpu', threads: 1 } as const;

async function transcribed(weights: string, samples: Float32Samples): Promise<WindowTranscript> {
  const model = await loadWhisper({ modelsDir, weights, runtime });
  try {
    const request = {
      samples,
      task: 'transcribe',
      timestamps: 'word',
      language: 'en',
      likelyLanguage: undefined,
      previous: [],
      lastSpeechS: 0,
    } as const;
    for await (const result of model.open(request)) if (result?.kind === 'window') return result;
    throw new Error('The window never ends.');
  } finally {
    await model.close();
  }
}

/** A spectrogram that is not of real audio. */
const MEL = Float32Array.from({ length: 80 * 3000 }, (_, i) => Math.sin(i / 700) / 2);

async function graphFiles(folder: string): Promise<OptimumFiles> {
  const files = await whisperFiles(modelsDir, folder);
  if (files.kind !== 'optimum') throw new Error(`resolved as ${files.kind}`);
  return files.graphs;
}

const exportsFolder = mkdtempSync(join(tmpdir(), 'optimum-exports-'));
afterAll(() => rmSync(exportsFolder, { recursive: true }));
const smallExports = new Map<OptimumForm, Promise<string>>();

/** Folder of a small model, written once for all tests, which must not change it. */
function smallExport(form: OptimumForm): Promise<string> {
  const write = async () => {
    const folder = join(exportsFolder, form);
    mkdirSync(folder);
    await writeOptimumExport(folder, form, 'small');
    return folder;
  };
  const written = smallExports.get(form) ?? write();
  smallExports.set(form, written);
  return written;
}

/** A copy of a small model that the test may change. */
async function ownSmallExport(): Promise<string> {
  const folder = await tempDir();
  await cp(await smallExport('merged'), folder, { recursive: true });
  return folder;
}

async function openSmall(form: OptimumForm): Promise<WhisperGraphs> {
  return openOptimumGraphs(await graphFiles(await smallExport(form)), runtime);
}

function textOf(segments: readonly { readonly text: string }[]): string {
  return segments.map(({ text }) => text).join(' ');
}

function largestDifference(a: Float32Samples, b: Float32Samples): number {
  expect(a.length).toBe(b.length);
  return a.reduce((max, value, i) => Math.max(max, Math.abs(value - (b[i] ?? Number.NaN))), 0);
}

inDeepTier(() => {
  test('an export transcribes like its checkpoint', async () => {
    const samples = await recorded('jfk.flac');
    const folder = await tempDir();
    await writeOptimumExport(folder, 'merged');
    const { segments, words, language } = await transcribed(folder, samples);
    expect(language).toBe('en');
    const text = textOf(segments);
    expect(transcriptWords(text)).toEqual(transcriptWords(JFK));
    expect(text).toBe(textOf((await transcribed('tiny.en', samples)).segments));
    expect(segments.map(({ startS, endS }) => [startS, endS])).toEqual([
      [0, 8],
      [8, 11],
    ]);
    // Word times are estimated, because these graphs provide times of segments only.
    expect(words.map(({ word }) => word).join(' ')).toBe(text);
    expect(words[0]?.startS).toBe(0);
    expect(words.find(({ startS }) => startS === 8)?.word).toBe('ask');
    expect(words.at(-1)?.endS).toBe(11);
  });
});

const TOKENS = [257, 362, 43, 123, 16];

test.each<OptimumForm>(['merged', 'split'])('a %s decoder continues from its cache', async (form) => {
  const graphs = await openSmall(form);
  try {
    expect(graphs).toMatchObject({ shape: { melBands: 80, textPositions: 448 }, shortWindows: false });
    const window = await graphs.encode(MEL, 3000);
    const whole = await graphs.step(window, TOKENS);
    expect(whole.logits.length).toBe(SMALL_VOCABULARY);

    const start = await graphs.step(window, TOKENS.slice(0, 2));
    const one = await graphs.step(window, TOKENS.slice(2, 3), start.cache);
    const rest = await graphs.step(window, TOKENS.slice(3), one.cache);
    expect(largestDifference(rest.logits, whole.logits)).toBeLessThan(1e-3);
    expect(largestDifference(one.logits, whole.logits)).toBeGreaterThan(0.1);

    // A cache can be reused, and tokens do not attend to later ones.
    const again = await graphs.step(window, TOKENS.slice(2), start.cache);
    expect(largestDifference(again.logits, whole.logits)).toBeLessThan(1e-3);
    await expect(graphs.step(window, [], start.cache)).rejects.toThrow(RangeError);
    expect(await graphs.align(window, TOKENS)).toBeUndefined();
  } finally {
    await graphs.close();
    await graphs.close();
  }
});

test('both forms of a model give equal results', async () => {
  const logitsOf = async (form: OptimumForm) => {
    const graphs = await openSmall(form);
    const window = await graphs.encode(MEL, 3000);
    const { cache } = await graphs.step(window, TOKENS);
    const { logits } = await graphs.step(window, [7], cache);
    await graphs.close();
    return logits;
  };
  expect(largestDifference(await logitsOf('merged'), await logitsOf('split'))).toBeLessThan(1e-3);
});

test('weights can be stored in a separate file', async () => {
  const graphs = await graphFiles(await ownSmallExport());
  const encoded = async () => {
    const opened = await openOptimumGraphs(graphs, runtime);
    const { tensors } = await opened.encode(MEL, 3000);
    await opened.close();
    return tensors.encoder_hidden_states?.data ?? new Float32Array(0);
  };
  const before = await encoded();
  expect(before.length).toBe(1500 * 384);
  await moveWeightsOut(graphs.encoder);
  expect(statSync(graphs.encoder).size).toBeLessThan(20_000);
  expect(largestDifference(await encoded(), before)).toBe(0);
});

test('rejects graphs if one of them is damaged', async () => {
  const folder = await ownSmallExport();
  await Bun.write(join(folder, 'decoder_model_merged.onnx'), 'noise');
  await expect(loadWhisper({ modelsDir, weights: folder, runtime })).rejects.toThrow(/protobuf/i);
});
