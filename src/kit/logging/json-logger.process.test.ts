import { describe, expect, test } from 'vitest';
import { ServiceError, StartError } from '../../contract/core/error.ts';
import { jsonLogger } from './json-logger.ts';

function record(level = 'info') {
  const text: string[] = [];
  const log = jsonLogger(level, { write: (line) => void text.push(line), close: async () => {} });
  return { log, lines: () => text.map((line) => JSON.parse(line) as Record<string, unknown>), text };
}

describe('a log line', () => {
  test('is one JSON object with level, time, fields and message', () => {
    const { log, lines, text } = record();
    log.info('listening', { port: 1, host: undefined });
    expect(text).toHaveLength(1);
    expect(text[0]).toMatch(/^\{.*\}\n$/);
    expect(lines()[0]).toEqual({
      level: 'info',
      time: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
      port: 1,
      msg: 'listening',
    });
  });

  test('of a child logger has the fields of both', () => {
    const { log, lines } = record();
    log.child({ plugin: 'speech' }).child({ worker: 2 }).warn('slow', { ms: 5 });
    expect(lines()[0]).toMatchObject({ level: 'warn', plugin: 'speech', worker: 2, ms: 5 });
  });

  test('below the level is not written', () => {
    const { log, lines } = record('error');
    log.info('x');
    log.warn('x');
    log.error('y', new Error());
    expect(lines().map(({ msg }) => msg)).toEqual(['y']);
  });
});

describe('an error', () => {
  test('has class and frames, and the message only of service errors', () => {
    const { log, lines, text } = record();
    log.error('request failed', new TypeError('a private text\nover two lines'), { request_id: 'req_1' });
    log.error(
      'request failed',
      new ServiceError('upstream', 'the engine is gone', { code: 'upstream_error' }),
    );
    // A StartError can also occur when a plugin is enabled at runtime.
    log.error('plugin failed to start', new StartError('the file x.onnx is missing'));
    const [foreign, ours, start] = lines().map(({ error }) => error as Record<string, unknown>);
    expect(foreign).toMatchObject({
      class: 'TypeError',
      stack: expect.arrayContaining([expect.stringMatching(/^at /)]),
    });
    expect(ours).toMatchObject({
      class: 'ServiceError',
      code: 'upstream_error',
      message: 'the engine is gone',
    });
    expect(start).toMatchObject({ class: 'StartError', message: 'the file x.onnx is missing' });
    expect(text.join('')).not.toMatch(/private|two lines/);
  });

  test('omits message lines that look like a frame', () => {
    const { log, lines, text } = record();
    log.error('x', new Error('not so\n    at private (place.ts:1:1)\n    at private'));
    expect(lines()[0]?.error).toMatchObject({
      stack: expect.arrayContaining([expect.stringMatching(/^at /)]),
    });
    expect(text.join('')).not.toContain('private');
  });

  test('has its causes without their messages', () => {
    const { log, lines, text } = record();
    const cause = Object.assign(new Error('private'), { code: 'ECONNRESET' });
    log.error('x', new ServiceError('upstream', 'failed', { cause }));
    expect(lines()[0]?.error).toMatchObject({ cause: { class: 'Error', code: 'ECONNRESET' } });
    expect(text.join('')).not.toContain('private');
  });

  test('with a cyclic cause is truncated', () => {
    const { log, lines } = record();
    const error = new Error('x');
    error.cause = error;
    log.error('x', error);
    expect(JSON.stringify(lines()[0]).match(/"class"/g)).toHaveLength(5);
  });

  test.each(['private text', undefined, null, 5, { message: 'private' }])(
    'can be any thrown value: %j',
    (thrown) => {
      const { log, lines, text } = record();
      log.error('x', thrown);
      expect(lines()[0]).toMatchObject({ error: { class: typeof thrown } });
      expect(text.join('')).not.toContain('private');
    },
  );
});

describe('at exit', () => {
  const run = async (body: string) => {
    const code = `import { jsonLogger } from ${JSON.stringify(import.meta.resolve('./json-logger.ts'))};\n${body}`;
    const child = Bun.spawn([process.execPath, '-e', code], { stdio: ['ignore', 'pipe', 'pipe'] });
    const [out, err] = [new Response(child.stdout).text(), new Response(child.stderr).text()];
    return { exitCode: await child.exited, lines: (await out).split('\n').length - 1, err: await err };
  };

  test('lines before close are flushed, and later ones dropped', async () => {
    const outcome = await run(`
      const log = jsonLogger('info');
      for (let line = 0; line < 2000; line += 1) log.info('x'.repeat(100), { line });
      await Promise.all([log.close(), log.close()]);
      log.info('too late');
      process.exit(3);
    `);
    expect(outcome).toEqual({ exitCode: 3, lines: 2000, err: '' });
  });
});
