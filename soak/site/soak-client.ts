/** A client of the service that records the outcome of each call in the ledger. */

import { createHash } from 'node:crypto';
import type { CallEnd, Ledger, RowsOfCall } from '../report/ledger.ts';
import { keyOf, type Organization } from './soak-config.ts';
import type { SoakNode } from './soak-node.ts';

/** A complete response. */
export interface SoakResponse {
  readonly status: number;
  readonly headers: Headers;
  readonly bytes: Uint8Array<ArrayBuffer>;
  text(): string;
  json<Body>(): Body;
}

/** Assessment of a complete response; `undefined` means correct. */
export type Deviation = { readonly end: 'failed' | 'wrong'; readonly detail: string } | undefined;

export interface Question {
  readonly path: string;
  readonly method?: 'GET' | 'POST' | 'DELETE';
  /** A plain object is sent as JSON. */
  readonly body?: FormData | object;
  readonly headers?: Readonly<Record<string, string>>;
  readonly rows?: RowsOfCall;
  /** Time limit of the complete response in ms. */
  readonly withinMs?: number;
  /** Expected status codes; `judge` assesses only these responses. */
  readonly statuses?: readonly number[];
  readonly judge?: (response: SoakResponse) => Deviation;
  /** The client disconnects this many ms after its request. */
  readonly leaveAfterMs?: number;
  /** The node; any node that is up if absent. */
  readonly at?: SoakNode;
}

/** Three times the slowest response on two idle cores. */
export const WITHIN_MS = 180_000;
/** Total time and interval of retries. */
const INSIST_MS = 300_000;
const RETRY_MS = 1000;

export interface ClientParts {
  readonly ledger: Ledger;
  readonly load: string;
  readonly organization: Organization;
  readonly site: 'main' | 'small';
  readonly nodes: readonly SoakNode[];
  readonly random: () => number;
  /** The end of the load: no further requests are sent. */
  readonly signal: AbortSignal;
  /** The run is interrupted: open requests are aborted. */
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

  /** The organization as named in the ledger. Each site has its own records. */
  get account(): string {
    return accountOf(this.parts.site, this.parts.organization);
  }

  /** A random node that is up; any node if none is. */
  node(): SoakNode {
    const { nodes, random } = this.parts;
    const up = nodes.filter(({ isUp }) => isUp);
    const candidates = up.length > 0 ? up : nodes;
    const node = candidates[Math.floor(random() * candidates.length)];
    if (node === undefined) throw new Error('a site has no nodes');
    return node;
  }

  /** Sends a request once. @returns the response if it is correct, else undefined; the ledger has the reason. */
  async sendRequest(question: Question): Promise<SoakResponse | undefined> {
    const { withinMs = WITHIN_MS, leaveAfterMs, rows = 'none', at = this.node() } = question;
    const { ledger, load, stopped } = this.parts;
    const entry = ledger.begin({ load, organization: this.account, node: at.name, rows });
    const timeout = AbortSignal.timeout(withinMs);
    const left = leaveAfterMs === undefined ? undefined : AbortSignal.timeout(leaveAfterMs);
    const signal = AbortSignal.any([timeout, stopped, ...(left ? [left] : [])]);
    let hasHead = false;
    try {
      const fetched = await fetch(`${at.service.baseUrl}${question.path}`, {
        ...(question.method && { method: question.method }),
        ...bodyOf(question.body),
        headers: { ...this.headers, ...bodyOf(question.body).headers, ...question.headers },
        signal,
      });
      hasHead = true;
      entry.responded(fetched.status, fetched.headers.get('x-request-id') ?? undefined);
      const response = await readResponse(fetched);
      const { statuses = [200] } = question;
      if (!statuses.includes(response.status)) {
        const { end, detail } = rejectionOf(response);
        entry.end(end, detail);
        return undefined;
      }
      const deviation = judged(question, response);
      entry.end(deviation?.end ?? 'right', deviation?.detail);
      return deviation === undefined ? response : undefined;
    } catch (error) {
      const message = error instanceof Error ? `${error.name}: ${error.message}` : String(error);
      if (left?.aborted || stopped.aborted) entry.end('left');
      else if (timeout.aborted)
        entry.end('late', `${question.path}: no complete response within ${withinMs / 1000} s`);
      else entry.end(hasHead ? 'cut' : 'unreachable', `${question.path}: ${message}`);
      return undefined;
    }
  }

