import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { documentedMetrics, metricsGuide } from './harness/documented-metrics.ts';
import { needs } from './harness/needs.ts';
import { tempDir } from './harness/temp-dir.ts';

/** The guide to metrics, the dashboard and the alarms speak of the same numbers. */

const read = (path: string) => readFileSync(new URL(`../${path}`, import.meta.url), 'utf8');

interface Panel {
  readonly type: string;
  readonly title: string;
  readonly gridPos: { readonly x: number; readonly y: number; readonly w: number; readonly h: number };
  readonly targets?: readonly { readonly expr: string; readonly legendFormat: string }[];
}
const dashboard = JSON.parse(read('docker/grafana/voice-service.json')) as {
  readonly panels: readonly Panel[];
  readonly templating: { readonly list: readonly { readonly name: string }[] };
};
const expressions = dashboard.panels.flatMap(({ title, targets = [] }) =>
  targets.map(({ expr, legendFormat }) => ({ title, expr, legendFormat })),
);

interface Alert {
  readonly alert: string;
  readonly expr: string;
  readonly for?: string;
  readonly annotations: { readonly summary: string };
}
const alerts = (Bun.YAML.parse(read('docker/alerts.yml')) as { groups: { rules: Alert[] }[] }).groups.flatMap(
  ({ rules }) => rules,
);

/** Only while there are traces (docs/guide/metrics.md, Traces). */
const known = new Map([
  ...documentedMetrics(),
  ['trace_spans_total', { kind: 'counter', labels: ['result'] }] as const,
]);
/** What Prometheus adds by itself. */
const EVERYWHERE = ['instance', 'job'];

/** Every metric that an expression of PromQL names, with the labels that it selects by. */
function metricsOf(expr: string): { readonly name: string; readonly labels: readonly string[] }[] {
  const withoutLists = expr.replaceAll(/\b(by|without)\s*\([^)]*\)/g, '');
  const named = withoutLists.matchAll(/\b([a-z]\w*)\b(?!\s*\()(?:\{([^}]*)\})?/g);
  return [...named]
    .filter(
      ([, name = ''], at, all) => !isInside(all[at] as RegExpExecArray, withoutLists) && !WORDS.has(name),
    )
    .map(([, name = '', selectors = '']) => ({
      name,
      labels: [...selectors.matchAll(/(\w+)\s*[=!]~?/g)].map(([, label = '']) => label),
    }));
}
const WORDS = new Set(['and', 'or', 'unless', 'offset', 'bool', 'by', 'le']);

