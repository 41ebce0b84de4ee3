/** A client of the service that records the outcome of each call in the ledger. */

import { createHash } from 'node:crypto';
import type { CallEnd, Ledger, RowsOfCall } from './ledger.ts';
import { keyOf, type Organization } from './soak-config.ts';
import type { SoakNode } from './soak-node.ts';

/** A head, and the bytes that came behind it. */
export interface Answer {
  readonly status: number;
  readonly headers: Headers;
  readonly bytes: Uint8Array<ArrayBuffer>;
  text(): string;
  json<Body>(): Body;
}

/** What an answer that came whole is worth: `undefined` is right. */
export type Verdict = { readonly end: 'failed' | 'wrong'; readonly detail: string } | undefined;

export interface Question {
  readonly path: string;
  readonly method?: 'GET' | 'POST' | 'DELETE';
  /** A plain object is sent as JSON. */
  readonly body?: FormData | object;
  readonly headers?: Readonly<Record<string, string>>;
  readonly rows?: RowsOfCall;
  /** Ms in which the whole answer must have come. */
  readonly withinMs?: number;
  /** Statuses that are right; a judge sees their answers. */
  readonly statuses?: readonly number[];
  readonly judge?: (answer: Answer) => Verdict;
  /** The client disconnects this many ms after its request. */
  readonly leaveAfterMs?: number;
  /** Asks there in place of any node that is up. */
  readonly at?: SoakNode;
}

/** Three times the slowest response on two idle cores; anything longer counts as hanging. */
export const WITHIN_MS = 180_000;
/** How long something that must succeed is asked for again, and how often. */
const INSIST_MS = 300_000;
const AGAIN_MS = 1000;

export interface ClientParts {
  readonly ledger: Ledger;
  readonly load: string;
  readonly organization: Organization;
  readonly site: 'main' | 'small';
  readonly nodes: readonly SoakNode[];
  readonly random: () => number;
  /** The end of the load: nothing is asked for again after it. */
  readonly signal: AbortSignal;
  /** Somebody wants the run to end: what was asked for is not waited for. */
  readonly stopped: AbortSignal;
}

export class SoakClient {
  readonly parts: ClientParts;

  constructor(parts: ClientParts) {
    this.parts = parts;
  }

  get headers(): Record<string, string> {
    return { authorization: `Bearer ${keyOf(this.parts.organization)}` };
  }

  /** Its organization as the ledger names it: each site has records of its own. */
  get account(): string {
    return accountOf(this.parts.site, this.parts.organization);
  }

  /** A node that is up, as a balancer would choose it; any, when none is. */
  node(): SoakNode {
    const { nodes, random } = this.parts;
    const up = nodes.filter(({ isUp }) => isUp);
    const among = up.length > 0 ? up : nodes;
    const node = among[Math.floor(random() * among.length)];
    if (node === undefined) throw new Error('a site has no nodes');
    return node;
  }

  /** Asks once. @returns the answer if it was right, else undefined; the ledger knows why. */
  async ask(question: Question): Promise<Answer | undefined> {
    const { withinMs = WITHIN_MS, leaveAfterMs, rows = 'none', at = this.node() } = question;
    const { ledger, load, stopped } = this.parts;
    const entry = ledger.begin({ load, organization: this.account, node: at.name, rows });
    const late = AbortSignal.timeout(withinMs);
    const left = leaveAfterMs === undefined ? undefined : AbortSignal.timeout(leaveAfterMs);
    const signal = AbortSignal.any([late, stopped, ...(left ? [left] : [])]);
    let hasHead = false;
    try {
      const response = await fetch(`${at.service.baseUrl}${question.path}`, {
        ...(question.method && { method: question.method }),
        ...sent(question.body),
        headers: { ...this.headers, ...sent(question.body).headers, ...question.headers },
        signal,
      });
      hasHead = true;
      entry.answered(response.status, response.headers.get('x-request-id') ?? undefined);
      const answer = await answerOf(response);
      const { statuses = [200] } = question;
      if (!statuses.includes(response.status)) {
        const { end, detail } = refusalOf(answer);
        entry.end(end, detail);
        return undefined;
      }
      const verdict = judged(question, answer);
      entry.end(verdict?.end ?? 'right', verdict?.detail);
      return verdict === undefined ? answer : undefined;
    } catch (error) {
      const said = error instanceof Error ? `${error.name}: ${error.message}` : String(error);
      if (left?.aborted || stopped.aborted) entry.end('left');
      else if (late.aborted)
        entry.end('late', `no whole answer within ${withinMs / 1000} s of ${question.path}`);
      else entry.end(hasHead ? 'cut' : 'unreachable', `${question.path}: ${said}`);
      return undefined;
    }
  }

