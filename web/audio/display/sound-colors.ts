import { useComputedColorScheme, useMantineTheme } from '@mantine/core';
import { useMemo } from 'react';

/** Colours for canvas drawings, which style sheets do not reach. */
export interface SoundColors {
  readonly wave: string;
  /** Highlight: played or marked. */
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
