import { describe, expect, test } from 'vitest';
import { chartSvg } from '../../soak/chart.ts';
import { faultPlan } from '../../soak/fault-plan.ts';
import { read } from '../../soak/raw-request.ts';
import { refusalOf, shareOfWords, sseValues } from '../../soak/soak-client.ts';
import { quantile, trendOf } from '../../soak/trend.ts';

describe('the plan of faults', () => {
  const names = ['one', 'two', 'three'];

  test('has every fault as often, in turn, between a calm beginning and a calm end', () => {
    const plan = faultPlan(names, 30);
    expect(plan.slice(0, 4).map(({ name }) => name)).toEqual(['one', 'two', 'three', 'one']);
    expect(plan.length % names.length).toBe(0);
    expect(plan[0]?.atMs).toBe(60_000);
    expect(plan.at(-1)?.atMs).toBeLessThan(28 * 60_000);
    const pauses = plan.slice(1).map(({ atMs }, at) => atMs - (plan[at]?.atMs ?? 0));
    expect(Math.min(...pauses)).toBeGreaterThanOrEqual(50_000);
  });

  test('has each once where there is little time', () => {
    const plan = faultPlan(names, 1);
    expect(plan.map(({ name }) => name)).toEqual(names);
    expect(plan.at(-1)?.atMs).toBeLessThan(45_000);
  });
});

describe('trends', () => {
  const measured = (value: (minute: number) => number) =>
    Array.from({ length: 100 }, (_, at) => ({ atMs: at * 12_000, value: value(at / 5) }));

  test('growth is reported with its interval', () => {
    // Garbage comes and goes within each minute.
    const trend = trendOf(measured((minute) => 100 + 2 * Math.floor(minute) + 30 * (minute % 1)));
    expect(trend?.perMinute).toBeCloseTo(2, 5);
    expect(trend?.margin).toBeLessThan(0.01);
    expect(trend?.minutes).toBe(20);
  });

  test('what goes up and down is not', () => {
    const { perMinute = 9, margin = 0 } = trendOf(measured((minute) => 100 + (Math.floor(minute) % 2))) ?? {};
    expect(Math.abs(perMinute)).toBeLessThan(margin);
  });

  test('two minutes say nothing', () => {
    expect(trendOf(measured(() => 1).slice(0, 10))).toBeUndefined();
  });

  test('quantiles', () => {
    expect([0, 0.5, 1].map((share) => quantile([3, 1, 2], share))).toEqual([1, 2, 3]);
    expect(quantile([], 0.5)).toBeUndefined();
  });
});

describe('an answer from its bytes', () => {
  const head = 'HTTP/1.1 200 OK\r\nx-request-id: req_1\r\n';
  const answer = (text: string) => read(Buffer.from(text));

  test.each<[string, string, boolean, number]>([
    ['chunks with their end', 'transfer-encoding: chunked\r\n\r\n3\r\nabc\r\n2\r\nde\r\n0\r\n\r\n', true, 5],
    ['chunks without it', 'transfer-encoding: chunked\r\n\r\n3\r\nabc\r\n2\r\nde\r\n', false, 5],
    ['a chunk that is cut off', 'transfer-encoding: chunked\r\n\r\n5\r\nabc', false, 3],
    ['a length that is kept', 'content-length: 3\r\n\r\nabc', true, 3],
    ['a length that is not', 'content-length: 5\r\n\r\nabc', false, 3],
  ])('%s', (_, rest, isWhole, bodyBytes) => {
    expect(answer(head + rest)).toEqual({ status: 200, requestId: 'req_1', bodyBytes, isWhole });
  });

  test('a truncated head is not a response', () => {
    expect(answer(head)).toMatchObject({ status: 0, isWhole: false });
  });
});

describe('what a client makes of answers', () => {
  const refusal = (status: number, text: string) => refusalOf({ status, text: () => text }).end;
  const body = (code: string) =>
    JSON.stringify({ error: { message: 'No.', type: 'server_error', param: null, code } });

  test('an error body says what was wrong; anything else does not', () => {
    expect(refusal(503, body('server_overloaded'))).toBe('refused');
    expect(refusal(500, body('worker_crashed'))).toBe('refused');
    expect(refusal(500, body('server_error'))).toBe('untyped');
    expect(refusal(502, 'Bad gateway')).toBe('untyped');
    expect(refusal(400, '{"error":"No."}')).toBe('untyped');
  });

  test('events of a stream, and one that is torn', () => {
    expect(sseValues('event: a\ndata: {"b":1}\n\ndata: [DONE]\n\n')).toEqual([{ b: 1 }, '[DONE]']);
    expect(() => sseValues('data: {"b":')).toThrow(SyntaxError);
  });

  test('a transcript that is cut short has few of the words', () => {
    expect(shareOfWords('Four people, please.', 'four people please')).toBe(1);
    expect(shareOfWords('Four people, please.', 'four')).toBeCloseTo(1 / 3);
  });
});

describe('charts', () => {
  const chart = {
    ...{ title: 'Memory <MB>', unit: 'MB', lengthMs: 120_000 },
    marks: [{ name: 'redis', fromMs: 10_000, toMs: 20_000 }],
    lines: [{ name: 'a', points: [0, 10_000, 60_000].map((atMs) => ({ atMs, value: atMs / 100 })) }],
  };

  test('show lines and faults, without a line where nothing was measured', () => {
    const svg = chartSvg(chart);
    expect(svg).toContain('Memory &lt;MB&gt;');
    expect(svg).toContain('>redis</text>');
    expect(/<path d="(M[^"H]+)" fill="none"/.exec(svg)?.[1]?.match(/[ML]/g)).toEqual(['M', 'L', 'M']);
    expect(svg).not.toMatch(/NaN|undefined/);
  });

  test.each([true, false])('of nothing are empty; logarithmic: %s', (isLogarithmic) => {
    expect(chartSvg({ ...chart, lines: [], isLogarithmic })).not.toMatch(/NaN|undefined|Infinity/);
  });
});
