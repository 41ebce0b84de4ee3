import { useComputedColorScheme, useMantineTheme } from '@mantine/core';
import { useMemo } from 'react';

/** Colours for what is drawn without the help of style sheets. */
export interface SoundColors {
  readonly wave: string;
  /** What stands out: heard already, or marked. */
  readonly marked: string;
  readonly words: string;
}

export function useSoundColors(): SoundColors {
  const { colors } = useMantineTheme();
  const isDark = useComputedColorScheme() === 'dark';
  return useMemo(
    () =>
      isDark
        ? { wave: colors.dark[2], marked: colors.indigo[4], words: colors.dark[1] }
        : { wave: colors.gray[5], marked: colors.indigo[6], words: colors.gray[7] },
    [colors, isDark],
  );
}
