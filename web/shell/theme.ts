import {
  Badge,
  type CSSVariablesResolver,
  createTheme,
  type MantineColorScheme,
  SegmentedControl,
} from '@mantine/core';

/** Compact theme: small controls, one accent colour, borders instead of shadows. */
export const theme = createTheme({
  primaryColor: 'indigo',
  // Sufficient contrast with white text in both colour schemes (WCAG 2.2, 1.4.3).
  primaryShade: { light: 8, dark: 8 },
  fontFamily: 'system-ui, -apple-system, "Segoe UI", Roboto, "Helvetica Neue", sans-serif',
  fontFamilyMonospace: 'ui-monospace, SFMono-Regular, Menlo, Consolas, monospace',
  defaultRadius: 'md',
  headings: { fontWeight: '600' },
  cursorType: 'pointer',
  respectReducedMotion: true,
  components: {
    // Status values are shown as the API spells them.
    Badge: Badge.extend({
      defaultProps: { tt: 'none', fw: 500 },
      // Badges contain single words; a table would shrink them and cut the words off.
      styles: { root: { minWidth: 'max-content' } },
    }),
    SegmentedControl: SegmentedControl.extend({ styles: { label: { paddingInline: 6 } } }),
  },
});

/** Mantine colours that the console uses for texts and badges. */
const COLORS = [
  'indigo',
  'gray',
  'green',
  'red',
  'orange',
  'yellow',
  'blue',
  'teal',
  'grape',
  'cyan',
] as const;

/** Adjusts text colours to the contrast that WCAG 2.2 (1.4.3) requires in both colour schemes. */
export const cssVariables: CSSVariablesResolver = () => ({
  variables: {},
  light: {
    '--mantine-color-dimmed': 'var(--mantine-color-gray-7)',
    '--mantine-color-placeholder': 'var(--mantine-color-gray-6)',
    '--mantine-color-error': 'var(--mantine-color-red-9)',
    '--mantine-color-anchor': 'var(--mantine-color-indigo-8)',
    ...Object.fromEntries(
      COLORS.map((color) => [
        `--mantine-color-${color}-light-color`,
        `color-mix(in srgb, var(--mantine-color-${color}-9) 70%, black)`,
      ]),
    ),
  },
  dark: {
    '--mantine-color-dimmed': 'var(--mantine-color-dark-1)',
    '--mantine-color-placeholder': 'var(--mantine-color-dark-2)',
    '--mantine-color-error': 'var(--mantine-color-red-4)',
    '--mantine-color-anchor': 'var(--mantine-color-indigo-3)',
    ...Object.fromEntries(
      COLORS.map((color) => [`--mantine-color-${color}-light-color`, `var(--mantine-color-${color}-2)`]),
    ),
  },
});

export const SCHEMES: readonly { readonly value: MantineColorScheme; readonly label: string }[] = [
  { value: 'auto', label: 'System' },
  { value: 'light', label: 'Light' },
  { value: 'dark', label: 'Dark' },
];
