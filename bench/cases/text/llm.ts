/** The embedded language models over HTTP, compared with node-llama-cpp in its own process. */

import { existsSync } from 'node:fs';
import { loadConfig } from '../../../server/config.ts';
import { resolveModelFiles } from '../../../src/models/model-files.ts';
import {
  launchService,
  NO_RECOGNISER,
  NO_SPEAKER,
  OTHER_KEY,
  SERVICE_KEY,
} from '../../../tools/harness/services/launcher.ts';
import { type ChatMessage, chatMl, streamChat, type TimedChat } from '../../llm/chat-client.ts';
import { openLlamaPeer } from '../../llm/open-peer.ts';
import type { PeerResponse } from '../../llm/peer.ts';
import { type Row, report } from '../../report.ts';
import type { Service } from '../../service.ts';
import { median, quantile } from '../../statistics.ts';

const MODELS = ['smollm2-135m-instruct', 'qwen2.5-0.5b-instruct', 'qwen2.5-1.5b-instruct'] as const;
const SMALL = MODELS[0];
const CONTEXT_TOKENS = 4096;
const THREADS = 2;
const ROUNDS = 3;
const TURN_TOKENS = 60;
const LONG_TOKENS = 120;
const CLIENTS = 4;
const PREFIX_WORDS = 750;
const CANCELLATIONS = 40;
const TURNS = [
  'Hello, I would like to book a table for two.',
  'Tomorrow at seven in the evening.',
  'My name is Ada Lovelace, and my number is 555 0134.',
  'Do you have vegetarian dishes?',
];
const INSTRUCTIONS =
  'You are the assistant of a restaurant on the telephone. Answer in one or two short sentences and ask for what is missing: name, date, time and number of guests.';
const SCHEMA = {
  type: 'object',
  properties: Object.fromEntries([
    ...['name', 'street', 'city', 'country', 'phone', 'email'].map((name) => [name, { type: 'string' }]),
    ['age', { type: 'integer', minimum: 0, maximum: 120 }],
    ['member', { type: 'boolean' }],
    ['plan', { enum: ['basic', 'standard', 'premium'] }],
    ['tags', { type: 'array', items: { type: 'string' }, maxItems: 5 }],
  ]),
  required: ['name', 'street', 'city', 'country', 'phone', 'email', 'age', 'member', 'plan', 'tags'],
  additionalProperties: false,
};

const msPerToken = ({ tokens, firstMs, lastMs }: Pick<TimedChat, 'tokens' | 'firstMs' | 'lastMs'>) =>
  (lastMs - firstMs) / (tokens - 1);

export async function benchLlm(): Promise<void> {
  const { modelsDir } = loadConfig(process.env);
  const files = MODELS.map((model) => ({
    model,
    file: Object.values(resolveModelFiles(modelsDir, model))[0] ?? '',
  }));
  const missing = files.filter(({ file }) => !existsSync(file));
  if (missing.length > 0)
    throw new Error(`Run: bun run models fetch ${missing.map(({ model }) => model).join(' ')}`);
  const rows: Row[] = [];
  for (const { model, file } of files) {
    const service = await launchService({ config: configOf(model) });
    try {
      rows.push(...(await conversationRows(service, model, file)));
      if (model === SMALL) {
        rows.push(...(await concurrencyRows(service)), await prefixRow(service), await schemaRow(service));
        rows.push(await cancellationRow(service));
      }
    } finally {
      await service.stop();
    }
  }
  await report('llm', 'Embedded language models compared with node-llama-cpp', rows, [
    `Conversations: ${TURNS.length} turns of at most ${TURN_TOKENS} tokens, greedy, ${ROUNDS} alternating rounds, medians. Each round has its own first sentence, so that no prompt is cached from another round.`,
    'This service: streamed POST /v1/chat/completions. Baseline: node-llama-cpp 3.22.1 in its own process with the same weights and threads; it keeps its prompt in its sequence.',
    'A target for tokens per second is written as a target for its inverse, ms per token.',
  ]);
}

