import { Text } from '@mantine/core';
import { useDebouncedValue } from '@mantine/hooks';
import { useSession } from '../../client/session.tsx';
import { useLoad } from '../../client/use-load.ts';

/** Time without input after which the preview is requested. */
const DELAY_MS = 300;

/** How a text is spoken: "Reads as …". Nothing for a text without words, and if it cannot be shown. */
export function ReadingPreview(props: { readonly input: string; readonly language: string | undefined }) {
  const { client } = useSession();
  const [input] = useDebouncedValue(props.input, DELAY_MS);
  const { language } = props;
  const { value, error } = useLoad(
    async (signal) => {
      if (input.trim() === '') return undefined;
      const body = { input, language };
      return await client.post<{ readonly spoken: string }>('v1/audio/normalize', body, { signal });
    },
    [client, input, language],
  );
  // The field shows the errors of its text when it is spoken.
  if (!value?.spoken || error !== undefined) return null;
  return (
    <Text size="sm" c="dimmed" dir="auto" style={{ overflowWrap: 'anywhere' }} mah="8rem" lineClamp={6}>
      Reads as “{value.spoken}”
    </Text>
  );
}
