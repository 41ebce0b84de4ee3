import { expect, onTestFinished, test } from 'vitest';
import {
  consoleTests,
  expectAccessible,
  expectNoSidewaysScroll,
  expectStateAccessible,
  PHONE_WIDTH,
  screenshot,
} from '../harness/console-browser.ts';
import { scriptedService } from '../harness/group-servers.ts';
import { replaceAudio } from '../media/page-audio.ts';

/** The page of the pronunciation lexicon in a real browser. The speech is scripted. */

const open = consoleTests('/pronunciation', async () => ({
  service: await scriptedService(),
}));

test('an entry is heard before it is saved, saved, heard, replaced and deleted', async () => {
  const { page } = await open();
  onTestFinished(() => page.unrouteAll());
  await replaceAudio(page);
  const spoken: unknown[] = [];
  await page.route('**/v1/audio/speech', async (route) => {
    spoken.push(route.request().postDataJSON());
    await route.fulfill({ contentType: 'audio/pcm', body: Buffer.alloc(4800) });
  });
  await page.getByText('No entries yet.').waitFor();
  await expect
    .poll(() => page.getByRole('combobox', { name: 'Model for previews' }).inputValue())
    .toBe('svc-tts');
  await page.getByLabel('Word').fill('Nguyen');
  await page.getByLabel('Language').fill('en');
  await page.getByRole('textbox', { name: 'Phonemes' }).fill('wɪn');
  await page.getByRole('button', { name: 'Preview' }).click();
  await expect.poll(() => spoken.length).toBe(1);
  const input = '<speak><phoneme alphabet="ipa" ph="wɪn">Nguyen</phoneme></speak>';
  expect(spoken[0]).toMatchObject({ model: 'svc-tts', language: 'en', input_type: 'ssml', input });
  await page.getByRole('button', { name: 'Save entry' }).click();
  await page.getByText('Saved Nguyen.').waitFor();
  const row = page.getByRole('row', { name: /nguyen/i });
  await row.getByText('/wɪn/').waitFor();
  await expectAccessible(page);
  await screenshot(page, 'pronunciation');
  await page.getByRole('button', { name: 'Play Nguyen' }).click();
  await expect.poll(() => spoken.length).toBe(2);
  expect(spoken[1]).toEqual(spoken[0]);

  await page.getByText('Respelling', { exact: true }).click();
  await page.getByLabel('Word').fill('nguyen');
  await page.getByRole('textbox', { name: 'Respelling' }).fill('win');
  await page.getByRole('button', { name: 'Save entry' }).click();
  await row.getByText('“win”').waitFor();
  expect(await row.count()).toBe(1);

  await page.getByRole('button', { name: 'Delete nguyen' }).click();
  await page.getByRole('button', { name: 'Delete entry' }).click();
  await page.getByText('No entries yet.').waitFor();
});

test('an invalid entry is explained at its field', async () => {
  const { page } = await open({ width: PHONE_WIDTH });
  await page.getByLabel('Word').fill('Nguyen');
  await page.getByLabel('Language').fill('klingon');
  await page.getByRole('textbox', { name: 'Phonemes' }).fill('wɪn');
  await page.getByRole('button', { name: 'Save entry' }).click();
  await page.getByText("'language' must be a BCP 47 tag").waitFor();
  await page.getByLabel('Language').fill('');
  await page.getByRole('textbox', { name: 'Phonemes' }).fill('W IH1 N');
  await page.getByRole('button', { name: 'Save entry' }).click();
  await page.getByText("'phonemes' must be in the International Phonetic Alphabet").waitFor();
  await expectNoSidewaysScroll(page);
  await expectStateAccessible(page);
});