  /**
   * Repeats an idempotent request until its response is correct.
   * @returns undefined after {@link INSIST_MS}; the ledger has the reason.
   */
  async insist(question: Question): Promise<SoakResponse | undefined> {
    const deadlineMs = performance.now() + INSIST_MS;
    for (;;) {
      const response = await this.sendRequest(question);
      if (response !== undefined || performance.now() > deadlineMs || this.parts.stopped.aborted)
        return response;
      await Bun.sleep(RETRY_MS);
    }
  }

  /** Records a stored resource. */
  keep(kind: string, id: string, path: string, bytes: Uint8Array): void {
    const { ledger, organization, site } = this.parts;
    ledger.kept.push({ kind, id, organization, site, path, sha256: sha256(bytes), state: 'kept' });
  }

  /** Deletes a recorded resource. */
  async drop(kind: string, id: string, path: string): Promise<void> {
    const kept = this.parts.ledger.kept.find((each) => each.kind === kind && each.id === id);
    if (kept === undefined) return;
    kept.state = 'unsure';
    const response = await this.sendRequest({ path, method: 'DELETE' });
    if (response !== undefined) kept.state = 'gone';
  }
}

export const accountOf = (site: string, organization: string) => `${site}/${organization}`;

export const sha256 = (bytes: Uint8Array | string) => createHash('sha256').update(bytes).digest('hex');

function bodyOf(body: Question['body']): { body?: FormData | string; headers?: Record<string, string> } {
  if (body === undefined) return {};
  if (body instanceof FormData) return { body };
  return { body: JSON.stringify(body), headers: { 'content-type': 'application/json' } };
}

async function readResponse(response: Response): Promise<SoakResponse> {
  const bytes = new Uint8Array(await response.arrayBuffer());
  const text = () => new TextDecoder().decode(bytes);
  return {
    status: response.status,
    headers: response.headers,
    bytes,
    text,
    json: <Body>() => JSON.parse(text()) as Body,
  };
}

/** Assesses a response. It is wrong if `judge` throws. */
function judged({ judge }: Question, response: SoakResponse): Deviation {
  try {
    return judge?.(response);
  } catch (error) {
    return { end: 'wrong', detail: error instanceof Error ? error.message : String(error) };
  }
}

/** Whether an error response states the error. */
export function rejectionOf(response: Pick<SoakResponse, 'status' | 'text'>): {
  end: CallEnd;
  detail: string;
} {
  const { status } = response;
  let error: { message?: unknown; type?: unknown; code?: unknown } | undefined;
  try {
    error = (JSON.parse(response.text()) as { error?: typeof error }).error;
  } catch {
    return { end: 'untyped', detail: `HTTP ${status} without an error body` };
  }
  if (typeof error?.message !== 'string' || typeof error.type !== 'string') {
    return { end: 'untyped', detail: `HTTP ${status} without an error body` };
  }
  const detail = `${status} ${error.code ?? error.type}`;
  // A 500 without a reason is a defect of the service.
  return { end: status === 500 && error.code !== 'worker_crashed' ? 'untyped' : 'rejected', detail };
}

/** The values of a stream of server-sent events. @throws SyntaxError if one is not JSON. */
export function sseValues(text: string): (Record<string, unknown> | '[DONE]')[] {
  return text
    .split('\n')
    .filter((line) => line.startsWith('data: '))
    .map((line) => (line === 'data: [DONE]' ? '[DONE]' : JSON.parse(line.slice('data: '.length))));
}

/** The words of a text in lower case. */
export const wordsOf = (text: string) => text.toLowerCase().match(/[a-z']+/g) ?? [];

/** Share of the words of one text that another text contains, in any order. */
export function shareOfWords(expected: string, actual: string): number {
  const [words, found] = [wordsOf(expected), new Set(wordsOf(actual))];
  return words.length === 0 ? 1 : words.filter((word) => found.has(word)).length / words.length;
}
