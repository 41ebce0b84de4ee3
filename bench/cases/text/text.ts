/** Latency that the service adds to each token of an upstream server, with 100 concurrent streams. */

import { fileURLToPath } from 'node:url';
import {
  launchService,
  NO_RECOGNISER,
  NO_SPEAKER,
  SERVICE_KEY,
} from '../../../tools/harness/services/launcher.ts';
import { type Row, report } from '../../report.ts';
import { median, quantile } from '../../statistics.ts';
import { sharedMs, TOKEN_MS } from '../../text/token-server.ts';

const SERVER = fileURLToPath(new URL('../../text/token-server.ts', import.meta.url));
const STREAMS = 100;
const TOKENS = 100;
/** Alternating rounds of both paths. The median excludes short disturbances. */
const ROUNDS = 3;
const ADDED_P50_MS = 1;
const ADDED_P99_MS = 5;

/** Time of arrival of a token, and its latency in ms. */
interface Token {
  readonly arrivedMs: number;
  readonly ageMs: number;
}

async function tokensOf(baseUrl: string, key: string): Promise<Token[]> {
  const response = await fetch(`${baseUrl}/chat/completions`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization: `Bearer ${key}` },
    body: JSON.stringify({
      model: 'tokens',
      messages: [{ role: 'user', content: 'Count.' }],
      max_tokens: TOKENS,
      stream: true,
    }),
  });
  if (!response.ok || !response.body) throw new Error(`${response.status}: ${await response.text()}`);
  const tokens: Token[] = [];
  const decoder = new TextDecoder();
  for await (const chunk of response.body) {
    const arrivedMs = sharedMs();
    // The server sends each token in a separate write, so a token is never split.
    for (const [, sentMs] of decoder.decode(chunk).matchAll(/"content":"([\d.]+) "/g)) {
      tokens.push({ arrivedMs, ageMs: arrivedMs - Number(sentMs) });
    }
  }
  if (tokens.length !== TOKENS) throw new Error(`${tokens.length} of ${TOKENS} tokens arrived`);
  return tokens;
}

/**
 * Latencies of tokens with {@link STREAMS} concurrent streams. Clients start one after the other, so that streams start and
 * end all the time. Tokens count from the start of the last client to the end of the first.
 */
async function concurrentAges(baseUrl: string, key: string): Promise<number[]> {
  const streamMs = TOKENS * TOKEN_MS;
  const startMs = sharedMs();
  const clients = Array.from({ length: STREAMS }, async (_, at) => {
    await Bun.sleep((at * streamMs) / STREAMS);
    return [...(await tokensOf(baseUrl, key)), ...(await tokensOf(baseUrl, key))];
  });
  return (await Promise.all(clients))
    .flat()
    .filter(({ arrivedMs }) => arrivedMs >= startMs + streamMs && arrivedMs < startMs + 2 * streamMs)
    .map(({ ageMs }) => ageMs);
}

export async function benchText(): Promise<void> {
  const server = Bun.spawn([process.execPath, SERVER], { stdout: 'pipe', stderr: 'inherit' });
  try {
    const { value } = await server.stdout.getReader().read();
    const serverUrl = `http://127.0.0.1:${Number(new TextDecoder().decode(value))}/v1`;
    const service = await launchService({ config: configOf(serverUrl) });
    try {
      const paths = { direct: serverUrl, through: `${service.baseUrl}/v1` };
      for (const baseUrl of Object.values(paths)) await tokensOf(baseUrl, SERVICE_KEY);
      const rounds: Record<keyof typeof paths, number[][]> = { direct: [], through: [] };
      for (let round = 0; round < ROUNDS; round += 1) {
        rounds.direct.push(await concurrentAges(paths.direct, SERVICE_KEY));
        rounds.through.push(await concurrentAges(paths.through, SERVICE_KEY));
      }
      const row = (share: number, name: string, target: number): Row => ({
        measure: `age of a token when it arrives, ${name}`,
        ours: median(rounds.through.map((ages) => quantile(ages, share))),
        peer: median(rounds.direct.map((ages) => quantile(ages, share))),
        unit: 'ms',
        target,
        judged: 'difference',
      });
      await report(
        'text',
        'Tokens through the service compared with tokens from its upstream server',
        [row(0.5, 'p50', ADDED_P50_MS), row(0.99, 'p99', ADDED_P99_MS)],
        [
          `${STREAMS} concurrent streams of ${TOKENS} tokens each, 20 tokens per second; 20 streams start and end each second. Median of ${ROUNDS} alternating rounds.`,
          'This service: POST /v1/chat/completions, with the server as upstream. Baseline: the server itself, with the same clients.',
          'Server, service and clients share the cores.',
        ],
      );
    } finally {
      await service.stop();
    }
  } finally {
    server.kill();
    await server.exited;
  }
}

function configOf(serverUrl: string): string {
  return `
[models.tokens]
kind = "upstream"
task = "chat"
base_url = "${serverUrl}"
model = "tokens"

[models."smollm2-135m-instruct"]
kind = "upstream"
base_url = "${serverUrl}"
model = "tokens"

[models."all-minilm-l6-v2"]
kind = "upstream"
base_url = "${serverUrl}"
model = "tokens"
${NO_SPEAKER}${NO_RECOGNISER}`;
}
