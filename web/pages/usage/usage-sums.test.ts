import { describe, expect, test } from 'vitest';
import { chartOf, totalsOf } from './usage-sums.ts';
import type { UsageDay } from './usage-wire.ts';

function row(overrides: Partial<UsageDay>): UsageDay {
  return {
    day: '2026-02-28',
    endpoint: '/v1/audio/speech',
    model: 'svc-tts',
    requests: 1,
    failed: 0,
    input_tokens: 1,
    output_tokens: 2,
    characters: 3,
    audio_seconds: 0.5,
    credits: 0.25,
    ...overrides,
  };
}

describe('a chart', () => {
  const span = { from: '2026-02-27', to: '2026-03-01' };

  test('chartOf has a point for every day, and series in descending order', () => {
    const data = [
      row({ requests: 2 }),
      row({ endpoint: 'POST /v1/embeddings', model: 'all-minilm-l6-v2', requests: 9 }),
      row({ model: 'svc-tts-fast', requests: 1 }),
      row({ day: '2026-03-01', requests: 4 }),
    ];
    expect(chartOf({ ...span, data }, 'requests', 'endpoint')).toEqual({
      series: ['POST /v1/embeddings', '/v1/audio/speech'],
      points: [
        { day: '2026-02-27', 'POST /v1/embeddings': 0, '/v1/audio/speech': 0 },
        { day: '2026-02-28', 'POST /v1/embeddings': 9, '/v1/audio/speech': 3 },
        { day: '2026-03-01', 'POST /v1/embeddings': 0, '/v1/audio/speech': 4 },
      ],
    });
    expect(chartOf({ ...span, data }, 'credits', 'model').series).toEqual([
      ...['svc-tts', 'all-minilm-l6-v2', 'svc-tts-fast'],
    ]);
  });

  test('chartOf omits empty series and combines the smallest ones', () => {
    expect(chartOf({ ...span, data: [row({ failed: 0 })] }, 'failed', 'model').series).toEqual([]);
    const data = Array.from({ length: 9 }, (_, index) => row({ model: `m${index}`, requests: 9 - index }));
    const { series, points } = chartOf({ ...span, data }, 'requests', 'model');
    expect(series).toEqual(['m0', 'm1', 'm2', 'm3', 'm4', 'm5', 'others']);
    expect(points[1]).toMatchObject({ m5: 4, others: 3 + 2 + 1 });
  });
});

test('totalsOf adds the days of each endpoint and model', () => {
  const totals = totalsOf([
    row({ requests: 2, failed: 1 }),
    row({ day: '2026-03-01' }),
    row({ model: 'svc-tts-fast', requests: 5 }),
  ]);
  expect(totals).toMatchObject([
    { model: 'svc-tts-fast', requests: 5 },
    { model: 'svc-tts', requests: 3, failed: 1, characters: 6, audio_seconds: 1, credits: 0.5 },
  ]);
  expect(totals[0]).not.toHaveProperty('day');
});
