import { afterAll, beforeAll, describe, test } from 'vitest';
import {
  type ConversationService,
  holdConversation,
  launchConversationService,
  SETTINGS,
} from '../clients/conversation/scenario.ts';
import { openNodeClient } from '../harness/node-client.ts';
import { inDeepTier } from '../harness/tier.ts';

/** Unmodified client libraries in spoken conversations with the real process. Only the language model is scripted. */

let running: ConversationService;
beforeAll(async () => {
  running = await launchConversationService();
});
afterAll(() => running?.stop());

// They speak in real time, and mostly wait.
describe.concurrent('a conversation of three turns', () => {
  test('@openai/agents-realtime', async ({ onTestFinished }) => {
    const instructions = 'You use the agents package.';
    // The model that this client uses by default.
    const model = 'gpt-realtime-2.1';
    const url = `${running.service.socketUrl}?model=${model}`;
    const client = openNodeClient(
      'conversation/agents.mjs',
      { ...SETTINGS, model, instructions, url },
      {},
      onTestFinished,
    );
    await holdConversation(running, client, { instructions });
  });

  // In the default tier, realtime-openai.test.ts uses this package.
  inDeepTier(() => {
    test('openai', async ({ onTestFinished }) => {
      const instructions = 'You use the openai package.';
      const baseURL = `${running.service.tlsUrl}/v1`;
      const client = openNodeClient(
        'conversation/openai.mjs',
        { ...SETTINGS, instructions, baseURL },
        {},
        onTestFinished,
      );
      await holdConversation(running, client, { instructions });
    });
  });
});
