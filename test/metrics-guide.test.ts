import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { documentedMetrics, metricsGuide } from './harness/documented-metrics.ts';
import { needs } from './harness/needs.ts';
import { tempDir } from './harness/temp-dir.ts';

/** The metrics guide, the dashboard and the alerts name the same metrics. */

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

/** `trace_spans_total` exists only if tracing is configured (docs/guide/metrics.md, Traces). */
const known = new Map([
  ...documentedMetrics(),
  ['trace_spans_total', { kind: 'counter', labels: ['result'] }] as const,
]);
/** Labels that Prometheus adds to every series. */
const PROMETHEUS_LABELS = ['instance', 'job'];

/** The metrics of a PromQL expression, with the labels in their selectors. */
function metricsOf(expr: string): { readonly name: string; readonly labels: readonly string[] }[] {
  const withoutLists = expr.replaceAll(/\b(by|without)\s*\([^)]*\)/g, '');
  const named = withoutLists.matchAll(/\b([a-z]\w*)\b(?!\s*\()(?:\{([^}]*)\})?/g);
  return [...named]
    .filter(
      ([, name = ''], at, all) => !isInside(all[at] as RegExpExecArray, withoutLists) && !KEYWORDS.has(name),
    )
    .map(([, name = '', selectors = '']) => ({
      name,
      labels: [...selectors.matchAll(/(\w+)\s*[=!]~?/g)].map(([, label = '']) => label),
    }));
}
const KEYWORDS = new Set(['and', 'or', 'unless', 'offset', 'bool', 'by', 'le']);

/** Whether a match is inside a range or a selector. */
function isInside({ index }: RegExpExecArray, expr: string): boolean {
  const before = expr.slice(0, index);
  return /[[{"][^\]}]*$/.test(before);
}

function groupedBy(expr: string): readonly string[] {
  return [...expr.matchAll(/\bby\s*\(([^)]*)\)/g)].flatMap(([, list = '']) =>
    list.split(',').map((each) => each.trim()),
  );
}

/** Errors of an expression. */
function errorsOf(expr: string): string[] {
  const errors: string[] = [];
  const labels = new Set(PROMETHEUS_LABELS);
  const metrics = metricsOf(expr).filter(({ name }) => name !== 'up');
  if (metrics.length === 0 && !expr.startsWith('up')) errors.push('has no metric');
  for (const { name, labels: selected } of metrics) {
    const histogram = name.replace(/_(bucket|sum|count)$/, '');
    const metric = known.get(name) ?? known.get(histogram);
    if (metric === undefined || (metric.kind === 'histogram') !== (name !== histogram)) {
      errors.push(`there is no ${name}`);
      continue;
    }
    const own = [...metric.labels, ...PROMETHEUS_LABELS, ...(name.endsWith('_bucket') ? ['le'] : [])];
    for (const label of own) labels.add(label);
    for (const label of selected) if (!own.includes(label)) errors.push(`${name} has no ${label}`);
  }
  for (const label of groupedBy(expr)) if (!labels.has(label)) errors.push(`nothing has ${label}`);
  return errors;
}

describe('the check of PromQL expressions', () => {
  it.each([
    ['rate(http_requests_total[5m])', []],
    ['sum by (route) (rate(http_requests_total{status=~"5..",instance="a b{c}"}[5m]))', []],
    ['rate(http_request_total[5m])', ['there is no http_request_total']],
    ['http_request_seconds > 1', ['there is no http_request_seconds']],
    ['http_requests_total_sum', ['there is no http_requests_total_sum']],
    ['batches_open{model="a"}', ['batches_open has no model']],
    ['sum by (model) (batches_open)', ['nothing has model']],
    ['time()', ['has no metric']],
  ])('finds the errors of %s: %j', (expr, errors) => {
    expect(errorsOf(expr)).toEqual(errors);
  });
});

describe('the dashboard', () => {
  it('uses existing metrics and labels', () => {
    expect(expressions.length).toBeGreaterThan(50);
    const errors = expressions.flatMap(({ title, expr }) =>
      errorsOf(expr).map((error) => `${title}: ${error}`),
    );
    expect(errors).toEqual([]);
  });

  it('shows every metric', () => {
    const all = expressions.map(({ expr }) => expr).join('\n');
    expect([...known.keys()].filter((name) => !all.includes(name))).toEqual([]);
  });

  it('has legends with labels of the series', () => {
    for (const { title, expr, legendFormat } of expressions) {
      const used = [...legendFormat.matchAll(/\{\{(\w+)\}\}/g)].map(([, label = '']) => label);
      const available = expr.includes('by (') ? groupedBy(expr) : PROMETHEUS_LABELS;
      expect(available, `${title}: ${legendFormat}`).toEqual(expect.arrayContaining(used));
    }
  });

  it('has variables for the data source and the instance, and panels that do not overlap', () => {
    expect(dashboard.templating.list.map(({ name }) => name)).toEqual(['datasource', 'instance']);
    const cells = new Set<string>();
    for (const { gridPos: at } of dashboard.panels) {
      expect(at.x + at.w).toBeLessThanOrEqual(24);
      for (let x = at.x; x < at.x + at.w; x += 1) {
        for (let y = at.y; y < at.y + at.h; y += 1) {
          expect(cells.has(`${x} ${y}`)).toBe(false);
          cells.add(`${x} ${y}`);
        }
      }
    }
  });
});

describe('the alerts', () => {
  it('use existing metrics and labels', () => {
    const errors = alerts.flatMap(({ alert, expr }) => errorsOf(expr).map((error) => `${alert}: ${error}`));
    expect(errors).toEqual([]);
  });

  it('are documented in the guide in the same order', () => {
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

  it('accepts the alerts and the configuration of Prometheus', async (context) => {
    needs(context, Bun.which('promtool') !== null, 'promtool');
    const settings = read('docker/prometheus.yml').replace('/etc/prometheus/alerts.yml', 'alerts.yml');
    const { exitCode, output } = await check(
      ...(['config', 'prometheus.yml'] as const),
      ...[['prometheus.yml', settings] as const, ['alerts.yml', read('docker/alerts.yml')] as const],
    );
    expect(exitCode, output).toBe(0);
    expect(output).toContain(`SUCCESS: ${alerts.length} rules found`);
  });

  it('accepts every expression of the dashboard', async (context) => {
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

it('Prometheus scrapes every node of the Compose file at its metrics port', () => {
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

it('the provisioning of Grafana has a data source and a dashboard provider', () => {
  const sources = Bun.YAML.parse(read('docker/grafana/provisioning/datasources/prometheus.yml'));
  expect(sources).toMatchObject({ apiVersion: 1, datasources: [{ type: 'prometheus', isDefault: true }] });
  const providers = Bun.YAML.parse(read('docker/grafana/provisioning/dashboards/voice-service.yml'));
  expect(providers).toMatchObject({ apiVersion: 1, providers: [{ type: 'file' }] });
});
