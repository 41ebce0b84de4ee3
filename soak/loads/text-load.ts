import { type Deviation, type SoakClient, type SoakResponse, sseValues } from '../site/soak-client.ts';
import { CHAT_MODEL, EMBED_MODEL } from '../site/soak-config.ts';
import type { Load } from './load.ts';
import { type Material, wordsOfLength } from './material.ts';

const DIMENSIONS = 384;
/** Number of responses that continue each other. */
const CHAIN = 5;
const MAX_TOKENS = 16;

interface ResponseOnWire {
  readonly id: string;
  readonly status: string;
  readonly output: unknown;
}

function chatDeviation(response: SoakResponse): Deviation {
  const { choices } = response.json<{ choices: { finish_reason: string | null }[] }>();
  return choices[0]?.finish_reason ? undefined : { end: 'wrong', detail: 'a response without finish_reason' };
}

function streamedDeviation(response: SoakResponse): Deviation {
  const values = sseValues(response.text());
  if (values.some((value) => value !== '[DONE]' && value.error !== undefined)) {
    return { end: 'failed', detail: 'an error event' };
  }
  const isFinished = values.some(
    (value) => value !== '[DONE]' && (value.choices as { finish_reason?: string }[])[0]?.finish_reason,
  );
  if (values.at(-1) === '[DONE]' && isFinished) return undefined;
  return { end: 'wrong', detail: 'a truncated stream' };
}

function responseDeviation(response: SoakResponse): Deviation {
  const { status } = response.json<ResponseOnWire>();
  if (status === 'completed' || status === 'incomplete') return undefined;
  return { end: status === 'failed' ? 'failed' : 'wrong', detail: `a response with status ${status}` };
}

function embeddingDeviation({ tokensAround }: Material, words: number) {
  return (response: SoakResponse): Deviation => {
    const { data, usage } = response.json<{
      data: { embedding: number[] }[];
      usage: { prompt_tokens: number };
    }>();
    const isRight = data[0]?.embedding.length === DIMENSIONS && usage.prompt_tokens === words + tokensAround;
    return isRight ? undefined : { end: 'wrong', detail: 'an embedding with other dimensions or tokens' };
  };
}

const chatOf = (fields: object) => ({
  path: '/v1/chat/completions',
  method: 'POST' as const,
  rows: 'one' as const,
  body: {
    model: CHAT_MODEL,
    max_tokens: MAX_TOKENS,
    temperature: 0,
    messages: [{ role: 'user', content: 'Name three birds.' }],
    ...fields,
  },
});

/** Creates stored responses that continue each other, and deletes the first. */
async function chain(client: SoakClient): Promise<void> {
  let previous: string | undefined;
  const ids: string[] = [];
  for (let at = 0; at < CHAIN; at += 1) {
    const response = await client.sendRequest({
      path: '/v1/responses',
      method: 'POST',
      rows: 'one',
      judge: responseDeviation,
      body: {
        model: CHAT_MODEL,
        input: `Tell me of bird ${at}.`,
        max_output_tokens: MAX_TOKENS,
        ...(previous !== undefined && { previous_response_id: previous }),
      },
    });
    if (response === undefined) break;
    const { id } = response.json<ResponseOnWire>();
    const path = `/v1/responses/${id}`;
    // The stored response is identical to the returned one.
    client.keep('response', id, path, response.bytes);
    ids.push(id);
    previous = id;
  }
  const [first] = ids;
  if (first !== undefined) await client.drop('response', first, `/v1/responses/${first}`);
}

async function textRound(client: SoakClient, material: Material, at: number): Promise<void> {
  const words = 1 + (at % 20);
  switch (at % 5) {
    case 0:
      await client.sendRequest({ ...chatOf({}), judge: chatDeviation });
      break;
    case 1:
      await client.sendRequest({ ...chatOf({ stream: true }), judge: streamedDeviation });
      break;
    case 2:
      await client.sendRequest({
        path: '/v1/embeddings',
        method: 'POST',
        rows: 'one',
        judge: embeddingDeviation(material, words),
        body: { model: EMBED_MODEL, input: wordsOfLength(words) },
      });
      break;
    case 3:
      await chain(client);
      break;
    default:
      await client.sendRequest({
        ...chatOf({ stream: true, max_tokens: 200 }),
        leaveAfterMs: 50 + client.parts.random() * 500,
      });
  }
}

/** Chat, stored and continued responses, embeddings, and clients that disconnect half-way. */
export const textLoad: Load = {
  name: 'text',
  organization: 'text',
  site: 'main',
  pauseMs: 1500,
  round: textRound,
};

/** The text load on the node with the small disk. */
export const smallTextLoad: Load = {
  ...textLoad,
  name: 'text on the small disk',
  site: 'small',
  pauseMs: 4000,
};
