import { posix } from 'node:path';

/**
 * The public surface of a module, from the declarations that the compiler writes: the declarations of its exports, and those
 * that they name in turn.
 */

/** Declarations of one file, as the compiler writes them: each statement starts in the first column. */
interface DeclarationFile {
  /** Statements by the name that they declare; a function can have several. */
  readonly statements: ReadonlyMap<string, readonly string[]>;
  /** Names that it imports or exports from other files. */
  readonly imports: ReadonlyMap<string, Import>;
  readonly exports: readonly string[];
}

interface Import {
  /** Path of a file, or name of a package. */
  readonly from: string;
  readonly name: string;
}

const DECLARED =
  /^(?:export )?(?:declare )?(?:abstract )?(?:const|function|class|interface|type|enum) ([\w$]+)/;
const LINKED = /^(import|export)(?: type)? \{(.*)\}(?: from '(.*)')?;$/;
const IDENTIFIER = /[A-Za-z_$][\w$]*/g;

/**
 * @param files texts of the `.d.ts` files, by the path of their source.
 * @param entry path of the module.
 * @returns a text with one part per file.
 * @throws Error for a statement that is not understood, and for a name that is declared nowhere.
 */
export function surfaceOf(files: ReadonlyMap<string, string>, entry: string): string {
  const parsed = new Map<string, DeclarationFile>();
  const fileAt = (path: string): DeclarationFile => {
    const text = files.get(path);
    if (text === undefined) throw new Error(`${path} has no declarations`);
    const file = parsed.get(path) ?? parseFile(path, text);
    parsed.set(path, file);
    return file;
  };
  /** Names of the surface by file or package. */
  const reached = new Map<string, Set<string>>();
  const reach = (path: string, name: string): void => {
    const names = reached.get(path) ?? new Set();
    if (names.has(name)) return;
    reached.set(path, names.add(name));
    if (!isFile(path)) return;
    const { statements, imports } = fileAt(path);
    const link = imports.get(name);
    if (link !== undefined) {
      reach(link.from, link.name);
      return;
    }
    const own = statements.get(name);
    if (own === undefined) throw new Error(`${path} does not declare '${name}'`);
    for (const [used] of own.join('\n').matchAll(IDENTIFIER)) {
      if (statements.has(used) || imports.has(used)) reach(path, used);
    }
  };
  for (const name of fileAt(entry).exports) reach(entry, name);
  return [...reached]
    .toSorted(([one], [other]) => (one === entry ? -1 : other === entry ? 1 : one < other ? -1 : 1))
    .flatMap(([path, names]) => {
      if (!isFile(path)) return `// ${path}: ${[...names].sort().join(', ')}\n`;
      const { statements, exports } = fileAt(path);
      const own = [...statements].flatMap(([name, texts]) => (names.has(name) ? texts : []));
      if (path === entry) return `// ${path}\nexport { ${[...exports].sort().join(', ')} };\n${lines(own)}`;
      return own.length === 0 ? [] : `// ${path}\n${lines(own)}`;
    })
    .join('\n');
}

function lines(statements: readonly string[]): string {
  return statements.map((statement) => `${statement}\n`).join('');
}

function isFile(path: string): boolean {
  return path.endsWith('.ts');
}

function parseFile(path: string, text: string): DeclarationFile {
  const statements = new Map<string, string[]>();
  const imports = new Map<string, Import>();
  const exports: string[] = [];
  for (const statement of text.split(/\n(?=(?:import|export|declare|type|interface|const) )/)) {
    const whole = statement.trimEnd();
    const declared = DECLARED.exec(whole)?.[1];
    const [, keyword, names, from] = LINKED.exec(whole) ?? [];
    if (declared !== undefined) {
      statements.set(declared, [...(statements.get(declared) ?? []), whole]);
      if (whole.startsWith('export ')) exports.push(declared);
    } else if (names !== undefined) {
      for (const each of names.split(',').filter((part) => part.trim() !== '')) {
        const [name = '', local = name] = each
          .trim()
          .replace(/^type /, '')
          .split(' as ');
        if (from !== undefined) imports.set(local, { from: resolved(path, from), name });
        if (keyword === 'export') exports.push(local);
      }
    } else if (whole !== '') {
      throw new Error(`${path}: this declaration is not understood: ${whole.split('\n', 1)[0]}`);
    }
  }
  return { statements, imports, exports };
}

function resolved(path: string, from: string): string {
  return from.startsWith('.') ? posix.join(posix.dirname(path), from) : from;
}

/** The first difference of a recorded surface, as an error; undefined if there is none. */
export function surfaceError(recorded: string, current: string): string | undefined {
  if (recorded === current) return undefined;
  const [then, now] = [recorded.split('\n'), current.split('\n')];
  const at = now.findIndex((line, index) => line !== then[index]);
  const line = at === -1 ? now.length : at;
  return `line ${line + 1} is '${then[line] ?? ''}' and would be '${now[line] ?? ''}'`;
}
