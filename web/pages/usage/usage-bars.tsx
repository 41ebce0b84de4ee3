import '@mantine/charts/styles.css';
import { BarChart } from '@mantine/charts';
import { ColorSwatch, Group, getThemeColor, Text, useMantineTheme } from '@mantine/core';
import { useEffect, useMemo } from 'react';
import { formatCount, formatShortCount } from '../../components/format.ts';
import { OTHERS_COLOR, parseColors, SERIES_COLORS, withColors } from './series-colors.ts';
import classes from './usage-bars.module.css';
import { OTHERS, type Split, type UsageChart } from './usage-sums.ts';

/** Whether all values are integers; the axis then has integer ticks. */
function areCounts({ points }: UsageChart): boolean {
  return points.every((point) =>
    Object.values(point).every((value) => typeof value === 'string' || Number.isInteger(value)),
  );
}

/** The color of each series by name; the same at each visit, because this browser remembers it. */
function useColors(split: Split, names: readonly string[]): (name: string) => string {
  const key = `console.series-colors.${split}`;
  const indexes = useMemo(
    () =>
      withColors(
        names.filter((name) => name !== OTHERS),
        parseColors(localStorage.getItem(key)),
      ),
    [names, key],
  );
  useEffect(() => localStorage.setItem(key, JSON.stringify(indexes)), [indexes, key]);
  return (name) => (name === OTHERS ? OTHERS_COLOR : (SERIES_COLORS[indexes[name] ?? 0] ?? OTHERS_COLOR));
}

/** Bar chart by day. @param props.label accessible name of the chart; the table below has the sums. */
export function UsageBars(props: {
  readonly chart: UsageChart;
  readonly split: Split;
  readonly label: string;
}) {
  const { chart, split, label } = props;
  const theme = useMantineTheme();
  const colorOf = useColors(split, chart.series);
  return (
    <div>
      <div role="img" aria-label={label} className={classes.chart}>
        <BarChart
          h={240}
          data={chart.points as Record<string, string | number>[]}
          dataKey="day"
          type="stacked"
          series={chart.series.map((name) => ({ name, color: colorOf(name) }))}
          valueFormatter={(value) => (Number.isInteger(value) ? formatCount(value) : value.toFixed(2))}
          xAxisProps={{ tickFormatter: (day: string) => day.slice(5) }}
          maxBarWidth={28}
          // By default, labels that are close to each other are omitted together with their grid lines.
          yAxisProps={{ allowDecimals: !areCounts(chart), interval: 0, tickFormatter: formatShortCount }}
          barChartProps={{ accessibilityLayer: false, margin: { top: 8, right: 16, bottom: 0, left: 0 } }}
        />
      </div>
      {/* Outside the chart, whose height would include the legend: with many names, no height was left for the bars. */}
      <Group component="ul" aria-label="Legend" gap="0.25rem 1rem" className={classes.legend}>
        {chart.series.map((name) => (
          <Group component="li" key={name} gap={6} wrap="nowrap" miw={0}>
            <ColorSwatch color={getThemeColor(colorOf(name), theme)} size={12} withShadow={false} />
            <Text size="sm" className={classes.name}>
              {name}
            </Text>
          </Group>
        ))}
      </Group>
    </div>
  );
}
