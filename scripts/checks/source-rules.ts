import { Glob } from 'bun';
import { FAMILIES } from '../../src/engines/families.ts';

/** A rule that a text search can check. */
interface SourceRule {
  readonly pattern: RegExp;
  readonly why: string;
  /** The only file that may match. */
  readonly home: string;
}

const RULES: readonly SourceRule[] = [
  {
    pattern: /\bprocess\.env\b|\bBun\.env\b|\bimport\.meta\.env\b/,
    why: 'only src/config/config.ts reads the environment',
    home: 'src/config/config.ts',
  },
  {
    pattern: /\bDate\.now\(|\bperformance\.now\(|\bnew Date\(\)/,
    why: 'only src/kit/clock.ts reads the time; take a Clock',
    home: 'src/kit/clock.ts',
  },
  {
    pattern: /\bconsole\.(log|info|warn|error|debug)\(/,
    why: 'the product logs through Logger; only server/process.ts writes to the console',
    home: 'server/process.ts',
  },
];

/** Sources with the rule of {@link SPREAD_LITERAL}, tests included. */
const ALL_SOURCES = '{src,server,plugins,packages,scripts,tools,web,test,bench,soak}/**/*.{ts,tsx}';
/** A spread of an object literal, which has no effect but keeps several properties on one line. */
const SPREAD_LITERAL = /\.\.\.\(?\{(?!\s*\})/;

/** Kinds of models that are also words for something else. */
const COMMON_WORDS: ReadonlySet<string> = new Set(['conversation', 'upstream']);
const FAMILY_NAME = new RegExp(
  `'(${[...new Set(FAMILIES.map(({ kind }) => kind))].filter((kind) => !COMMON_WORDS.has(kind)).join('|')})'`,
);
/** Where a family of engines may be named besides its folder: default model ids, and an example of the API. */
const NAMING_FILES: ReadonlySet<string> = new Set([
  'src/config/default-models.ts',
  'src/config/openai-names.ts',
  'src/http/routes/models.ts',
]);

/** Violations in the sources, one line each. */
export async function sourceErrors(root: string): Promise<string[]> {
  return [...(await productErrors(root)), ...(await familyErrors(root)), ...(await spreadErrors(root))];
}

/** Sources of the core that name a family of engines outside its folder. */
async function familyErrors(root: string): Promise<string[]> {
  const errors: string[] = [];
  for await (const path of new Glob('src/**/*.ts').scan(root)) {
    if (path.endsWith('.test.ts') || NAMING_FILES.has(path)) continue;
    const lines = (await Bun.file(`${root}/${path}`).text()).split('\n');
    for (const [index, line] of lines.entries()) {
      const kind = FAMILY_NAME.exec(line)?.[1];
      if (kind === undefined || path.startsWith(`src/engines/${kind}/`)) continue;
      errors.push(
        `${path}:${index + 1}: only src/engines/${kind} names '${kind}'; add a property to EngineFamily`,
      );
    }
  }
  return errors;
}

async function spreadErrors(root: string): Promise<string[]> {
  const errors: string[] = [];
  for await (const path of new Glob(ALL_SOURCES).scan(root)) {
    const lines = (await Bun.file(`${root}/${path}`).text()).split('\n');
    for (const [index, line] of lines.entries()) {
      if (SPREAD_LITERAL.test(line)) errors.push(`${path}:${index + 1}: write the properties one per line`);
    }
  }
  return errors;
}

async function productErrors(root: string): Promise<string[]> {
  const errors: string[] = [];
  for await (const path of new Glob('{src,server,plugins,packages}/**/*.ts').scan(root)) {
    if (path.endsWith('.test.ts')) continue;
    const lines = (await Bun.file(`${root}/${path}`).text()).split('\n');
    for (const [index, line] of lines.entries()) {
      const code = line.replace(/^\s*(\*|\/\/|\/\*).*/, '');
      for (const { pattern, why, home } of RULES) {
        if (path !== home && pattern.test(code)) errors.push(`${path}:${index + 1}: ${why}`);
      }
    }
  }
  return errors;
}
