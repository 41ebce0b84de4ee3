import { afterEach, expect, test } from 'vitest';
import {
  type LaunchedService,
  launchService,
  NO_RECOGNISER,
  NO_TEXT,
  speakStreamed,
} from '../../tools/harness/services/launcher.ts';

/** Shutdown of the real process while a real model speaks. */

const CONFIG = `[models."svc-tts"]\nkind = "piper"\n${NO_RECOGNISER}${NO_TEXT}`;
const TEXT = 'The harbour was quiet that morning. Two boats lay at the pier, and a gull walked between them.';
const BYTES_PER_SECOND = 48_000;

let service: LaunchedService | undefined;
afterEach(() => service?.stop());

const speak = (running: LaunchedService) => speakStreamed(running, TEXT);

test('after SIGTERM, a running speech response is completed and the process exits with 0', async () => {
  service = await launchService({ config: CONFIG, env: { PLUGINS: 'speech' } });
  const whole = await (await speak(service)).bytes();
  expect(whole.length).toBeGreaterThan(4 * BYTES_PER_SECOND);

  const response = await speak(service);
  expect(response.status).toBe(200);
  service.signal('SIGTERM');
  const during = await response.bytes();
  expect(during.length).toBe(whole.length);
  expect(await service.exited).toBe(0);
  // The request was still running when the signal arrived.
  expect(service.log().find(({ msg }) => msg === 'stopping')).toMatchObject({ requests: 1 });
  expect(service.log().some(({ level }) => level === 'error')).toBe(false);
});
