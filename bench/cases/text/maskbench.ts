/**
 * Coverage of JSON Schema, with the schemas and instances of MaskBench (github.com/guidance-ai/jsonschemabench, folder
 * maskbench/data). A schema is handled if its grammar allows all valid instances and no invalid one. The data is not part of
 * this repository: MASKBENCH_DATA names the folder.
 *
 * MaskBench writes instances as `json.dumps` does, with the members in the order of the file, and the engines fix the order of
 * members and the whitespace: "all engines stick to definition order" (its README), so the authors reordered the members of the
 * instances accordingly. This benchmark writes the same order and the same numbers, without spaces, because grammars of this
 * service allow none. An instance must match completely; MaskBench also accepts the start of a longer text.
 */

import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import {
  Grammar,
  type JsonSchema,
  PrefixParser,
  readGrammar,
  schemaRule,
  UnsupportedSchemaError,
} from '../../../packages/json-schema-gbnf/src/index.ts';
import { report } from '../../report.ts';
import { quantile } from '../../statistics.ts';
import { compactInstances } from '../../text/compact-instances.ts';

/** Share of the 11,306 schemas that the README of MaskBench reports as passing, by engine. */
const PUBLISHED = [
  ['LLGuidance 0.7.10', 8909],
  ['XGrammar 0.1.17', 8122],
  ['llama.cpp (llama-cpp-python 0.3.8)', 6505],
] as const;
const PUBLISHED_SCHEMAS = 11_306;
/** Tokens of the response, which limit the strings without `maxLength`. */
const TOKENS = 100_000;
/** Conversions of a schema. The fastest one counts, because other processes interrupt some. */
const REPETITIONS = 3;
const MAX_MISHANDLED_PERCENT = 18;
const MAX_P99_MS = 5;

interface MaskBenchFile {
  readonly schema: JsonSchema | boolean;
  readonly tests: readonly { readonly valid: boolean }[];
}

interface Outcome {
  /** Time of the conversion in ms; undefined if the schema is not supported. */
  readonly ms?: number;
  readonly rejectsValid: boolean;
  readonly acceptsInvalid: boolean;
}

export async function benchMaskBench(): Promise<void> {
  const folder = process.env.MASKBENCH_DATA;
  if (folder === undefined) {
    console.error(
      'maskbench: set MASKBENCH_DATA to the folder maskbench/data of guidance-ai/jsonschemabench.',
    );
    return;
  }
  const names = (await readdir(folder)).filter((name) => name.endsWith('.json')).sort();
  const outcomes: Outcome[] = [];
  for (const name of names) outcomes.push(outcomeOf(await Bun.file(join(folder, name)).text()));
  const percent = (count: number) => (100 * count) / outcomes.length;
  const times = outcomes.flatMap(({ ms }) => ms ?? []);
  const handled = outcomes.filter(
    (each) => each.ms !== undefined && !each.rejectsValid && !each.acceptsInvalid,
  );
  await report(
    'maskbench',
    'JSON Schemas of MaskBench',
    [
      { measure: 'schemas', ours: outcomes.length, unit: '' },
      { measure: 'schemas that are supported', ours: percent(times.length), unit: '%' },
      ...PUBLISHED.map(([engine, passing]) => ({
        measure: `schemas with all instances handled correctly; baseline ${engine}`,
        ours: percent(handled.length),
        peer: (100 * passing) / PUBLISHED_SCHEMAS,
        unit: '%',
      })),
      {
        measure: 'other schemas',
        ours: percent(outcomes.length - handled.length),
        unit: '%',
        target: MAX_MISHANDLED_PERCENT,
      },
      {
        measure: 'schemas of which an invalid instance is accepted',
        ours: outcomes.filter(({ acceptsInvalid }) => acceptsInvalid).length,
        unit: '',
        target: 0,
      },
      { measure: 'conversion to a grammar, p50', ours: quantile(times, 0.5), unit: 'ms' },
      {
        measure: 'conversion to a grammar, p99',
        ours: quantile(times, 0.99),
        unit: 'ms',
        target: MAX_P99_MS,
      },
    ],
    [
      'The baselines are the results that the README of MaskBench publishes for all 11,306 schemas.',
      'Instances are written without spaces, with the members and numbers as in the files.',
      `The time of a conversion is the fastest of ${REPETITIONS}; schemas that are not supported do not count.`,
    ],
  );
}

function outcomeOf(text: string): Outcome {
  const { schema, tests } = JSON.parse(text) as MaskBenchFile;
  const converted = convert(schema);
  if (converted === undefined) return { rejectsValid: false, acceptsInvalid: false };
  const rules = readGrammar(converted.grammar);
  const accepted = compactInstances(text).map((instance) => new PrefixParser(rules).accepts(instance));
  return {
    ms: converted.ms,
    rejectsValid: tests.some(({ valid }, i) => valid && !accepted[i]),
    acceptsInvalid: tests.some(({ valid }, i) => !valid && accepted[i]),
  };
}

function convert(
  schema: JsonSchema | boolean,
): { readonly grammar: string; readonly ms: number } | undefined {
  let best = Number.POSITIVE_INFINITY;
  let text = '';
  for (let i = 0; i < REPETITIONS; i += 1) {
    const startMs = performance.now();
    const grammar = new Grammar(TOKENS);
    try {
      text = grammar.text(schemaRule(grammar, schema));
    } catch (error) {
      if (error instanceof UnsupportedSchemaError) return undefined;
      throw error;
    }
    best = Math.min(best, performance.now() - startMs);
  }
  return { grammar: text, ms: best };
}
