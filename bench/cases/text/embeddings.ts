/** Embeddings over HTTP, compared with ONNX Runtime in a Python process with the same model file. */

import { cpus, loadavg } from 'node:os';
import { loadConfig } from '../../../server/config.ts';
import { resolveModelFiles } from '../../../src/models/model-files.ts';
import {
  launchService,
  NO_RECOGNISER,
  NO_SPEAKER,
  SERVICE_KEY,
} from '../../../tools/harness/services/launcher.ts';
import { embeddingTexts } from '../../batch/embedding-texts.ts';
import type { LineProcess } from '../../line-process.ts';
import { openPeer, pinned } from '../../python.ts';
import { report } from '../../report.ts';
import type { Service } from '../../service.ts';
import { median } from '../../statistics.ts';

const MODEL = 'all-minilm-l6-v2';
const PEER = 'embeddings';
const THREADS = Math.min(4, cpus().length);
/** Alternating rounds of both sides. Medians exclude short disturbances. */
const ROUNDS = 15;
/** Requests before the measurement, so that the JavaScript engine has compiled the code of the service. */
const WARM_REQUESTS = 300;
const SINGLES = 20;
const BATCHES = 2;
const BATCH_TEXTS = 64;
/** Candidates for the maximum texts of one run of the baseline, which uses the fastest. */
const PEER_ROWS = [1, 2, 4, 8, 16, 64];
const MAX_LATENCY_RATIO = 1.5;
/** At least 0.9 of the throughput of the baseline. */
const MAX_TIME_RATIO = 1.11;
const MAX_DIFFERENCE = 1e-6;
/** The length of a spoken command: 8 tokens. */
const SHORT_TEXT = 'The cat sat on the mat.';

const CONFIG = `
[inference]
workers = 1
threads = ${THREADS}

[models."smollm2-135m-instruct"]
kind = "upstream"
base_url = "http://127.0.0.1:9/v1"
model = "none"
${NO_SPEAKER}${NO_RECOGNISER}`;

/** Embeds the texts of each request, one request after the other. */
type Side = (requests: readonly (readonly string[])[]) => Promise<{
  /** Duration of each request. */
  readonly ms: readonly number[];
  /** Vectors of the last request. */
  readonly vectors: readonly (readonly number[])[];
}>;

export async function benchEmbeddings(): Promise<void> {
  const { modelsDir } = loadConfig(process.env);
  const files = [
    resolveModelFiles(modelsDir, 'all-minilm-l6-v2-int8')['model.onnx'] ?? '',
    resolveModelFiles(modelsDir, 'bert-uncased-vocabulary')['vocab.json'] ?? '',
  ];
  const peer = await openPeer(`${PEER}/minilm_peer.py`, [...files, String(THREADS)]);
  try {
    const service = await launchService({ config: CONFIG });
    try {
      await measure(serviceSide(service), peer);
    } finally {
      await service.stop();
    }
  } finally {
    await peer.close();
  }
}

