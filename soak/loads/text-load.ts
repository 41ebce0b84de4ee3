import { type Answer, type SoakClient, sseValues, type Verdict } from '../soak-client.ts';
import { CHAT_MODEL, EMBED_MODEL } from '../soak-config.ts';
import type { Load } from './load.ts';
import { type Material, wordsOfLength } from './material.ts';

const DIMENSIONS = 384;
/** Of answers that are continued before they are forgotten. */
const CHAIN = 5;
const MAX_TOKENS = 16;

interface ResponseOnWire {
  readonly id: string;
  readonly status: string;
  readonly output: unknown;
}

function chatFault(answer: Answer): Verdict {
  const { choices } = answer.json<{ choices: { finish_reason: string | null }[] }>();
  return choices[0]?.finish_reason ? undefined : { end: 'wrong', detail: 'an answer without its end' };
}

function streamedFault(answer: Answer): Verdict {
  const values = sseValues(answer.text());
  if (values.some((value) => value !== '[DONE]' && value.error !== undefined)) {
    return { end: 'failed', detail: 'an error event' };
  }
  const isFinished = values.some(
    (value) => value !== '[DONE]' && (value.choices as { finish_reason?: string }[])[0]?.finish_reason,
  );
  if (values.at(-1) === '[DONE]' && isFinished) return undefined;
  return { end: 'wrong', detail: 'a stream without its end' };
}

function responseFault(answer: Answer): Verdict {
  const { status } = answer.json<ResponseOnWire>();
  if (status === 'completed' || status === 'incomplete') return undefined;
  return { end: status === 'failed' ? 'failed' : 'wrong', detail: `a response that is ${status}` };
}

function embeddingFault({ tokensAround }: Material, words: number) {
  return (answer: Answer): Verdict => {
    const { data, usage } = answer.json<{
      data: { embedding: number[] }[];
      usage: { prompt_tokens: number };
    }>();
    const isRight = data[0]?.embedding.length === DIMENSIONS && usage.prompt_tokens === words + tokensAround;
    return isRight ? undefined : { end: 'wrong', detail: 'an embedding of something else' };
  };
}

const chatOf = (fields: object) => ({
  ...{ path: '/v1/chat/completions', method: 'POST' as const, rows: 'one' as const },
  body: {
    ...{ model: CHAT_MODEL, max_tokens: MAX_TOKENS, temperature: 0 },
    messages: [{ role: 'user', content: 'Name three birds.' }],
    ...fields,
  },
});

/** Responses that continue each other, each of them stored, some of them deleted. */
async function chain(client: SoakClient): Promise<void> {
  let previous: string | undefined;
  const made: string[] = [];
  for (let at = 0; at < CHAIN; at += 1) {
    const answer = await client.ask({
      ...{ path: '/v1/responses', method: 'POST', rows: 'one', judge: responseFault },
      body: {
        ...{ model: CHAT_MODEL, input: `Tell me of bird ${at}.`, max_output_tokens: MAX_TOKENS },
        ...(previous !== undefined && { previous_response_id: previous }),
      },
    });
    if (answer === undefined) break;
    const { id } = answer.json<ResponseOnWire>();
    const path = `/v1/responses/${id}`;
    // What was answered is what is stored.
    client.keep('response', id, path, answer.bytes);
    made.push(id);
    previous = id;
  }
  const [first] = made;
  if (first !== undefined) await client.drop('response', first, `/v1/responses/${first}`);
}

async function textRound(client: SoakClient, material: Material, at: number): Promise<void> {
  const words = 1 + (at % 20);
  switch (at % 5) {
    case 0:
      await client.ask({ ...chatOf({}), judge: chatFault });
      break;
    case 1:
      await client.ask({ ...chatOf({ stream: true }), judge: streamedFault });
      break;
    case 2:
      await client.ask({
        ...{ path: '/v1/embeddings', method: 'POST', rows: 'one', judge: embeddingFault(material, words) },
        body: { model: EMBED_MODEL, input: wordsOfLength(words) },
      });
      break;
    case 3:
      await chain(client);
      break;
    default:
      await client.ask({
        ...chatOf({ stream: true, max_tokens: 200 }),
        leaveAfterMs: 50 + client.parts.random() * 500,
      });
  }
}

/** Chat, responses that are stored and continued, embeddings, and clients that leave half-way. */
export const textLoad: Load = {
  ...{ name: 'text', organization: 'text', site: 'main', pauseMs: 1500, round: textRound },
};

/** The same on the machine with the small disk. */
export const smallTextLoad: Load = {
  ...textLoad,
  name: 'text on the small disk',
  site: 'small',
  pauseMs: 4000,
};
