import { describe, expect, test } from 'vitest';
import { surfaceError, surfaceOf } from './surface.ts';

const FILES = {
  'src/api.ts': `import { Type } from 'library';
export { Type } from 'library';
export type { Cup } from './cups/cup.ts';
export { fill } from './cups/fill.ts';
export declare const LIMIT = 4;
`,
  'src/cups/cup.ts': `import type { Size as CupSize } from './size.ts';
export interface Cup {
    readonly size: CupSize;
}
export declare function unused(): void;
`,
  'src/cups/fill.ts': `import type { Cup } from './cup.ts';
type Tea = 'green' | 'black';
export declare function fill(cup: Cup): void;
export declare function fill(cup: Cup, tea: Tea): void;
`,
  'src/cups/size.ts': `export type Size = 1 | 2;
`,
};

/** The surface with one replacement in one file. */
function surface(path?: keyof typeof FILES, from = '', to = ''): string {
  const files = new Map<string, string>(Object.entries(FILES));
  if (path !== undefined) files.set(path, FILES[path].replace(from, to));
  return surfaceOf(files, 'src/api.ts');
}

describe('the surface', () => {
  test('has the exports, and what they name in turn', () => {
    expect(surface()).toBe(`// src/api.ts
export { Cup, LIMIT, Type, fill };
export declare const LIMIT = 4;

// library: Type

// src/cups/cup.ts
export interface Cup {
    readonly size: CupSize;
}

// src/cups/fill.ts
type Tea = 'green' | 'black';
export declare function fill(cup: Cup): void;
export declare function fill(cup: Cup, tea: Tea): void;

// src/cups/size.ts
export type Size = 1 | 2;
`);
  });

  test.each([
    ['a signature', 'src/cups/fill.ts', 'tea: Tea', 'tea?: Tea'],
    ['a type of a type', 'src/cups/size.ts', '1 | 2', '1 | 2 | 3'],
    ['a name', 'src/api.ts', 'fill }', 'fill as pour }'],
    ['a value', 'src/api.ts', '4', '5'],
  ] as const)('changes with %s', (_, path, from, to) => {
    expect(surface(path, from, to)).not.toBe(surface());
  });

  test('does not change with a declaration that no export names', () => {
    expect(surface('src/cups/cup.ts', 'unused(): void', 'unused(): string')).toBe(surface());
  });

  test.each([
    ['src/api.ts', '{ fill }', '* as all', 'src/api.ts: this declaration is not understood'],
    ['src/cups/fill.ts', './cup.ts', './gone.ts', 'src/cups/gone.ts has no declarations'],
    ['src/cups/size.ts', 'type Size', 'type Other', "src/cups/size.ts does not declare 'Size'"],
  ] as const)('of %s with %s replaced by %s is an error', (path, from, to, message) => {
    expect(() => surface(path, from, to)).toThrow(message);
  });
});

test('an error names the first difference', () => {
  expect(surfaceError('a\nb\n', 'a\nb\n')).toBeUndefined();
  expect(surfaceError('a\nb\n', 'a\nc\n')).toBe("line 2 is 'b' and would be 'c'");
  expect(surfaceError('', 'a\n')).toBe("line 1 is '' and would be 'a'");
  expect(surfaceError('a\nb', 'a')).toBe("line 2 is 'b' and would be ''");
});
