import { Glob } from 'bun';

/** A rule for tests outside the deep tier and the benchmarks, which a text search can check. */
interface TestRule {
  readonly pattern: RegExp;
  readonly why: string;
}

/** A test that depends on time fails on a busy machine although the product is right. */
const TIME_RULES: readonly TestRule[] = [
  {
    pattern: /\bperformance\.now\(|\bexpect\([^;]*\bDate\.now\(/,
    why: 'a test asserts events and counts; measure time in bench or in a x.deep.test.ts',
  },
  {
    pattern: /\btimeout: ?\d[\d_]{3,}|^\s*\}, \d[\d_]*_000\);$/,
    why: 'limits of waits are PATIENCE or PATIENCE_MS of tools/harness/patience.ts',
  },
  {
    pattern: /\bvi\.waitFor\((?![\s\S]{0,600}?PATIENCE)/,
    why: 'vi.waitFor has a limit of 1 s: use expect.poll, or pass PATIENCE',
  },
  {
    pattern: /\bsleep\(\s*\d{2,}|\bsetTimeout\((?:[^()]|\([^()]*\))*,\s*\d{2,}\)/,
    why: 'wait for an event or poll a condition; a sleep orders nothing on a busy machine',
  },
];

/** Bun loads the modules of tests, so `vi.mock` has no effect. */
const MODULE_RULES: readonly TestRule[] = [
  {
    pattern: /\bvi\.(?:mock|doMock|hoisted)\(/,
    why: 'modules cannot be replaced: pass what the code depends on',
  },
];

/** What unit tests may not use; `x.api.test.ts` may use sockets, `x.process.test.ts` processes. */
const UNIT_RULES: readonly TestRule[] = [
  {
    pattern: /\bBun\.(?:spawn|spawnSync)\(|\bnode:child_process\b|\blaunch\w*Service\(/,
    why: 'a unit test starts no process: name the file x.process.test.ts',
  },
  {
    pattern:
      /\bBun\.(?:serve|listen|connect)\(|'node:(?:net|http|https)'|\bstartFake\w*\(|\bstart\w*Server\(/,
    why: 'a unit test opens no socket: name the file x.api.test.ts',
  },
];

const TESTS = '{src,server,plugins,packages,scripts,tools,web,test}/**/*.{test,cases}.{ts,tsx}';
/** The deep tier may measure. The last file tests these rules. */
const EXEMPT = /^test\/deep\/|\.deep\.test\.ts$|^test\/gates\.test\.ts$/;
const UNIT = /^(?!test\/)(?!.*\.(?:api|process|models|deep)\.test\.).*\.test\.tsx?$/;

/** Violations in the tests, one line each. */
export async function testErrors(root: string): Promise<string[]> {
  const errors: string[] = [];
  for await (const path of new Glob(TESTS).scan(root)) {
    if (EXEMPT.test(path)) continue;
    const text = await Bun.file(`${root}/${path}`).text();
    const rules = [...TIME_RULES, ...MODULE_RULES, ...(UNIT.test(path) ? UNIT_RULES : [])];
    for (const { pattern, why } of rules) {
      for (const { index } of text.matchAll(new RegExp(pattern, 'gm'))) {
        errors.push(`${path}:${text.slice(0, index).split('\n').length}: ${why}`);
      }
    }
  }
  return errors.sort();
}
