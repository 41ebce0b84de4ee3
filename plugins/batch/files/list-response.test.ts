import { expect, it } from 'vitest';
import { fileRecord } from '../../../test/contract/file-store.cases.ts';
import { fileListJson } from './list-response.ts';
import { toFileObject } from './schema.ts';

it.each([0, 1, 999, 1000, 1001, 2500])('serializes %i files as one list', async (count) => {
  const files = Array.from({ length: count }, (_, at) => fileRecord({ filename: `"${at}"\n` }));
  expect(JSON.parse(await fileListJson({ files, hasMore: count > 1 }))).toEqual({
    object: 'list',
    data: files.map(toFileObject),
    first_id: files[0]?.id ?? null,
    last_id: files.at(-1)?.id ?? null,
    has_more: count > 1,
  });
});

it('yields to the event loop during a long list', async () => {
  const files = Array.from({ length: 10_000 }, () => fileRecord());
  let [turns, finished] = [0, false];
  const others = (async () => {
    while (!finished) {
      await new Promise((resolve) => setImmediate(resolve));
      turns += 1;
    }
  })();
  await fileListJson({ files, hasMore: false });
  finished = true;
  await others;
  expect(turns).toBeGreaterThanOrEqual(10);
});
