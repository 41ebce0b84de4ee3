/** Records every call, stored resource and fault of a soak run, with the rules that check them; pure. */

/** How a call ended, as its client saw it. */
export type CallEnd =
  /** With a whole and right answer. */
  | 'right'
  /** With a typed error in place of an answer. */
  | 'refused'
  /** With a typed error in the answer that had begun. */
  | 'failed'
  /** The connection broke before the answer's end, and the client could tell. */
  | 'cut'
  /** There was no connection. */
  | 'unreachable'
  /** The client disconnected. */
  | 'left'
  /** With what looks like a whole answer and is another, or a part of it. */
  | 'wrong'
  /** With an error that says nothing: no error body, or `server_error` without a reason. */
  | 'untyped'
  /** Not within its time. */
  | 'late';

/** How many usage rows an accepted call has: one, one or more (turns of a phone call are cut by the service), or none. */
export type RowsOfCall = 'one' | 'some' | 'none';

export interface Call {
  /** What kind of load it is of. */
  readonly load: string;
  readonly organization: string;
  readonly node: string;
  readonly rows: RowsOfCall;
  readonly beganMs: number;
  endedMs?: number;
  end?: CallEnd;
  /** Of an end other than `right`: what was seen. */
  detail?: string;
  /** Of the head of the answer; absent when none came, and of turns on a socket. */
  status?: number;
  requestId?: string;
}

export interface Fault {
  readonly name: string;
  /** The nodes that it strikes. */
  readonly nodes: readonly string[];
  /** Ends of calls that it explains, while it lasts. */
  readonly excuses: readonly CallEnd[];
  readonly fromMs: number;
  toMs?: number;
}

/** A stored resource that was acknowledged. */
export interface Kept {
  readonly kind: string;
  readonly id: string;
  readonly organization: string;
  readonly site: string;
  /** Where its bytes can be read. */
  readonly path: string;
  /** Of those bytes, in hex. */
  readonly sha256: string;
  /** `unsure`: its deletion was asked for and not acknowledged. */
  state: 'kept' | 'gone' | 'unsure';
}

/** Expected result of a batch line. */
export type LineFate = { readonly tokens: number } | { readonly error: string };

export interface ExpectedBatch {
  readonly id: string;
  readonly organization: string;
  readonly site: string;
  readonly lines: ReadonlyMap<string, LineFate>;
}

/** A call that is open; only its first end counts. */
export interface OpenEntry {
  answered(status: number, requestId: string | undefined): void;
  end(end: CallEnd, detail?: string): void;
}

export class Ledger {
  readonly calls: Call[] = [];
  readonly faults: Fault[] = [];
  readonly kept: Kept[] = [];
  readonly batches: ExpectedBatch[] = [];
  /** Ids of videos that were asked for. */
  readonly videos = new Set<string>();
  readonly #nowMs: () => number;

  /** @param nowMs ms since the run began. */
  constructor(nowMs: () => number) {
    this.#nowMs = nowMs;
  }

