import type { Page } from 'playwright-core';
import { afterAll, describe, expect, test } from 'vitest';
import { createBatch, type ResultLine, uploadInput } from '../../tools/harness/services/batch-service.ts';
import {
  type LaunchedService,
  launchService,
  NO_RECOGNISER,
  NO_SPEAKER,
} from '../../tools/harness/services/launcher.ts';
import { type FakeUpstream, startFakeUpstream } from '../../tools/harness/upstreams/fake-upstream.ts';
import {
  bytesOf,
  consoleTests,
  expectAccessible,
  expectNoSidewaysScroll,
  expectStateAccessible,
  PHONE_WIDTH,
  screenshot,
} from '../harness/console-browser.ts';
import { inDeepTier } from '../harness/tier.ts';

/** The batches page in a real browser, with a scripted embedding model and an unavailable language model. */

/** Length of an embedding. */
const DIMENSIONS = 384;

let service: LaunchedService;
let embedder: FakeUpstream;
// The service uses this server and is closed earlier.
afterAll(() => embedder?.close());
const open = consoleTests('/batches', async () => {
  embedder = startFakeUpstream();
  embedder.answer(({ input }) => {
    const embedding = new Array(DIMENSIONS).fill(1 / Math.sqrt(DIMENSIONS));
    const data = [input].flat().map((_, index) => ({ object: 'embedding', index, embedding }));
    return Response.json({ object: 'list', data, usage: { prompt_tokens: 5, total_tokens: 5 } });
  });
  const config = `${NO_SPEAKER}${NO_RECOGNISER}
    [models."smollm2-135m-instruct"]
    kind = "upstream"
    base_url = "http://127.0.0.1:9/v1"
    model = "none"
    [models."all-minilm-l6-v2"]
    kind = "upstream"
    base_url = "${embedder.baseUrl}"
    model = "scripted"`;
  service = await launchService({ config, env: { PLUGINS: 'batch,responses' } });
  return { service };
});

const line = (id: string, changes: object = {}) =>
  JSON.stringify({
    custom_id: id,
    method: 'POST',
    url: '/v1/embeddings',
    body: { model: 'all-minilm-l6-v2', input: `A text called ${id}.` },
    ...changes,
  });

const jsonl = (...lines: readonly string[]) => ({
  name: 'lines.jsonl',
  mimeType: 'application/jsonl',
  buffer: Buffer.from(lines.map((each) => `${each}\n`).join('')),
});

/** Clicks a button and returns the downloaded text. */
async function download(page: Page, button: string): Promise<string> {
  const [file] = await Promise.all([
    page.waitForEvent('download'),
    page.getByRole('button', { name: button }).click(),
  ]);
  return (await bytesOf(file)).toString();
}

const results = (text: string) =>
  text
    .trimEnd()
    .split('\n')
    .map((each) => JSON.parse(each) as ResultLine);

describe('a batch from a file', () => {
  test('is uploaded, run, and its results are downloaded', async () => {
    const { page, consoleErrors } = await open();
    await expect.poll(() => page.getByText('No batches yet').isVisible()).toBe(true);
    await expectAccessible(page);
    await page.getByRole('button', { name: 'New batch' }).click();
    const lines = ['a', 'b', 'c'].map((id) => line(id));
    const unknown = line('d', { body: { model: 'no-such-model', input: 'x' } });
    await page.getByLabel('Input file').setInputFiles(jsonl(...lines, unknown));
    await page.getByText('"custom_id":"a"').waitFor();
    await page.getByRole('button', { name: 'Add metadata' }).click();
    await page.getByLabel('Key 1', { exact: true }).fill('set');
    await page.getByLabel('Value 1').fill('first');
    await expectStateAccessible(page);
    await screenshot(page, 'batches-new');
    await page.getByRole('button', { name: 'Start batch' }).click();

    await page.getByText('The result files are available.').waitFor();
    await page.getByRole('progressbar', { name: '3 of 4 lines completed' }).waitFor();
    await page.getByText('model_not_found').waitFor();
    await expectStateAccessible(page);
    await screenshot(page, 'batches-completed');

    const succeeded = results(await download(page, 'Download results'));
    expect(succeeded.map(({ custom_id: id }) => id).toSorted()).toEqual(['a', 'b', 'c']);
    for (const { response } of succeeded) {
      expect(response?.body).toMatchObject({
        data: [{ embedding: expect.objectContaining({ length: DIMENSIONS }) }],
      });
    }
    const [failed] = results(await download(page, 'Download errors'));
    expect(failed).toMatchObject({ custom_id: 'd', error: { code: 'model_not_found' } });

    // The URL opens the batch, and the browser history leads back.
    await page.reload();
    await page.getByText('The result files are available.').waitFor();
    await page.goBack();
    await page.getByRole('button', { name: 'Start batch' }).waitFor();
    await page.getByRole('button', { name: 'All batches' }).click();
    const row = page.getByRole('row').filter({ hasText: 'set: first' });
    await row.waitFor();
    expect((await row.getByRole('cell').allTextContents()).slice(1, 4)).toEqual([
      'completed',
      '/v1/embeddings',
      '4 of 4, 1 failed',
    ]);
    await expectStateAccessible(page);
    await screenshot(page, 'batches-list');
    expect(consoleErrors).toEqual([]);
  });

  test('with invalid lines shows local errors before the upload and errors of the service after it', async () => {
    const { page, consoleErrors } = await open();
    await page.getByRole('button', { name: 'New batch' }).click();
    const other = line('b', { url: '/v1/responses' });
    await page.getByLabel('Input file').setInputFiles(jsonl(line('a'), line('a'), '{"custom_id":', other));
    await page.getByText('Line 2: "custom_id" is not unique').waitFor();
    await page.getByText('Line 3: Not a JSON object.').waitFor();
    await page.getByRole('button', { name: 'Start batch' }).click();

    await page.getByText('The input is invalid; no line was run.').waitFor();
    const cells = await page.getByRole('cell').allTextContents();
    expect([0, 4, 8].map((row) => cells.slice(row, row + 3))).toEqual([
      ['2', 'duplicate_custom_id', 'custom_id'],
      ['3', 'invalid_json_line', ''],
      ['4', 'invalid_url', 'url'],
    ]);
    await expectStateAccessible(page);
    await screenshot(page, 'batches-failed');
    expect(consoleErrors).toEqual([]);
  });
});

