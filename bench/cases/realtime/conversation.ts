/** Voice-to-voice latency of conversations: from the last sample of the user's speech to the first audio of the reply. */

import { mkdirSync, mkdtempSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { loadConfig } from '../../../server/config.ts';
import { resolveModelFiles } from '../../../src/models/model-files.ts';
import { launchService } from '../../../tools/harness/services/launcher.ts';
import { Caller, type Reply } from '../../conversations/caller.ts';
import {
  type ChatUpstream,
  KOKORO,
  scriptedConversation,
  startChatUpstream,
} from '../../conversations/chat-upstream.ts';
import { REPLIES } from '../../conversations/replies.ts';
import { type CallerLine, callerLines } from '../../corpus/conversations/callers.ts';
import type { LineProcess } from '../../line-process.ts';
import { openPeer } from '../../python.ts';
import { type Row, report } from '../../report.ts';
import type { Service } from '../../service.ts';
import { quantile } from '../../statistics.ts';
import { checkpointFolder } from '../../transcription/checkpoint-folder.ts';

const THREADS = 2;
const SYSTEM =
  'You are a friendly telephone assistant of a restaurant. Answer in one or two short sentences.';
const MAX_TOKENS = 60;
const CONCURRENT_CALLERS = 4;
/** Conversations of four turns per measurement with the upstream. */
const UPSTREAM_CONVERSATIONS = 6;
const EMBEDDED = `
[models."svc-voice"]
kind = "conversation"
tts = "svc-tts"
temperature = 0
`;
const SEMANTIC = { type: 'semantic_vad' };
const SILENCE = { type: 'server_vad', silence_duration_ms: 500 };

function session(turnDetection: object) {
  return {
    instructions: SYSTEM,
    max_output_tokens: MAX_TOKENS,
    include: ['response.timing'],
    audio: { input: { turn_detection: turnDetection, transcription: { language: 'en' } } },
  };
}

export async function benchConversation(): Promise<void> {
  const lines = await callerLines();
  const rows = [...(await embeddedRows(lines)), ...(await upstreamRows(lines))];
  await report('conversation', 'Conversations: voice-to-voice latency', rows, [
    `${lines.length} turns of ${new Set(lines.map(({ conversation }) => conversation)).size} conversations, spoken in real time by seven synthetic voices.`,
    'Baseline: 500 ms of silence, faster-whisper base (int8), llama.cpp until the end of the first sentence, kokoro-onnx, one after another, with the same weights and two threads. The time of voice activity detection is not included.',
    'Upstream: a scripted language model, 100 ms to the first token, 60 tokens per second.',
    'Automatic speech model: without `tts` in CONFIG, Kokoro serves as many sessions as the machine can synthesize in real time, and Piper serves the others.',
  ]);
}

/** The embedded language model. Turns of the service and of the baseline alternate by conversation. */
async function embeddedRows(lines: readonly CallerLine[]): Promise<Row[]> {
  const opened = new AsyncDisposableStack();
  try {
    const service = opened.adopt(await launchService({ config: EMBEDDED }), async (it) => {
      await it.stop();
    });
    const peer = opened.adopt(await openPipeline(opened), (it) => it.close());
    const [first] = lines;
    // Its models are loaded when it responds.
    await peer.sendRequest({ audio: first?.path, conversation: -1 });
    const replies: Reply[] = [];
    const baseline: number[] = [];
    for (const turns of conversationsOf(lines)) {
      replies.push(...(await holdConversation(service, turns, SEMANTIC)));
      for (const { path, conversation } of turns) {
        const { latency_ms } = await peer.sendRequest<{ latency_ms: number }>({ audio: path, conversation });
        baseline.push(latency_ms);
      }
    }
    return [
      ...latencyRows('embedded Qwen2.5 1.5B, semantic_vad', replies, {
        baseline,
        targets: { p50: 0.35, p95: 0.45 },
      }),
      gapRow('embedded Qwen2.5 1.5B', replies),
    ];
  } finally {
    await opened.disposeAsync();
  }
}

async function upstreamRows(lines: readonly CallerLine[]): Promise<Row[]> {
  const conversations = conversationsOf(lines).slice(0, UPSTREAM_CONVERSATIONS);
  const upstream = startChatUpstream(REPLIES);
  try {
    return [
      ...(await withSpeech(upstream, KOKORO, (service) => singleRows(service, conversations))),
      ...(await withSpeech(upstream, undefined, (service) =>
        concurrentRows(service, conversations, 'automatic speech model', { p95Ms: 2000, underruns: 0 }),
      )),
      ...(await withSpeech(upstream, KOKORO, (service) =>
        concurrentRows(service, conversations, 'Kokoro for all'),
      )),
    ];
  } finally {
    await upstream.stop();
  }
}

/** Measures with a service that has this speech model. @param speech undefined: the service chooses for each session. */
async function withSpeech(
  upstream: ChatUpstream,
  speech: string | undefined,
  measure: (service: Service) => Promise<Row[]>,
): Promise<Row[]> {
  const service = await launchService({ config: scriptedConversation(upstream, speech) });
  try {
    return await measure(service);
  } finally {
    await service.stop();
  }
}

async function singleRows(service: Service, conversations: readonly CallerLine[][]): Promise<Row[]> {
  const measure = async (turnDetection: object) => {
    const replies: Reply[] = [];
    for (const turns of conversations)
      replies.push(...(await holdConversation(service, turns, turnDetection)));
    return replies;
  };
  const semantic = await measure(SEMANTIC);
  const silence = await measure(SILENCE);
  return [
    ...latencyRows('upstream LLM, semantic_vad', semantic, { targetsMs: { p50: 750, p95: 1300 } }),
    ...latencyRows('upstream LLM, server_vad 500 ms', silence, { targetsMs: { p50: 800 } }),
    gapRow('upstream LLM', [...semantic, ...silence]),
  ];
}

async function concurrentRows(
  service: Service,
  conversations: readonly CallerLine[][],
  speech: string,
  targets?: { readonly p95Ms: number; readonly underruns: number },
): Promise<Row[]> {
  const callers = Array.from({ length: CONCURRENT_CALLERS }, (_, caller) =>
    conversations.filter((_, i) => i % CONCURRENT_CALLERS === caller).flat(),
  );
  const replies = (
    await Promise.all(callers.map((turns) => holdConversation(service, turns, SEMANTIC)))
  ).flat();
  const name = `${CONCURRENT_CALLERS} concurrent conversations, upstream LLM, ${speech}`;
  return [
    ...latencyRows(name, replies, targets && { targetsMs: { p95: targets.p95Ms } }),
    {
      measure: `${name}: audio underruns`,
      ours: replies.reduce((count, { player }) => count + player.gapsMs.length, 0),
      unit: '',
      ...(targets && { target: targets.underruns }),
    },
  ];
}

async function holdConversation(
  service: Service,
  turns: readonly CallerLine[],
  turnDetection: object,
): Promise<Reply[]> {
  const caller = await Caller.open(service.baseUrl, session(turnDetection));
  const replies: Reply[] = [];
  try {
    for (const { samples } of turns) replies.push(await caller.takeTurn(samples));
  } finally {
    caller.close();
  }
  return replies;
}

function conversationsOf(lines: readonly CallerLine[]): CallerLine[][] {
  return [...Map.groupBy(lines, ({ conversation }) => conversation).values()];
}

interface LatencyTargets {
  readonly baseline?: readonly number[];
  /** Maximum ratios to the baseline. */
  readonly targets?: { readonly p50: number; readonly p95: number };
  readonly targetsMs?: { readonly p50?: number; readonly p95?: number };
}

function latencyRows(
  name: string,
  replies: readonly Reply[],
  { baseline, targets, targetsMs }: LatencyTargets = {},
): Row[] {
  const latencies = replies.flatMap(({ latencyMs }) => (latencyMs === undefined ? [] : [latencyMs]));
  const rows = (['p50', 'p95'] as const).map((label): Row => {
    const share = label === 'p50' ? 0.5 : 0.95;
    const target = targets?.[label] ?? targetsMs?.[label];
    return {
      measure: `${name}: voice to voice, ${label} of ${latencies.length} turns`,
      ours: quantile(latencies, share),
      ...(baseline && { peer: quantile(baseline, share) }),
      unit: 'ms',
      ...(target !== undefined && { target }),
    };
  });
  const stages = ['turn_decision_ms', 'transcript_ms', 'first_token_ms', 'first_audio_ms'];
  for (const stage of stages) {
    const times = replies.flatMap(({ done }) => done.response?.timing?.[stage] ?? []);
    rows.push({ measure: `${name}: ${stage}, median`, ours: quantile(times, 0.5), unit: 'ms' });
  }
  return rows;
}

function gapRow(name: string, replies: readonly Reply[]): Row {
  const gaps = replies.map(({ player }) => player.gapsMs.reduce((sum, gap) => sum + gap, 0));
  return {
    measure: `${name}: silence of a reply from late audio, p95 of ${gaps.length} replies`,
    ours: quantile(gaps, 0.95),
    unit: 'ms',
    target: 200,
  };
}

async function openPipeline(opened: AsyncDisposableStack): Promise<LineProcess> {
  const { modelsDir } = loadConfig(process.env);
  const scratch = mkdtempSync(join(tmpdir(), 'bench-'));
  opened.defer(() => rmSync(scratch, { recursive: true }));
  const [gguf = ''] = Object.values(resolveModelFiles(modelsDir, 'qwen2.5-1.5b-instruct'));
  const [kokoro = ''] = Object.values(resolveModelFiles(modelsDir, 'kokoro-82m-int8'));
  const voices = resolveModelFiles(modelsDir, 'kokoro-voices');
  const folder = join(scratch, 'voices');
  mkdirSync(folder);
  for (const [name, path] of Object.entries(voices)) symlinkSync(path, join(folder, name));
  const args = [checkpointFolder(scratch, 'base'), gguf, kokoro, folder, String(THREADS), SYSTEM];
  return await openPeer('conversation/pipeline_peer.py', args);
}
