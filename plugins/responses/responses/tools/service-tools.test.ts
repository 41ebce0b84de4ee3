import { expect, test } from 'vitest';
import { ServiceError } from '../../../../src/contract/core/error.ts';
import type {
  CodeContainer,
  CodeRunner,
  ProgramResult,
} from '../../../../src/contract/engines/code-runner.ts';
import type { FoundPage, SearchQuery, WebSearch } from '../../../../src/contract/engines/web-search.ts';
import type { SearchSettings } from '../items/built-in-tools.ts';
import { serviceTools } from './service-tools.ts';

const never = new AbortController().signal;

/** A runner with fixed results that records its containers. */
class FakeRunner implements CodeRunner {
  readonly opened: { readonly owner: string; readonly ran: string[]; closed: boolean }[] = [];
  readonly #answer: (code: string) => ProgramResult;

  constructor(answer: (code: string) => ProgramResult) {
    this.#answer = answer;
  }

  openContainer(owner: string): CodeContainer {
    const container = { owner, ran: [] as string[], closed: false };
    this.opened.push(container);
    return {
      runProgram: async (code) => {
        container.ran.push(code);
        return this.#answer(code);
      },
      async close() {
        container.closed = true;
      },
    };
  }
}

function searchOf(answer: () => readonly FoundPage[], available = true) {
  const asked: SearchQuery[] = [];
  const search: WebSearch = {
    available,
    async search(query, signal) {
      signal.throwIfAborted();
      asked.push(query);
      return answer();
    },
  };
  return { search, asked };
}

function coding(run: Partial<ProgramResult> | ServiceError) {
  const runner = new FakeRunner(() => {
    if (run instanceof ServiceError) throw run;
    return { status: 'done', logs: '', restarted: false, ...run };
  });
  const tools = serviceTools({ codeRunner: runner, webSearch: searchOf(() => []).search });
  return { runner, tool: tools.open('code_interpreter', {}, 'org-1') };
}

function searching(settings: SearchSettings, answer: () => readonly FoundPage[] = () => []) {
  const { search, asked } = searchOf(answer);
  const tools = serviceTools({ codeRunner: coding({}).runner, webSearch: search });
  return { asked, tool: tools.open('web_search', settings, 'org-1') };
}

test('each tool has a function with one required string', () => {
  const { tool: code } = coding({});
  const { tool: search } = searching({});
  const required = [code, search].map(({ tool }) => [tool.name, tool.parameters?.required, tool.strict]);
  expect(required).toEqual([
    ['code_interpreter', ['code'], true],
    ['web_search', ['query'], true],
  ]);
});

test('a program runs in a container of the caller, which is closed with the tool', async () => {
  const { runner, tool } = coding({ logs: 'a\n', result: '2' });
  expect(await tool.run('1 + 1', never)).toEqual({
    status: 'completed',
    text: 'a\n\n2',
    outputs: [
      { type: 'logs', logs: 'a\n' },
      { type: 'logs', logs: '2' },
    ],
  });
  await tool.close();
  expect(runner.opened).toEqual([{ owner: 'org-1', ran: ['1 + 1'], closed: true }]);
});

test.each<[string, Partial<ProgramResult> | ServiceError, object]>([
  [
    'prints nothing',
    {},
    { status: 'completed', text: 'The program ended and printed nothing.', outputs: [] },
  ],
  [
    'raises',
    { status: 'raised', error: 'Traceback' },
    { status: 'completed', text: 'Traceback', outputs: [{ type: 'logs', logs: 'Traceback' }] },
  ],
  [
    'is stopped by a limit after a restart',
    { status: 'cut', logs: 'a', error: 'ended after 10 s', restarted: true },
    {
      status: 'incomplete',
      text: '[The interpreter was restarted: names defined by earlier calls are lost.]\na\nended after 10 s',
      outputs: [
        { type: 'logs', logs: 'a' },
        { type: 'logs', logs: 'ended after 10 s' },
      ],
    },
  ],
  [
    'finds no free container slot',
    new ServiceError('overloaded', 'Busy.'),
    { status: 'failed', text: 'Busy.', outputs: [] },
  ],
])('a program that %s', async (_, run, result) => {
  expect(await coding(run).tool.run('x', never)).toEqual(result);
});

const page = (url: string, excerpt = 'words') => ({ url, title: `of ${url}`, excerpt });

test('a search returns pages for the model and their URLs for citations', async () => {
  const { tool, asked } = searching({}, () => [
    page('https://a.org'),
    page('https://b.org', 'x'.repeat(700)),
  ]);
  const { status, text, sources } = await tool.run('tea', never);
  expect(status).toBe('completed');
  expect(text).toBe(
    `[1] of https://a.org\nhttps://a.org\nwords\n\n[2] of https://b.org\nhttps://b.org\n${'x'.repeat(599)}…`,
  );
  expect(sources).toEqual([
    { url: 'https://a.org', title: 'of https://a.org' },
    { url: 'https://b.org', title: 'of https://b.org' },
  ]);
  expect(asked).toEqual([{ text: 'tea', results: 5, domains: undefined, country: undefined }]);
  await tool.close();
});

test('the settings determine the amount of text and the domains', async () => {
  const { tool, asked } = searching({
    contextSize: 'high',
    allowedDomains: ['https://A.org/path', 'b.org'],
    country: 'DE',
  });
  expect(await tool.run('tea', never)).toMatchObject({ text: 'No pages found.', sources: [] });
  expect(asked).toEqual([{ text: 'tea', results: 10, domains: ['a.org', 'b.org'], country: 'DE' }]);
  const low = searching({ contextSize: 'low', allowedDomains: [] });
  await low.tool.run('tea', never);
  expect(low.asked).toEqual([{ text: 'tea', results: 3, domains: undefined, country: undefined }]);
});

test('a failed search is reported to the model; an abort ends the call', async () => {
  const { tool } = searching({}, () => {
    throw new ServiceError('upstream', 'The search failed: it answered 500.');
  });
  const failed = { status: 'failed', text: 'The search failed: it answered 500.', sources: [] };
  expect(await tool.run('tea', never)).toEqual(failed);
  await expect(tool.run('tea', AbortSignal.abort(new Error('left')))).rejects.toThrow('left');
});

test('without a search server the tool is rejected with configuration instructions', () => {
  const { search } = searchOf(() => [], false);
  const tools = serviceTools({ codeRunner: coding({}).runner, webSearch: search });
  expect(() => tools.open('web_search', {}, 'org')).toThrow(
    expect.objectContaining({
      kind: 'invalid_request',
      code: 'unsupported_value',
      message: expect.stringContaining("'[web_search]' and the 'url' of a SearXNG server"),
    }),
  );
});