/** Time to first token of each turn, and time per token. */
async function conversationRows(service: Service, model: string, file: string): Promise<Row[]> {
  const peer = await openLlamaPeer(file, THREADS, CONTEXT_TOKENS);
  try {
    const ours: TimedChat[][] = [];
    const theirs: PeerResponse[][] = [];
    for (let round = 0; round < ROUNDS; round += 1) {
      const system = `Call ${round}. ${INSTRUCTIONS}`;
      ours.push(
        await converse(system, (messages) =>
          streamChat(service, SERVICE_KEY, { model, messages, max_tokens: TURN_TOKENS }),
        ),
      );
      theirs.push(
        await converse(system, (messages) =>
          peer.sendRequest<PeerResponse>({ prompt: chatMl(messages), maxTokens: TURN_TOKENS }),
        ),
      );
    }
    const story: ChatMessage[] = [
      { role: 'system', content: 'You tell stories.' },
      { role: 'user', content: 'Tell me a long story about a lighthouse and a storm.' },
    ];
    const long: { ours: number; peer: number }[] = [];
    for (let round = 0; round < ROUNDS; round += 1) {
      const generated = await streamChat(service, SERVICE_KEY, {
        model,
        messages: story,
        max_tokens: LONG_TOKENS,
      });
      const baseline = await peer.sendRequest<PeerResponse>({
        prompt: chatMl(story),
        maxTokens: LONG_TOKENS,
      });
      long.push({ ours: msPerToken(generated), peer: msPerToken(baseline) });
    }
    return [
      ...TURNS.map((_, turn): Row => {
        const first = (rounds: readonly (readonly { readonly firstMs: number }[])[]) =>
          median(rounds.map((each) => each[turn]?.firstMs ?? Number.NaN));
        const baseline = first(theirs);
        return {
          measure: `${model}: time to first token, turn ${turn + 1}`,
          ours: first(ours),
          peer: baseline,
          unit: 'ms',
          target: 0.3 * baseline + 40,
          judged: 'difference',
        };
      }),
      {
        measure: `${model}: time per token, one client`,
        ours: median(long.map((each) => each.ours)),
        peer: median(long.map((each) => each.peer)),
        unit: 'ms',
        target: 1 / 0.9,
      },
    ];
  } finally {
    await peer.close();
  }
}

async function converse<Turn extends { readonly text: string }>(
  system: string,
  respond: (messages: readonly ChatMessage[]) => Promise<Turn>,
): Promise<Turn[]> {
  const messages: ChatMessage[] = [{ role: 'system', content: system }];
  const turns: Turn[] = [];
  for (const content of TURNS) {
    messages.push({ role: 'user', content });
    const turn = await respond(messages);
    messages.push({ role: 'assistant', content: turn.text });
    turns.push(turn);
  }
  return turns;
}

/** Total throughput and latency of concurrent clients with different keys and prompts. */
async function concurrencyRows(service: Service): Promise<Row[]> {
  const sendRequest = (client: number, round: number) => {
    const content = `Request ${round}-${client}. Tell me a long story about the number ${client}.`;
    const key = client % 2 === 0 ? SERVICE_KEY : OTHER_KEY;
    return streamChat(service, key, {
      model: SMALL,
      messages: [{ role: 'user', content }],
      max_tokens: LONG_TOKENS,
    });
  };
  const alone: number[] = [];
  const together: number[] = [];
  const firsts: number[] = [];
  for (let round = 0; round < ROUNDS; round += 1) {
    const startMs = performance.now();
    const { tokens } = await sendRequest(0, round);
    alone.push((performance.now() - startMs) / tokens);
    const allStartMs = performance.now();
    const all = await Promise.all(
      Array.from({ length: CLIENTS }, (_, client) => sendRequest(client, round + ROUNDS)),
    );
    const sum = all.reduce((total, each) => total + each.tokens, 0);
    together.push((performance.now() - allStartMs) / sum);
    firsts.push(...all.map(({ firstMs }) => firstMs));
  }
  return [
    {
      measure: `${SMALL}: time per token in total, ${CLIENTS} clients; baseline: one client`,
      ours: median(together),
      peer: median(alone),
      unit: 'ms',
      target: 1 / 1.8,
    },
    {
      measure: `${SMALL}: longest time to first token, ${CLIENTS} clients`,
      ours: Math.max(...firsts),
      unit: 'ms',
      target: 1500,
    },
  ];
}

