import { join } from 'node:path';
import { afterAll, beforeAll, describe, test } from 'vitest';
import { nodePackages } from '../../tools/harness/clients/node-packages.ts';
import { HAS_PIP, pythonPackages } from '../../tools/harness/clients/python.ts';
import {
  type ConversationService,
  holdConversation,
  launchConversationService,
  SETTINGS,
} from '../clients/conversation/scenario.ts';
import { SCRIPT } from '../doubles/scripted-chat.ts';
import { needs } from '../harness/needs.ts';
import { openClient, openNodeClient } from '../harness/node-client.ts';

/** Unmodified frameworks for voice agents in spoken conversations with the real process. Only the language model is scripted. */

const FOLDER = join(import.meta.dirname, '../clients/conversation');

let running: ConversationService;
beforeAll(async () => {
  running = await launchConversationService();
});
afterAll(() => running?.stop());

/** Settings of the clients: URLs, and the text of a greeting. */
function settingsOf(instructions: string) {
  const { baseUrl, socketUrl } = running.service;
  const urls = { baseURL: `${baseUrl}/v1`, socketURL: socketUrl };
  return { ...SETTINGS, ...urls, instructions, greeting: SCRIPT.hello.question };
}

describe.each([
  { folder: 'agents-python', isGreeted: false },
  { folder: 'livekit-python', isGreeted: false },
  { folder: 'pipecat', isGreeted: true },
])('$folder', ({ folder, isGreeted }) => {
  test('holds a conversation of three turns', async (context) => {
    needs(context, HAS_PIP, 'Python with pip');
    const client = join(FOLDER, folder);
    const PYTHONPATH = await pythonPackages(join(client, 'requirements.txt'), { dependencies: false });
    const instructions = `You use ${folder}.`;
    const command = ['python3', join(client, 'client.py'), JSON.stringify(settingsOf(instructions))];
    await holdConversation(running, openClient(command, { PYTHONPATH }), { instructions, isGreeted });
  });
});

describe.each([
  { folder: 'livekit-node', unitsPerSecond: 1 },
  // The latest version with the events of OpenAI's beta protocol.
  { folder: 'livekit-node-beta', unitsPerSecond: 1000, needsRoom: true },
])('$folder', ({ folder, ...version }) => {
  test('holds a conversation of three turns', async () => {
    const packages = await nodePackages(join(FOLDER, folder));
    const instructions = `You use ${folder}.`;
    const settings = { ...settingsOf(instructions), ...version, packages };
    await holdConversation(running, openNodeClient('conversation/livekit.mjs', settings), { instructions });
  });
});
