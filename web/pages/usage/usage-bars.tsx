import '@mantine/charts/styles.css';
import { BarChart } from '@mantine/charts';
import { formatCount } from '../../components/format.ts';
import type { UsageChart } from './usage-sums.ts';

/** Distinguishable in both colour schemes and with colour vision deficiency (Okabe and Ito, 2008). */
const COLORS = ['indigo.6', 'orange.6', 'teal.6', 'grape.6', 'yellow.6', 'cyan.6', 'gray.6'];

/** Whether all values are integers; the axis then has integer ticks. */
function areCounts({ points }: UsageChart): boolean {
  return points.every((point) =>
    Object.values(point).every((value) => typeof value === 'string' || Number.isInteger(value)),
  );
}

/** Bar chart by day. @param props.label accessible name of the chart; the table below has the sums. */
export function UsageBars({ chart, label }: { readonly chart: UsageChart; readonly label: string }) {
  return (
    <div role="img" aria-label={label}>
      <BarChart
        h={260}
        data={chart.points as Record<string, string | number>[]}
        dataKey="day"
        type="stacked"
        series={chart.series.map((name, index) => ({
          name,
          color: COLORS[index % COLORS.length] ?? 'gray.6',
        }))}
        valueFormatter={(value) => (Number.isInteger(value) ? formatCount(value) : value.toFixed(2))}
        xAxisProps={{ tickFormatter: (day: string) => day.slice(5) }}
        withLegend
        legendProps={{ verticalAlign: 'bottom' }}
        maxBarWidth={28}
        yAxisProps={{ allowDecimals: !areCounts(chart) }}
        barChartProps={{ accessibilityLayer: false }}
      />
    </div>
  );
}