  begin(call: Pick<Call, 'load' | 'organization' | 'node' | 'rows'>): OpenEntry {
    const entry: Call = { ...call, beganMs: this.#nowMs() };
    this.calls.push(entry);
    return {
      answered(status, requestId) {
        entry.status = status;
        if (requestId !== undefined) entry.requestId = requestId;
      },
      end: (end, detail) => {
        if (entry.end !== undefined) return;
        entry.end = end;
        entry.endedMs = this.#nowMs();
        if (detail !== undefined) entry.detail = detail;
      },
    };
  }

  /** A fault begins; the function that it gives ends it. */
  strike(fault: Pick<Fault, 'name' | 'nodes' | 'excuses'>): () => void {
    const struck: Fault = { ...fault, fromMs: this.#nowMs() };
    this.faults.push(struck);
    return () => {
      struck.toMs ??= this.#nowMs();
    };
  }
}

/** The checked fields of a usage row. */
export interface UsageRow {
  readonly id: string;
  readonly organization: string;
  readonly requestId: string;
  readonly status: string;
}

/** Whether a fault was at work on the node of a call during it, of those that explain such an end. */
function isExcused(call: Call, end: CallEnd, faults: readonly Fault[]): boolean {
  return faults.some(
    ({ nodes, excuses, fromMs, toMs = Number.POSITIVE_INFINITY }) =>
      nodes.includes(call.node) &&
      excuses.includes(end) &&
      fromMs <= (call.endedMs ?? Number.POSITIVE_INFINITY) &&
      call.beganMs <= toMs,
  );
}

const described = ({ load, node, beganMs, requestId = 'without a request id' }: Call) =>
  `${load} at ${Math.round(beganMs / 1000)} s on ${node} (${requestId})`;

/** Calls that ended in a way that is not allowed, one line each. */
export function callViolations(calls: readonly Call[], faults: readonly Fault[]): string[] {
  return calls.flatMap((call) => {
    const { end, detail = '' } = call;
    if (end === undefined) return [`${described(call)}: never ended`];
    if (end === 'right' || end === 'refused' || end === 'failed' || end === 'left') return [];
    if ((end === 'cut' || end === 'unreachable') && isExcused(call, end, faults)) return [];
    return [`${described(call)}: ${end}: ${detail}`];
  });
}

/** Whether a row must be there: the service said that it works on it. */
const isAccepted = ({ rows, status = 0 }: Call) => rows !== 'none' && status >= 200 && status < 300;

/** Calls without exactly the expected usage rows, one line each. */
export function usageViolations(
  calls: readonly Call[],
  rows: readonly UsageRow[],
  faults: readonly Fault[],
): string[] {
  const found: string[] = [];
  const byRequest = Map.groupBy(rows, ({ requestId }) => requestId);
  const named = new Set<string>();
  for (const call of calls) {
    if (call.requestId === undefined) continue;
    named.add(call.requestId);
    const own = byRequest.get(call.requestId) ?? [];
    if (own.length > 1) found.push(`${described(call)}: has ${own.length} usage rows`);
    if (isAccepted(call) && own.length === 0) found.push(`${described(call)}: has no usage row`);
    if (call.end === 'right' && own[0] && own[0].status !== 'completed' && !isExcused(call, 'cut', faults)) {
      found.push(`${described(call)}: was answered, and its row says ${own[0].status}`);
    }
  }
  const others = Map.groupBy(
    rows.filter(({ requestId }) => !named.has(requestId)),
    ({ organization }) => organization,
  );
  const nameless = Map.groupBy(
    calls.filter(({ requestId, rows }) => requestId === undefined && rows !== 'none'),
    ({ organization }) => organization,
  );
  for (const organization of new Set([...others.keys(), ...nameless.keys()])) {
    const [its, asked] = [others.get(organization) ?? [], nameless.get(organization) ?? []];
    const right = asked.filter(({ end }) => end === 'right').length;
    const completed = its.filter(({ status }) => status === 'completed').length;
    if (completed < right) {
      found.push(`${organization}: ${right} calls were answered and have ${completed} completed usage rows`);
    }
    if (its.length > asked.length && asked.every(({ rows }) => rows === 'one')) {
      found.push(`${organization}: ${its.length} usage rows of ${asked.length} calls`);
    }
  }
  const ids = new Set(rows.map(({ id }) => id));
  if (ids.size !== rows.length) found.push(`${rows.length - ids.size} usage rows have the id of another`);
  return found;
}

/** The checked fields of a result line of a batch. */
export interface ResultOfLine {
  readonly custom_id: string;
  readonly response: { readonly request_id?: string; readonly body: Record<string, unknown> } | null;
  readonly error: { readonly code: string } | null;
}

export interface BatchResult {
  readonly status: string;
  readonly counts: { readonly total: number; readonly completed: number; readonly failed: number };
  readonly output: readonly ResultOfLine[];
  readonly error: readonly ResultOfLine[];
}

/** Lines of a batch without exactly one expected result, one line each. */
export function batchViolations(
  batch: ExpectedBatch,
  result: BatchResult,
  rows: readonly UsageRow[],
): string[] {
  const found: string[] = [];
  const { lines } = batch;
  if (result.status !== 'completed') found.push(`is ${result.status}`);
  const seen = new Map<string, number>();
  for (const { custom_id } of [...result.output, ...result.error]) {
    seen.set(custom_id, (seen.get(custom_id) ?? 0) + 1);
  }
  for (const id of lines.keys()) if (!seen.has(id)) found.push(`${id} has no result`);
  for (const [id, times] of seen) {
    if (!lines.has(id)) found.push(`${id} was never asked for`);
    if (times > 1) found.push(`${id} has ${times} results`);
  }
  const rowsOf = Map.groupBy(rows, ({ requestId }) => requestId);
  for (const { custom_id, response } of result.output) {
    const fate = lines.get(custom_id);
    const tokens = (response?.body.usage as { prompt_tokens?: number } | undefined)?.prompt_tokens;
    if (fate && !('tokens' in fate && fate.tokens === tokens)) found.push(`${custom_id} has a wrong result`);
    const own = rowsOf.get(response?.request_id ?? '')?.length ?? 0;
    if (own !== 1) found.push(`${custom_id} has ${own} usage rows`);
  }
  for (const { custom_id, error } of result.error) {
    const fate = lines.get(custom_id);
    if (fate && !('error' in fate && fate.error === error?.code)) {
      found.push(`${custom_id} failed with ${error?.code}`);
    }
  }
  const failing = [...lines.values()].filter((fate) => 'error' in fate).length;
  const counts = { total: lines.size, completed: lines.size - failing, failed: failing };
  for (const [name, count] of Object.entries(counts)) {
    const told = result.counts[name as keyof typeof counts];
    if (told !== count) found.push(`counts ${told} ${name} and not ${count}`);
  }
  return found.map((fault) => `${batch.id}: ${fault}`);
}

/** Credits of one organization, in millionths. */
export interface Books {
  readonly organization: string;
  readonly available: number;
  readonly reserved: number;
  readonly revenue: number;
  readonly granted: number;
  /** Sums of the entries of each account. */
  readonly entries: Readonly<Record<'available' | 'reserved' | 'revenue' | 'granted', number>>;
  /** What its usage rows cost. */
  readonly cost: number;
}

/** Inconsistent or still reserved credits, one line each. */
export function creditViolations(books: Books): string[] {
  const found: string[] = [];
  const { organization, available, reserved, revenue, granted, entries, cost } = books;
  const sum = available + reserved + revenue + granted;
  if (sum !== 0) found.push(`its accounts add up to ${sum}`);
  if (reserved !== 0) found.push(`${reserved} are still reserved`);
  if (revenue !== cost) found.push(`${revenue} were charged for what costs ${cost}`);
  for (const [account, amount] of Object.entries({ available, reserved, revenue, granted })) {
    const booked = entries[account as keyof Books['entries']];
    if (booked !== amount) found.push(`'${account}' is ${amount}, and its entries add up to ${booked}`);
  }
  return found.map((fault) => `credits of ${organization}: ${fault}`);
}
