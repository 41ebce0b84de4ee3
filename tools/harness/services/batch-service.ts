import { SERVICE_KEY } from './launcher.ts';

/** A launched service, or a substitute for one. */
export interface Fetching {
  fetch(path: string, init?: RequestInit): Promise<Response>;
}

/** The fields of a batch that tests use. */
export interface BatchOnWire {
  readonly id: string;
  readonly status: string;
  readonly output_file_id: string | null;
  readonly error_file_id: string | null;
  readonly request_counts: { readonly total: number; readonly completed: number; readonly failed: number };
  readonly errors: { readonly data: readonly { readonly code: string; readonly message: string }[] } | null;
  readonly usage?: { readonly total_tokens: number } | null;
}

/** A line of a result file. */
export interface ResultLine {
  readonly custom_id: string;
  readonly response: { readonly status_code: number; readonly body: Record<string, unknown> } | null;
  readonly error: { readonly code: string; readonly message: string } | null;
}

export const BATCH_ENDS: ReadonlySet<string> = new Set(['completed', 'failed', 'expired', 'cancelled']);

const authorization = `Bearer ${SERVICE_KEY}`;

/** The JSON body of a response. @throws Error if the status is not 2xx. */
async function json<Body>(response: Response): Promise<Body> {
  if (!response.ok) throw new Error(`HTTP ${response.status}: ${await response.text()}`);
  return (await response.json()) as Body;
}

/** Uploads an input file and returns its id. With an idempotency key, repeated calls return the same file. */
export async function uploadInput(service: Fetching, text: string, key?: string): Promise<string> {
  const form = new FormData();
  form.set('purpose', 'batch');
  form.set('file', new File([text], 'input.jsonl', { type: 'application/jsonl' }));
  const headers = { authorization, ...(key === undefined ? {} : { 'idempotency-key': key }) };
  const file = await json<{ id: string }>(
    await service.fetch('/v1/files', { method: 'POST', headers, body: form }),
  );
  return file.id;
}

export async function createBatch(
  service: Fetching,
  input: string,
  endpoint: string,
  key?: string,
): Promise<BatchOnWire> {
  const headers = {
    authorization,
    'content-type': 'application/json',
    ...(key === undefined ? {} : { 'idempotency-key': key }),
  };
  const body = JSON.stringify({ input_file_id: input, endpoint, completion_window: '24h' });
  return json(await service.fetch('/v1/batches', { method: 'POST', headers, body }));
}

export async function retrieveBatch(service: Fetching, id: string): Promise<BatchOnWire> {
  return json(await service.fetch(`/v1/batches/${id}`));
}

/** Lines of a result file; empty without a file. */
export async function resultLines(service: Fetching, file: string | null): Promise<ResultLine[]> {
  if (file === null) return [];
  const response = await service.fetch(`/v1/files/${file}/content`);
  if (!response.ok) throw new Error(`HTTP ${response.status}: ${await response.text()}`);
  const lines = (await response.text()).split('\n');
  if (lines.pop() !== '') throw new Error('the last line of a result file has no line end');
  return lines.map((line) => JSON.parse(line) as ResultLine);
}

/** All usage rows of the organization, newest first. */
export async function usageRows(service: Fetching): Promise<Record<string, unknown>[]> {
  const rows: Record<string, unknown>[] = [];
  let after = '';
  for (;;) {
    const page = await json<{ data: Record<string, unknown>[]; has_more: boolean; last_id: string }>(
      await service.fetch(`/v1/usage?limit=100${after}`),
    );
    rows.push(...page.data);
    if (!page.has_more) return rows;
    after = `&after=${page.last_id}`;
  }
}
