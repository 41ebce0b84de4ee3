import { join } from 'node:path';
import type { ServiceAccess } from '../services/launcher.ts';
import { pinnedFor, runPython } from './python.ts';

const SCRIPT = join(import.meta.dirname, 'api-fuzz/fuzz.py');

export interface FuzzOptions {
  /** Phases of schemathesis: `examples`, `coverage`, `fuzzing`. */
  readonly phases: string;
  readonly seed: number;
  /** Number of examples per operation, or the total time. */
  readonly until: { readonly examples: number } | { readonly seconds: number };
}

export interface FuzzFindings {
  readonly operations: number;
  readonly requests: number;
  /** Number of failed checks by kind. */
  readonly failures: Readonly<Record<string, number>>;
  /** Output of schemathesis. */
  readonly output: string;
}

type OutputLine =
  | { readonly kind: string; readonly failures: number }
  | { readonly operations: number; readonly requests: number; readonly output: string };

/** Name and version of the fuzzer. */
export const fuzzedBy = () => pinnedFor(SCRIPT);

/** Sends valid and invalid requests generated from the OpenAPI document, and checks the responses against it. */
export async function fuzzApi(
  service: ServiceAccess,
  { phases, seed, until }: FuzzOptions,
): Promise<FuzzFindings> {
  const url = `${service.baseUrl}/swagger/json`;
  const lines = await runPython<OutputLine>(SCRIPT, { url, key: service.key, phases, seed, ...until });
  const failures: Record<string, number> = {};
  let summary = { operations: 0, requests: 0, output: '' };
  for (const line of lines) {
    if ('kind' in line) failures[line.kind] = line.failures;
    else summary = line;
  }
  return { ...summary, failures };
}
