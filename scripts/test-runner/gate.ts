import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Glob } from 'bun';
import { USER_CACHE } from '../../tools/harness/user-cache.ts';

/** The part of the deep tier that runs before every landing: more inputs and kills, in bounded time. */
const GATE_FILES = [
  'src/audio/sentences.property.test.ts',
  'packages/json-schema-gbnf/src/schema-grammar.test.ts',
  'src/plugin-host/registry.test.ts',
  'test/protocol/exhaustive.test.ts',
  'test/protocol/conversation-fuzz.test.ts',
  'test/faults/realtime-fuzz.test.ts',
  'test/faults/batch-kill.deep.test.ts',
  'test/faults/video-kill.deep.test.ts',
  'test/deep/schemathesis.test.ts',
];
/** Builds and runs the container image. */
const CONTAINER_FILE = 'test/deep/container.test.ts';
/** What the container image consists of, besides sources. */
const CONTAINER_INPUTS = ['docker/**', 'deploy/**', 'test/deep/containers/**', 'package.json', 'bun.lock'];

/** The files of the gate. */
export interface Gate {
  readonly files: readonly string[];
  /** Whether {@link files} include the container test, whose base images must exist. */
  readonly hasContainer: boolean;
  /** Records that the container test has passed with the present inputs. */
  recordPass(): void;
}

/** The container test is part of the gate unless it has passed with the same inputs on this machine. */
export function openGate(root: string): Gate {
  const hash = createHash('sha256');
  for (const pattern of CONTAINER_INPUTS) {
    for (const path of [...new Glob(pattern).scanSync({ cwd: root, dot: true })].sort()) {
      hash.update(`${path}\0`).update(readFileSync(join(root, path)));
    }
  }
  const folder = join(USER_CACHE, 'container-test');
  const stamp = join(folder, hash.digest('hex'));
  const hasContainer = !existsSync(stamp);
  return {
    files: hasContainer ? [...GATE_FILES, CONTAINER_FILE] : GATE_FILES,
    hasContainer,
    recordPass() {
      mkdirSync(folder, { recursive: true });
      writeFileSync(stamp, '');
    },
  };
}
