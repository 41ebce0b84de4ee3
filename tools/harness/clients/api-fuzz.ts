import { join } from 'node:path';
import { type LaunchedService, SERVICE_KEY } from '../services/launcher.ts';
import { pinnedFor, runPython } from './python.ts';

const SCRIPT = join(import.meta.dirname, 'api-fuzz/fuzz.py');

export interface FuzzOptions {
  /** As schemathesis names them: `examples`, `coverage`, `fuzzing`. */
  readonly phases: string;
  readonly seed: number;
  /** When it ends: after so many requests of each operation, or after so long. */
  readonly until: { readonly examples: number } | { readonly seconds: number };
}

export interface FuzzFindings {
  readonly operations: number;
  readonly requests: number;
  /** Answers that are not as documented, by kind. */
  readonly faults: Readonly<Record<string, number>>;
  /** What schemathesis printed of them. */
  readonly output: string;
}

type Told =
  | { readonly kind: string; readonly faults: number }
  | { readonly operations: number; readonly requests: number; readonly output: string };

/** What makes the requests, in words. */
export const fuzzedBy = () => pinnedFor(SCRIPT);

/** Asks a service for what its own documentation offers, rightly and wrongly, and judges the answers by it. */
export async function fuzzApi(
  service: LaunchedService,
  { phases, seed, until }: FuzzOptions,
): Promise<FuzzFindings> {
  const url = `${service.baseUrl}/swagger/json`;
  const told = await runPython<Told>(SCRIPT, { url, key: SERVICE_KEY, phases, seed, ...until });
  const faults: Record<string, number> = {};
  let whole = { operations: 0, requests: 0, output: '' };
  for (const line of told) {
    if ('kind' in line) faults[line.kind] = line.faults;
    else whole = line;
  }
  return { ...whole, faults };
}
