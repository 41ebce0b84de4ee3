import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { describe, expect, test } from 'vitest';
import { faultPlan } from '../../soak/faults/fault-plan.ts';
import { read } from '../../soak/faults/raw-request.ts';
import { chartSvg } from '../../soak/report/chart.ts';
import { quantile, trendOf } from '../../soak/report/trend.ts';
import { rejectionOf, shareOfWords, sseValues } from '../../soak/site/soak-client.ts';
import { WORKER_ENTRIES } from '../../tools/harness/services/worker-entries.ts';

const ROOT = resolve(import.meta.dirname, '../..');

test('the processes that faults kill have their entry files', () => {
  const missing = Object.values(WORKER_ENTRIES).filter((path) => !existsSync(join(ROOT, path)));
  expect(missing).toEqual([]);
});

describe('the plan of faults', () => {
  const names = ['one', 'two', 'three'];

  test('repeats all faults in turn, without faults at the start and the end', () => {
    const plan = faultPlan(names, 30);
    expect(plan.slice(0, 4).map(({ name }) => name)).toEqual(['one', 'two', 'three', 'one']);
    expect(plan.length % names.length).toBe(0);
    expect(plan[0]?.atMs).toBe(60_000);
    expect(plan.at(-1)?.atMs).toBeLessThan(28 * 60_000);
    const pauses = plan.slice(1).map(({ atMs }, at) => atMs - (plan[at]?.atMs ?? 0));
    expect(Math.min(...pauses)).toBeGreaterThanOrEqual(50_000);
  });

  test('has each fault once in a short run', () => {
    const plan = faultPlan(names, 1);
    expect(plan.map(({ name }) => name)).toEqual(names);
    expect(plan.at(-1)?.atMs).toBeLessThan(45_000);
  });
});

describe('trends', () => {
  const measured = (value: (minute: number) => number) =>
    Array.from({ length: 100 }, (_, at) => ({ atMs: at * 12_000, value: value(at / 5) }));

  test('growth is reported with its interval', () => {
    // Uncollected garbage varies within each minute.
    const trend = trendOf(measured((minute) => 100 + 2 * Math.floor(minute) + 30 * (minute % 1)));
    expect(trend?.perMinute).toBeCloseTo(2, 5);
    expect(trend?.margin).toBeLessThan(0.01);
    expect(trend?.minutes).toBe(20);
  });

  test('oscillation is not reported as growth', () => {
    const { perMinute = 9, margin = 0 } = trendOf(measured((minute) => 100 + (Math.floor(minute) % 2))) ?? {};
    expect(Math.abs(perMinute)).toBeLessThan(margin);
  });

  test('two minutes are too short for a trend', () => {
    expect(trendOf(measured(() => 1).slice(0, 10))).toBeUndefined();
  });

  test('quantiles of unsorted samples', () => {
    expect([0, 0.5, 1].map((share) => quantile([3, 1, 2], share))).toEqual([1, 2, 3]);
    expect(quantile([], 0.5)).toBeUndefined();
  });
});

describe('a parsed response', () => {
  const head = 'HTTP/1.1 200 OK\r\nx-request-id: req_1\r\n';
  const parse = (text: string) => read(Buffer.from(text));

  test.each<[string, string, boolean, number]>([
    ['of complete chunks', 'transfer-encoding: chunked\r\n\r\n3\r\nabc\r\n2\r\nde\r\n0\r\n\r\n', true, 5],
    ['of chunks without the last one', 'transfer-encoding: chunked\r\n\r\n3\r\nabc\r\n2\r\nde\r\n', false, 5],
    ['of a truncated chunk', 'transfer-encoding: chunked\r\n\r\n5\r\nabc', false, 3],
    ['with the declared length', 'content-length: 3\r\n\r\nabc', true, 3],
    ['shorter than the declared length', 'content-length: 5\r\n\r\nabc', false, 3],
  ])('%s has its length and completeness', (_, rest, isWhole, bodyBytes) => {
    expect(parse(head + rest)).toEqual({ status: 200, requestId: 'req_1', bodyBytes, isWhole });
  });

  test('with a truncated head has status 0', () => {
    expect(parse(head)).toMatchObject({ status: 0, isWhole: false });
  });
});

describe('interpretation of responses', () => {
  const refusal = (status: number, text: string) => rejectionOf({ status, text: () => text }).end;
  const body = (code: string) =>
    JSON.stringify({ error: { message: 'No.', type: 'server_error', param: null, code } });

  test('distinguishes typed and untyped errors', () => {
    expect(refusal(503, body('server_overloaded'))).toBe('rejected');
    expect(refusal(500, body('worker_crashed'))).toBe('rejected');
    expect(refusal(500, body('server_error'))).toBe('untyped');
    expect(refusal(502, 'Bad gateway')).toBe('untyped');
    expect(refusal(400, '{"error":"No."}')).toBe('untyped');
  });

  test('parses the events of a stream and rejects a truncated event', () => {
    expect(sseValues('event: a\ndata: {"b":1}\n\ndata: [DONE]\n\n')).toEqual([{ b: 1 }, '[DONE]']);
    expect(() => sseValues('data: {"b":')).toThrow(SyntaxError);
  });

  test('measures the share of expected words in a transcript', () => {
    expect(shareOfWords('Four people, please.', 'four people please')).toBe(1);
    expect(shareOfWords('Four people, please.', 'four')).toBeCloseTo(1 / 3);
  });
});

describe('charts', () => {
  const chart = {
    title: 'Memory <MB>',
    unit: 'MB',
    lengthMs: 120_000,
    marks: [{ name: 'redis', fromMs: 10_000, toMs: 20_000 }],
    lines: [{ name: 'a', points: [0, 10_000, 60_000].map((atMs) => ({ atMs, value: atMs / 100 })) }],
  };

  test('show lines and faults, with gaps where values are missing', () => {
    const svg = chartSvg(chart);
    expect(svg).toContain('Memory &lt;MB&gt;');
    expect(svg).toContain('>redis</text>');
    expect(/<path d="(M[^"H]+)" fill="none"/.exec(svg)?.[1]?.match(/[ML]/g)).toEqual(['M', 'L', 'M']);
    expect(svg).not.toMatch(/NaN|undefined/);
  });

  test.each([true, false])('without data have no invalid numbers (logarithmic: %s)', (isLogarithmic) => {
    expect(chartSvg({ ...chart, lines: [], isLogarithmic })).not.toMatch(/NaN|undefined|Infinity/);
  });
});
