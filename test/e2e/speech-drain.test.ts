import { afterEach, expect, test } from 'vitest';
import { type LaunchedService, launchService, speakStreamed } from '../../tools/harness/services/launcher.ts';

/** Stopping the real process while a real model speaks. */

const TEXT = 'The harbour was quiet that morning. Two boats lay at the pier, and a gull walked between them.';
const BYTES_A_SECOND = 48_000;

let service: LaunchedService | undefined;
afterEach(() => service?.stop());

const speak = (running: LaunchedService) => speakStreamed(running, TEXT);

test('SIGTERM lets running speech end whole, then the process exits with 0', async () => {
  service = await launchService();
  const whole = await (await speak(service)).bytes();
  expect(whole.length).toBeGreaterThan(4 * BYTES_A_SECOND);

  const answer = await speak(service);
  expect(answer.status).toBe(200);
  service.signal('SIGTERM');
  const during = await answer.bytes();
  expect(during.length).toBe(whole.length);
  expect(await service.exited).toBe(0);
  // It was really running when the signal came.
  expect(service.log().find(({ msg }) => msg === 'stopping')).toMatchObject({ requests: 1 });
  expect(service.log().some(({ level }) => level === 'error')).toBe(false);
});
