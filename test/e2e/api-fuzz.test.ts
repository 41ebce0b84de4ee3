import { beforeEach, describe, expect, test } from 'vitest';
import { fuzzApi } from '../../tools/harness/clients/api-fuzz.ts';
import { HAS_PIP } from '../../tools/harness/clients/python.ts';
import { embeddedService, scriptedService } from '../harness/group-servers.ts';
import { needs } from '../harness/needs.ts';
import { inDeepTier, repetitions } from '../harness/tier.ts';

/**
 * Sends valid and invalid requests, generated from the OpenAPI document, to every JSON route of the real process. Checks
 * that no response is a 500 or undocumented, and that every error has the error body. The deep tier and
 * test/deep/schemathesis.test.ts send more requests. swagger.test.ts sends the documented examples to the embedded models.
 */

/** A constant, so that each run sends the same requests. */
const SEED = 4711;
const TIMEOUT_MS = 240_000;

beforeEach((context) => needs(context, HAS_PIP, 'Python with pip'));

describe('with scripted upstreams', () => {
  test(
    'every response conforms to the OpenAPI document',
    async () => {
      const until = { examples: repetitions(1, 8) };
      const service = await scriptedService();
      const findings = await fuzzApi(service, { phases: 'examples,fuzzing', seed: SEED, until });
      expect(findings.failures, findings.output).toEqual({});
      expect(findings.operations).toBeGreaterThanOrEqual(16);
      expect(findings.requests).toBeGreaterThan(repetitions(35, 200));
    },
    TIMEOUT_MS,
  );
});

inDeepTier(() => {
  describe('with the embedded models', () => {
    test(
      'responses to the documented examples conform to the OpenAPI document',
      async () => {
        const service = await embeddedService();
        const findings = await fuzzApi(service, { phases: 'examples', seed: SEED, until: { examples: 1 } });
        expect(findings.failures, findings.output).toEqual({});
        const page = await (await service.fetch('/v1/usage?limit=100')).json();
        const endpoints = (page as { data: { endpoint: string }[] }).data.map(({ endpoint }) => endpoint);
        expect(endpoints).toEqual(
          expect.arrayContaining(['POST /v1/chat/completions', 'POST /v1/embeddings', 'POST /v1/responses']),
        );
      },
      TIMEOUT_MS,
    );
  });
});