/** Time to first token of a request that shares a long start with an earlier one. */
async function prefixRow(service: Service): Promise<Row> {
  const [first, second]: [number[], number[]] = [[], []];
  for (let round = 0; round < ROUNDS; round += 1) {
    const words = Array.from({ length: PREFIX_WORDS }, (_, at) => (at % 9 === 0 ? `item ${round}` : 'and'));
    const sendRequest = async (content: string) => {
      const messages: ChatMessage[] = [
        { role: 'system', content: words.join(' ') },
        { role: 'user', content },
      ];
      return (await streamChat(service, SERVICE_KEY, { model: SMALL, messages, max_tokens: 4 })).firstMs;
    };
    first.push(await sendRequest('Hello.'));
    second.push(await sendRequest('What is the last item?'));
  }
  return {
    measure: `${SMALL}: time to first token, second request with the same start; baseline: the first`,
    ours: median(second),
    peer: median(first),
    unit: 'ms',
    target: 0.15,
  };
}

/** Time per token of JSON for a schema with ten fields, compared with text. */
async function schemaRow(service: Service): Promise<Row> {
  const [json, text]: [number[], number[]] = [[], []];
  const format = { type: 'json_schema', json_schema: { name: 'person', strict: true, schema: SCHEMA } };
  for (let round = 0; round < ROUNDS; round += 1) {
    const content = `Describe customer ${round} of a shop.`;
    const request = { model: SMALL, messages: [{ role: 'user', content } as const], max_tokens: 150 };
    json.push(msPerToken(await streamChat(service, SERVICE_KEY, { ...request, response_format: format })));
    text.push(msPerToken(await streamChat(service, SERVICE_KEY, request)));
  }
  return {
    measure: `${SMALL}: time per token with a schema of ten fields; baseline: text`,
    ours: median(json),
    peer: median(text),
    unit: 'ms',
    target: 1 / 0.7,
  };
}

/** Time to first token right after a response was cancelled, compared with an idle service. */
async function cancellationRow(service: Service): Promise<Row> {
  const [idle, cancelled, steps]: [number[], number[], number[]] = [[], [], []];
  const short = { model: SMALL, messages: [{ role: 'user', content: 'Hi.' } as const], max_tokens: 2 };
  for (let round = 0; round < CANCELLATIONS; round += 1) {
    idle.push((await streamChat(service, OTHER_KEY, short)).firstMs);
    const content = `Tell me a long story about the number ${round}.`;
    const controller = new AbortController();
    const long = streamChat(
      service,
      SERVICE_KEY,
      { model: SMALL, messages: [{ role: 'user', content }], max_tokens: LONG_TOKENS },
      controller.signal,
    ).catch(() => undefined);
    await Bun.sleep(150 + 7 * round);
    controller.abort();
    cancelled.push((await streamChat(service, OTHER_KEY, short)).firstMs);
    await long;
    steps.push(msPerToken(await streamChat(service, OTHER_KEY, { ...short, max_tokens: 20 })));
  }
  return {
    measure: `${SMALL}: time to first token after a cancellation, p99; baseline: idle, p99; target: one step`,
    ours: quantile(cancelled, 0.99),
    peer: quantile(idle, 0.99),
    unit: 'ms',
    target: quantile(steps, 0.99),
    judged: 'difference',
  };
}

function configOf(model: string): string {
  return `
[models."${model}"]
kind = "llama"
weights = "${model}"
context_tokens = ${CONTEXT_TOKENS}
${NO_RECOGNISER}${NO_SPEAKER}
[models."all-minilm-l6-v2"]
kind = "upstream"
base_url = "http://127.0.0.1:9/v1"
model = "none"
`;
}