async function measure(ours: Side, peer: LineProcess): Promise<void> {
  const texts = embeddingTexts(ROUNDS * BATCHES * BATCH_TEXTS);
  const batchesOf = (round: number) =>
    Array.from({ length: BATCHES }, (_, batch) => {
      const from = (round * BATCHES + batch) * BATCH_TEXTS;
      return texts.slice(from, from + BATCH_TEXTS);
    });
  const singlesOf = (round: number) =>
    texts.slice(round * SINGLES, (round + 1) * SINGLES).map((text) => [text]);
  const shorts = Array.from({ length: SINGLES }, () => [SHORT_TEXT]);

  await ours([...Array.from({ length: WARM_REQUESTS }, () => [SHORT_TEXT]), ...batchesOf(0)]);
  const rows = await fastestRows(peer, batchesOf(0));
  const sides = { ours, peer: peerSide(peer, rows) };
  const times = {
    short: { ours: [] as number[], peer: [] as number[] },
    single: { ours: [] as number[], peer: [] as number[] },
    batch: { ours: [] as number[], peer: [] as number[] },
  };
  const loadBefore = loadavg()[0] ?? 0;
  let difference = 0;
  for (let round = 0; round < ROUNDS; round += 1) {
    const requests = { short: shorts, single: singlesOf(round), batch: batchesOf(round) };
    for (const kind of ['short', 'single', 'batch'] as const) {
      const one = await sides.peer(requests[kind]);
      const other = await sides.ours(requests[kind]);
      times[kind].peer.push(...one.ms);
      times[kind].ours.push(...other.ms);
      difference = Math.max(difference, maxDifference(one.vectors, other.vectors));
    }
  }
  const row = (measure: string, kind: keyof typeof times, target: number) => ({
    measure,
    ours: median(times[kind].ours),
    peer: median(times[kind].peer),
    unit: 'ms',
    target,
  });
  const rate = (side: keyof typeof sides) => Math.round((BATCH_TEXTS * 1000) / median(times.batch[side]));
  await report(
    'embeddings',
    'Embeddings compared with ONNX Runtime',
    [
      row('one text of 8 tokens, p50', 'short', MAX_LATENCY_RATIO),
      row('one text of one to four sentences, p50', 'single', MAX_LATENCY_RATIO),
      row(`${BATCH_TEXTS} texts of one to four sentences, p50`, 'batch', MAX_TIME_RATIO),
      {
        measure: 'maximum difference of an element of a vector',
        ours: difference,
        unit: '',
        target: MAX_DIFFERENCE,
      },
    ],
    [
      `This service: POST /v1/embeddings, one request after the other. Baseline: the same model file in a Python process, without HTTP (${await pinned(PEER)}). ${THREADS} threads each.`,
      `${ROUNDS} alternating rounds of ${SINGLES} requests with one text each and ${BATCHES} with ${BATCH_TEXTS}.`,
      `Throughput with ${BATCH_TEXTS} texts: ${rate('ours')} texts per second, baseline ${rate('peer')}. A ratio of 1.11 is 0.9 of the throughput.`,
      `Both sort the texts of a request by length. The baseline runs the graph on ${rows} at a time, the fastest of ${PEER_ROWS.join(', ')}.`,
      `Load average of the machine: ${loadBefore.toFixed(1)} before the rounds, ${(loadavg()[0] ?? 0).toFixed(1)} after them.`,
    ],
  );
}

function serviceSide(service: Service): Side {
  return async (requests) => {
    const ms: number[] = [];
    let body = '';
    for (const input of requests) {
      const start = performance.now();
      const response = await service.fetch('/v1/embeddings', {
        method: 'POST',
        headers: { 'content-type': 'application/json', authorization: `Bearer ${SERVICE_KEY}` },
        body: JSON.stringify({ model: MODEL, input }),
      });
      body = await response.text();
      ms.push(performance.now() - start);
      if (!response.ok) throw new Error(`${response.status}: ${body}`);
    }
    const { data } = JSON.parse(body) as { data: { embedding: number[] }[] };
    return { ms, vectors: data.map(({ embedding }) => embedding) };
  };
}

function peerSide(peer: LineProcess, rows: number): Side {
  return (requests) => peer.sendRequest({ requests, rows });
}

async function fastestRows(peer: LineProcess, batches: readonly (readonly string[])[]): Promise<number> {
  const times: { rows: number; ms: number }[] = [];
  for (const rows of PEER_ROWS) {
    const { ms } = await peerSide(peer, rows)([...batches, ...batches]);
    times.push({ rows, ms: Math.min(...ms) });
  }
  return times.reduce((best, each) => (each.ms < best.ms ? each : best)).rows;
}

function maxDifference(one: readonly (readonly number[])[], other: readonly (readonly number[])[]): number {
  if (one.length !== other.length) throw new Error(`${one.length} and ${other.length} vectors`);
  const differences = one.flatMap((vector, index) =>
    vector.map((value, at) => Math.abs(value - (other[index]?.[at] ?? Number.NaN))),
  );
  return differences.reduce((max, value) => (value > max || Number.isNaN(value) ? value : max), 0);
}