  /**
   * Asks again until it is answered, as a client does that has an idempotency key, or asks for what changes nothing.
   * @returns undefined when it was not answered for a long time; the ledger knows why.
   */
  async insist(question: Question): Promise<Answer | undefined> {
    const latest = performance.now() + INSIST_MS;
    for (;;) {
      const answer = await this.ask(question);
      if (answer !== undefined || performance.now() > latest || this.parts.stopped.aborted) return answer;
      await Bun.sleep(AGAIN_MS);
    }
  }

  /** Stored resources are kept until they are deleted. */
  keep(kind: string, id: string, path: string, bytes: Uint8Array): void {
    const { ledger, organization, site } = this.parts;
    ledger.kept.push({ kind, id, organization, site, path, sha256: sha256(bytes), state: 'kept' });
  }

  /** Deletes one of the things that are kept. */
  async drop(kind: string, id: string, path: string): Promise<void> {
    const kept = this.parts.ledger.kept.find((each) => each.kind === kind && each.id === id);
    if (kept === undefined) return;
    kept.state = 'unsure';
    const answer = await this.ask({ path, method: 'DELETE' });
    if (answer !== undefined) kept.state = 'gone';
  }
}

export const accountOf = (site: string, organization: string) => `${site}/${organization}`;

export const sha256 = (bytes: Uint8Array | string) => createHash('sha256').update(bytes).digest('hex');

function sent(body: Question['body']): { body?: FormData | string; headers?: Record<string, string> } {
  if (body === undefined) return {};
  if (body instanceof FormData) return { body };
  return { body: JSON.stringify(body), headers: { 'content-type': 'application/json' } };
}

async function answerOf(response: Response): Promise<Answer> {
  const bytes = new Uint8Array(await response.arrayBuffer());
  const text = () => new TextDecoder().decode(bytes);
  return {
    ...{ status: response.status, headers: response.headers, bytes, text },
    json: <Body>() => JSON.parse(text()) as Body,
  };
}

/** What a question's judge says; an answer that it cannot even read is wrong. */
function judged({ judge }: Question, answer: Answer): Verdict {
  try {
    return judge?.(answer);
  } catch (error) {
    return { end: 'wrong', detail: error instanceof Error ? error.message : String(error) };
  }
}

/** Whether an error response states the error. */
export function refusalOf(answer: Pick<Answer, 'status' | 'text'>): { end: CallEnd; detail: string } {
  const { status } = answer;
  let error: { message?: unknown; type?: unknown; code?: unknown } | undefined;
  try {
    error = (JSON.parse(answer.text()) as { error?: typeof error }).error;
  } catch {
    return { end: 'untyped', detail: `HTTP ${status} without an error body` };
  }
  if (typeof error?.message !== 'string' || typeof error.type !== 'string') {
    return { end: 'untyped', detail: `HTTP ${status} without an error body` };
  }
  const detail = `${status} ${error.code ?? error.type}`;
  // A 500 that names no reason is a fault of the service itself.
  return { end: status === 500 && error.code !== 'worker_crashed' ? 'untyped' : 'refused', detail };
}

/** The values of a stream of server-sent events. @throws SyntaxError for one that is no JSON. */
export function sseValues(text: string): (Record<string, unknown> | '[DONE]')[] {
  return text
    .split('\n')
    .filter((line) => line.startsWith('data: '))
    .map((line) => (line === 'data: [DONE]' ? '[DONE]' : JSON.parse(line.slice('data: '.length))));
}

/** The words of a text in small letters. */
export const wordsOf = (text: string) => text.toLowerCase().match(/[a-z']+/g) ?? [];

/** Share of the words of one text that another text contains, in any order. */
export function shareOfWords(wanted: string, found: string): number {
  const [words, has] = [wordsOf(wanted), new Set(wordsOf(found))];
  return words.length === 0 ? 1 : words.filter((word) => has.has(word)).length / words.length;
}
