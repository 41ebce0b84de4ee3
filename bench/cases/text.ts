/** What the service adds to each token of a server behind it, at 100 answers at once. */

import { fileURLToPath } from 'node:url';
import { launchService, NO_RECOGNISER, NO_SPEAKER, SERVICE_KEY } from '../../test/support/launcher.ts';
import { type Row, report } from '../report.ts';
import { quantile } from '../statistics.ts';
import { sharedMs, TOKEN_MS } from '../text/token-server.ts';

const SERVER = fileURLToPath(new URL('../text/token-server.ts', import.meta.url));
const STREAMS = 100;
const TOKENS = 100;
/** Answers that each client asks for, one after the other. */
const ANSWERS = 2;
/** Turns of each way, one after the other, so that a busy moment of the machine meets both. */
const ROUNDS = 2;
const ADDED_P50_MS = 1;
const ADDED_P99_MS = 5;

/** Ages of the tokens of one answer when they arrive, in ms. */
async function agesOf(baseUrl: string, key: string): Promise<number[]> {
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
  const ages: number[] = [];
  const decoder = new TextDecoder();
  for await (const portion of response.body) {
    const nowMs = sharedMs();
    // A token of this server is never cut: each leaves alone.
    for (const [, sentMs] of decoder.decode(portion).matchAll(/"content":"([\d.]+) "/g)) {
      ages.push(nowMs - Number(sentMs));
    }
  }
  if (ages.length !== TOKENS) throw new Error(`${ages.length} of ${TOKENS} tokens came`);
  return ages;
}

/** Many answers at once, of which as many begin and end at any time. */
async function agesOfMany(baseUrl: string, key: string): Promise<number[]> {
  const pauseMs = (TOKENS * TOKEN_MS) / STREAMS;
  const clients = Array.from({ length: STREAMS }, async (_, at) => {
    await Bun.sleep(at * pauseMs);
    const ages: number[] = [];
    for (let answer = 0; answer < ANSWERS; answer += 1) ages.push(...(await agesOf(baseUrl, key)));
    return ages;
  });
  return (await Promise.all(clients)).flat();
}

export async function benchText(): Promise<void> {
  const server = Bun.spawn([process.execPath, SERVER], { stdout: 'pipe', stderr: 'inherit' });
  try {
    const { value } = await server.stdout.getReader().read();
    const serverUrl = `http://127.0.0.1:${Number(new TextDecoder().decode(value))}/v1`;
    const service = await launchService({ config: configOf(serverUrl) });
    try {
      const ways = { direct: serverUrl, through: `${service.baseUrl}/v1` };
      for (const baseUrl of Object.values(ways)) await agesOf(baseUrl, SERVICE_KEY);
      const ages: Record<keyof typeof ways, number[]> = { direct: [], through: [] };
      for (let round = 0; round < ROUNDS; round += 1) {
        ages.direct.push(...(await agesOfMany(ways.direct, SERVICE_KEY)));
        ages.through.push(...(await agesOfMany(ways.through, SERVICE_KEY)));
      }
      const row = (share: number, name: string, target: number): Row => ({
        measure: `age of a token when it arrives, ${name}`,
        ours: quantile(ages.through, share),
        peer: quantile(ages.direct, share),
        unit: 'ms',
        target,
        judged: 'difference',
      });
      await report(
        'text',
        'Tokens through the service beside tokens from the server behind it',
        [row(0.5, 'p50', ADDED_P50_MS), row(0.99, 'p99', ADDED_P99_MS)],
        [
          `${STREAMS} clients, one answer after the other of ${TOKENS} tokens, 20 a second, begun apart; ${ROUNDS} rounds of each way in turn.`,
          'Ours: POST /v1/chat/completions of the service over the server. Peer: the server itself, by the same clients.',
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
