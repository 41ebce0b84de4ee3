import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { fuzzApi } from '../../tools/harness/clients/api-fuzz.ts';
import { HAS_PIP } from '../../tools/harness/clients/python.ts';
import { type LaunchedService, launchService } from '../../tools/harness/services/launcher.ts';
import { launchStubbedService, type StubbedService } from '../../tools/harness/services/stubbed-service.ts';
import { needs } from '../harness/needs.ts';

/**
 * Every JSON route of the real process, asked for what its own documentation offers, rightly and wrongly: no 500, no
 * answer that is not documented, every error in the one shape. `bun run bench api-fuzz` asks for more.
 */

/** Any number; the same requests every time. */
const SEED = 4711;
const PATIENCE_MS = 240_000;

beforeEach((context) => needs(context, HAS_PIP, 'Python with pip'));

describe('over servers whose answers are known', () => {
  let stubbed: StubbedService;
  beforeAll(async () => {
    stubbed = await launchStubbedService();
  });
  afterAll(() => stubbed?.close());

  test(
    'every response is as documented for any request',
    async () => {
      const until = { examples: 20 };
      const found = await fuzzApi(stubbed.service, { phases: 'examples,fuzzing', seed: SEED, until });
      expect(found.faults, found.output).toEqual({});
      expect(found.operations).toBeGreaterThanOrEqual(16);
      expect(found.requests).toBeGreaterThan(150);
    },
    PATIENCE_MS,
  );
});

describe('over the models that come with the service', () => {
  let service: LaunchedService;
  beforeAll(async () => {
    service = await launchService();
  });
  afterAll(() => service?.stop());

  test(
    'the examples of the documentation are answered as it says',
    async () => {
      const found = await fuzzApi(service, { phases: 'examples', seed: SEED, until: { examples: 1 } });
      expect(found.faults, found.output).toEqual({});
      const page = await (await service.fetch('/v1/usage?limit=100')).json();
      const worked = (page as { data: { endpoint: string }[] }).data.map(({ endpoint }) => endpoint);
      expect(worked).toEqual(
        expect.arrayContaining(['POST /v1/chat/completions', 'POST /v1/embeddings', 'POST /v1/responses']),
      );
    },
    PATIENCE_MS,
  );
});
