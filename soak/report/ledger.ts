/** Records every call, stored resource and fault of a soak run, with the rules that check them; pure. */

/** How a call ended from the view of its client. */
export type CallEnd =
  /** A complete, correct response. */
  | 'right'
  /** A typed error response. */
  | 'rejected'
  /** A typed error in a response that had started. */
  | 'failed'
  /** The connection broke before the end of the response, and the client could detect this. */
  | 'cut'
  /** No connection, or it broke before the response. */
  | 'unreachable'
  /** The client disconnected. */
  | 'left'
  /** A response that seems complete but is incorrect or truncated. */
  | 'wrong'
  /** An error without an error body, or `server_error` without a reason. */
  | 'untyped'
  /** Not within the time limit. */
  | 'late';

/** Usage rows of an accepted call: one, one or more (the service splits phone calls into turns), or none. */
export type RowsOfCall = 'one' | 'some' | 'none';

export interface Call {
  /** Name of the load. */
  readonly load: string;
  readonly organization: string;
  readonly node: string;
  readonly rows: RowsOfCall;
  readonly beganMs: number;
  endedMs?: number;
  end?: CallEnd;
  /** Details of an end other than `right`. */
  detail?: string;
  /** Of the response head; absent without a response, and for turns on a socket. */
  status?: number;
  requestId?: string;
}

export interface Fault {
  readonly name: string;
  /** Affected nodes. */
  readonly nodes: readonly string[];
  /** Ends of calls that are acceptable during the fault. */
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
  /** URL path of its content. */
  readonly path: string;
  /** Of the content, in hex. */
  readonly sha256: string;
  /** `unsure`: its deletion was requested but not acknowledged. */
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

/** An open call. Only its first end is recorded. */
export interface OpenEntry {
  responded(status: number, requestId: string | undefined): void;
  end(end: CallEnd, detail?: string): void;
}

export class Ledger {
  readonly calls: Call[] = [];
  readonly faults: Fault[] = [];
  readonly kept: Kept[] = [];
  readonly batches: ExpectedBatch[] = [];
  /** Ids of requested videos. */
  readonly videos = new Set<string>();
  readonly #nowMs: () => number;

  /** @param nowMs ms since the start of the run. */
  constructor(nowMs: () => number) {
    this.#nowMs = nowMs;
  }

  begin(call: Pick<Call, 'load' | 'organization' | 'node' | 'rows'>): OpenEntry {
    const entry: Call = { ...call, beganMs: this.#nowMs() };
    this.calls.push(entry);
    return {
      responded(status, requestId) {
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

  /** Records the start of a fault. @returns a function that records its end. */
  recordFault(fault: Pick<Fault, 'name' | 'nodes' | 'excuses'>): () => void {
    const started: Fault = { ...fault, fromMs: this.#nowMs() };
    this.faults.push(started);
    return () => {
      started.toMs ??= this.#nowMs();
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

/** Whether a fault on the node of a call, during the call, explains this end. */
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
    if (end === 'right' || end === 'rejected' || end === 'failed' || end === 'left') return [];
    if ((end === 'cut' || end === 'unreachable') && isExcused(call, end, faults)) return [];
    return [`${described(call)}: ${end}: ${detail}`];
  });
}

/** Whether the service accepted the call, so that it must have a usage row. */
const isAccepted = ({ rows, status = 0 }: Call) => rows !== 'none' && status >= 200 && status < 300;

/** Calls without exactly the expected usage rows, one line each. */
export function usageViolations(
  calls: readonly Call[],
  rows: readonly UsageRow[],
  faults: readonly Fault[],
): string[] {
  const found: string[] = [];
  const byRequest = Map.groupBy(rows, ({ requestId }) => requestId);
  const requestIds = new Set<string>();
  for (const call of calls) {
    if (call.requestId === undefined) continue;
    requestIds.add(call.requestId);
    const own = byRequest.get(call.requestId) ?? [];
    if (own.length > 1) found.push(`${described(call)}: has ${own.length} usage rows`);
    if (isAccepted(call) && own.length === 0) found.push(`${described(call)}: has no usage row`);
    if (call.end === 'right' && own[0] && own[0].status !== 'completed' && !isExcused(call, 'cut', faults)) {
      found.push(`${described(call)}: was successful, but its row says ${own[0].status}`);
    }
  }
  const others = Map.groupBy(
    rows.filter(({ requestId }) => !requestIds.has(requestId)),
    ({ organization }) => organization,
  );
  const withoutId = Map.groupBy(
    calls.filter(({ requestId, rows }) => requestId === undefined && rows !== 'none'),
    ({ organization }) => organization,
  );
  for (const organization of new Set([...others.keys(), ...withoutId.keys()])) {
    const [unmatched, open] = [others.get(organization) ?? [], withoutId.get(organization) ?? []];
    const right = open.filter(({ end }) => end === 'right').length;
    const completed = unmatched.filter(({ status }) => status === 'completed').length;
    if (completed < right) {
      found.push(`${organization}: ${right} successful calls have ${completed} completed usage rows`);
    }
    if (unmatched.length > open.length && open.every(({ rows }) => rows === 'one')) {
      found.push(`${organization}: ${unmatched.length} usage rows of ${open.length} calls`);
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
    const expected = lines.get(custom_id);
    const tokens = (response?.body.usage as { prompt_tokens?: number } | undefined)?.prompt_tokens;
    if (expected && !('tokens' in expected && expected.tokens === tokens))
      found.push(`${custom_id} has a wrong result`);
    const own = rowsOf.get(response?.request_id ?? '')?.length ?? 0;
    if (own !== 1) found.push(`${custom_id} has ${own} usage rows`);
  }
  for (const { custom_id, error } of result.error) {
    const expected = lines.get(custom_id);
    if (expected && !('error' in expected && expected.error === error?.code)) {
      found.push(`${custom_id} failed with ${error?.code}`);
    }
  }
  const failed = [...lines.values()].filter((expected) => 'error' in expected).length;
  const counts = { total: lines.size, completed: lines.size - failed, failed };
  for (const [name, count] of Object.entries(counts)) {
    const reported = result.counts[name as keyof typeof counts];
    if (reported !== count) found.push(`counts ${reported} ${name} and not ${count}`);
  }
  return found.map((error) => `${batch.id}: ${error}`);
}

/** Accounts of one organization, in millionths of a credit. */
export interface Books {
  readonly organization: string;
  readonly available: number;
  readonly reserved: number;
  readonly revenue: number;
  readonly granted: number;
  /** Sums of the entries of each account. */
  readonly entries: Readonly<Record<'available' | 'reserved' | 'revenue' | 'granted', number>>;
  /** Total cost of the usage rows. */
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
  return found.map((error) => `credits of ${organization}: ${error}`);
}
