import { Glob } from 'bun';

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
    why: 'the product logs through Logger; only src/process.ts writes to the console',
    home: 'src/process.ts',
  },
];

/** Violations in the product sources, one line each. */
export async function sourceErrors(root: string): Promise<string[]> {
  const errors: string[] = [];
  for await (const path of new Glob('{src,plugins,packages}/**/*.ts').scan(root)) {
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