/** Whether a word stands in a range or in the selectors of a metric. */
function isInside({ index }: RegExpExecArray, expr: string): boolean {
  const before = expr.slice(0, index);
  return /[[{"][^\]}]*$/.test(before);
}

function groupedBy(expr: string): readonly string[] {
  return [...expr.matchAll(/\bby\s*\(([^)]*)\)/g)].flatMap(([, list = '']) =>
    list.split(',').map((each) => each.trim()),
  );
}

/** What is wrong with an expression. */
function faultsOf(expr: string): string[] {
  const faults: string[] = [];
  const labels = new Set(EVERYWHERE);
  const metrics = metricsOf(expr).filter(({ name }) => name !== 'up');
  if (metrics.length === 0 && !expr.startsWith('up')) faults.push('names no metric');
  for (const { name, labels: selected } of metrics) {
    const histogram = name.replace(/_(bucket|sum|count)$/, '');
    const metric = known.get(name) ?? known.get(histogram);
    if (metric === undefined || (metric.kind === 'histogram') !== (name !== histogram)) {
      faults.push(`there is no ${name}`);
      continue;
    }
    const own = [...metric.labels, ...EVERYWHERE, ...(name.endsWith('_bucket') ? ['le'] : [])];
    for (const label of own) labels.add(label);
    for (const label of selected) if (!own.includes(label)) faults.push(`${name} has no ${label}`);
  }
  for (const label of groupedBy(expr)) if (!labels.has(label)) faults.push(`nothing has ${label}`);
  return faults;
}

describe('what looks at expressions', () => {
  it.each([
    ['rate(http_requests_total[5m])', []],
    ['sum by (route) (rate(http_requests_total{status=~"5..",instance="a b{c}"}[5m]))', []],
    ['rate(http_request_total[5m])', ['there is no http_request_total']],
    ['http_request_seconds > 1', ['there is no http_request_seconds']],
    ['http_requests_total_sum', ['there is no http_requests_total_sum']],
    ['batches_open{model="a"}', ['batches_open has no model']],
    ['sum by (model) (batches_open)', ['nothing has model']],
    ['time()', ['names no metric']],
  ])('finds in %s: %j', (expr, faults) => {
    expect(faultsOf(expr)).toEqual(faults);
  });
});

describe('the dashboard', () => {
  it('names metrics that exist, by labels that they have', () => {
    expect(expressions.length).toBeGreaterThan(50);
    const faults = expressions.flatMap(({ title, expr }) =>
      faultsOf(expr).map((fault) => `${title}: ${fault}`),
    );
    expect(faults).toEqual([]);
  });

  it('shows every metric', () => {
    const all = expressions.map(({ expr }) => expr).join('\n');
    expect([...known.keys()].filter((name) => !all.includes(name))).toEqual([]);
  });

  it('writes legends of what its series have', () => {
    for (const { title, expr, legendFormat } of expressions) {
      const used = [...legendFormat.matchAll(/\{\{(\w+)\}\}/g)].map(([, label = '']) => label);
      const has = expr.includes('by (') ? groupedBy(expr) : EVERYWHERE;
      expect(has, `${title}: ${legendFormat}`).toEqual(expect.arrayContaining(used));
    }
  });

  it('has variables for the data source and the instance, and panels side by side', () => {
    expect(dashboard.templating.list.map(({ name }) => name)).toEqual(['datasource', 'instance']);
    const places = new Set<string>();
    for (const { gridPos: at } of dashboard.panels) {
      expect(at.x + at.w).toBeLessThanOrEqual(24);
      for (let x = at.x; x < at.x + at.w; x += 1) {
        for (let y = at.y; y < at.y + at.h; y += 1) {
          expect(places.has(`${x} ${y}`)).toBe(false);
          places.add(`${x} ${y}`);
        }
      }
    }
  });
});

describe('the alarms', () => {
  it('name metrics that exist, by labels that they have', () => {
    const faults = alerts.flatMap(({ alert, expr }) => faultsOf(expr).map((fault) => `${alert}: ${fault}`));
    expect(faults).toEqual([]);
  });

  it('are those of the guide', () => {
    const guide = [...metricsGuide().matchAll(/^\| ([A-Z]\w+) \|/gm)].map(([, name]) => name);
    expect(alerts.map(({ alert }) => alert)).toEqual(guide);
  });
});

describe('promtool', () => {
  const check = async (what: string, settings: string, ...files: readonly (readonly [string, string])[]) => {
    const folder = await tempDir();
    for (const [name, text] of files) writeFileSync(join(folder, name), text);
    const run = Bun.spawnSync(['promtool', 'check', what, join(folder, settings)]);
    return { exitCode: run.exitCode, output: run.stdout.toString() + run.stderr.toString() };
  };

  it('takes the alarms and the settings of Prometheus', async (context) => {
    needs(context, Bun.which('promtool') !== null, 'promtool');
    const settings = read('docker/prometheus.yml').replace('/etc/prometheus/alerts.yml', 'alerts.yml');
    const { exitCode, output } = await check(
      ...(['config', 'prometheus.yml'] as const),
      ...[['prometheus.yml', settings] as const, ['alerts.yml', read('docker/alerts.yml')] as const],
    );
    expect(exitCode, output).toBe(0);
    expect(output).toContain(`SUCCESS: ${alerts.length} rules found`);
  });

  it('takes every expression of the dashboard', async (context) => {
    needs(context, Bun.which('promtool') !== null, 'promtool');
    const rules = expressions.map(({ expr }, at) => ({
      record: `panel_${at}`,
      expr: expr.replaceAll('$__rate_interval', '1m').replaceAll('$instance', '.*'),
    }));
    const text = JSON.stringify({ groups: [{ name: 'dashboard', rules }] });
    const { exitCode, output } = await check('rules', 'rules.yml', ['rules.yml', text]);
    expect(exitCode, output).toBe(0);
    expect(output).toContain(`SUCCESS: ${expressions.length} rules found`);
  });
});

it('Prometheus asks every node of the compose file that has it, at its port for metrics', () => {
  const { services, ...compose } = Bun.YAML.parse(read('docker/compose.scale.yaml')) as {
    services: Record<string, { image?: string; volumes?: string[] }>;
    'x-node': { environment: { METRICS_PORT: string } };
  };
  const { METRICS_PORT: port } = compose['x-node'].environment;
  const nodes = Object.keys(services).filter((name) => services[name]?.image === 'voice-service');
  const { scrape_configs: configs } = Bun.YAML.parse(read('docker/prometheus.yml')) as {
    scrape_configs: { static_configs: { targets: string[] }[] }[];
  };
  const targets = configs.flatMap(({ static_configs: all }) => all.flatMap(({ targets: each }) => each));
  expect(targets).toEqual(nodes.map((name) => `${name}:${port}`));
  expect(services.grafana?.volumes).toContain(
    './grafana/voice-service.json:/var/lib/grafana/dashboards/voice-service.json:ro',
  );
});

it('the provisioning of Grafana names the data source that it makes, and a folder of dashboards', () => {
  const sources = Bun.YAML.parse(read('docker/grafana/provisioning/datasources/prometheus.yml'));
  expect(sources).toMatchObject({ apiVersion: 1, datasources: [{ type: 'prometheus', isDefault: true }] });
  const providers = Bun.YAML.parse(read('docker/grafana/provisioning/dashboards/voice-service.yml'));
  expect(providers).toMatchObject({ apiVersion: 1, providers: [{ type: 'file' }] });
});