inDeepTier(() => {
  test('a result too long for the preview can be downloaded', async () => {
    const many = Array.from({ length: 20 }, (_, index) => `Text ${index}.`);
    const input = await uploadInput(
      service,
      `${line('a', { body: { model: 'all-minilm-l6-v2', input: many } })}\n`,
    );
    const { id } = await createBatch(service, input, '/v1/embeddings');
    const { page } = await open({ path: `/batches/${id}` });
    await page.getByText('The first line is too long for the preview').waitFor();
    const [result] = results(await download(page, 'Download results'));
    expect(result?.response?.body).toMatchObject({ data: expect.objectContaining({ length: 20 }) });
  });
});

test('a batch from typed texts can be cancelled', async () => {
  const { page, consoleErrors } = await open();
  await page.getByRole('button', { name: 'New batch' }).click();
  await page.getByRole('tab', { name: 'Enter texts' }).click();
  await page.getByLabel('Texts', { exact: true }).fill('One.\nTwo.');
  await page.getByRole('combobox', { name: 'Endpoint' }).click();
  await page.getByRole('option', { name: '/v1/chat/completions' }).click();
  await page.getByRole('combobox', { name: 'Model' }).click();
  await page.getByRole('option', { name: 'smollm2-135m-instruct' }).click();
  await page.getByText('"content":"Two."').waitFor();
  await page.getByRole('button', { name: 'Start batch' }).click();

  // The lines wait, because their model is unavailable.
  await page.getByText('Lines are processed at lower priority than live requests.').waitFor();
  await page.getByRole('button', { name: 'Cancel', exact: true }).click();
  await expectStateAccessible(page);
  await page.getByRole('button', { name: 'Cancel batch' }).click();
  await page.getByText('Completed lines are in the results').waitFor();
  await page.getByText('batch_cancelled').first().waitFor();
  expect(await page.getByRole('button', { name: 'Cancel', exact: true }).count()).toBe(0);
  expect(consoleErrors).toEqual([]);
});

inDeepTier(() => {
  test('lists batches in pages', async () => {
    const input = await uploadInput(service, 'no line\n');
    const ids = [];
    for (let count = 0; count < 21; count += 1) {
      ids.push((await createBatch(service, input, '/v1/embeddings')).id);
    }
    const { page } = await open();
    const addresses = () =>
      page
        .getByRole('row')
        .getByRole('link')
        .evaluateAll((links) => links.map((link) => link.getAttribute('href')));
    const newest = ids.toReversed().map((id) => `#/batches/${id}`);
    await expect.poll(addresses).toEqual(newest.slice(0, 20));
    await page.getByRole('button', { name: 'Older' }).click();
    await expect.poll(async () => (await addresses())[0]).toBe(newest[20]);
    await page.getByRole('button', { name: 'Newer' }).click();
    await expect.poll(addresses).toEqual(newest.slice(0, 20));
    expect(await page.getByRole('button', { name: 'Newer' }).isDisabled()).toBe(true);
  });
});

inDeepTier(() => {
  test('fit a phone and are accessible in the dark color scheme', async () => {
    const { page } = await open({ width: PHONE_WIDTH, scheme: 'dark' });
    await page.getByRole('button', { name: 'New batch' }).click();
    await page.getByLabel('Input file').setInputFiles(jsonl(line('a')));
    await page.getByText('"custom_id":"a"').waitFor();
    await expectNoSidewaysScroll(page);
    await expectAccessible(page);
    await screenshot(page, 'batches-new-phone');
    await page.getByRole('button', { name: 'All batches' }).click();
    await page.getByRole('row').first().waitFor();
    await expectNoSidewaysScroll(page);
    await expectAccessible(page);
    await screenshot(page, 'batches-list-phone');
  });
});
