import { expect, it } from 'vitest';
import { fileRecord } from '../../../test/contract/file-store.cases.ts';
import { fileList } from './list-response.ts';
import { fileObject } from './schema.ts';

it.each([0, 1, 999, 1000, 1001, 2500])('of %i files is one list of them', async (count) => {
  const files = Array.from({ length: count }, (_, at) => fileRecord({ filename: `"${at}"\n` }));
  expect(JSON.parse(await fileList({ files, hasMore: count > 1 }))).toEqual({
    object: 'list',
    data: files.map(fileObject),
    first_id: files[0]?.id ?? null,
    last_id: files.at(-1)?.id ?? null,
    has_more: count > 1,
  });
});

it('that is long lets others have their turns', async () => {
  const files = Array.from({ length: 10_000 }, () => fileRecord());
  let [turns, ended] = [0, false];
  const others = (async () => {
    while (!ended) {
      await new Promise((resolve) => setImmediate(resolve));
      turns += 1;
    }
  })();
  await fileList({ files, hasMore: false });
  ended = true;
  await others;
  expect(turns).toBeGreaterThanOrEqual(10);
});
