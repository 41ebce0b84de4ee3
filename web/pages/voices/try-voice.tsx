import { Button, Group, Stack, Text, TextInput } from '@mantine/core';
import { useState } from 'react';
import { LoudnessView } from '../../audio/display/loudness-view.tsx';
import { Waveform } from '../../audio/display/waveform.tsx';
import { useSpeech } from '../../audio/playback/use-speech.ts';
import { useSession } from '../../client/session.tsx';
import { ErrorAlert, fieldErrorMessage } from '../../components/feedback/error-alert.tsx';
import { ModelPicker } from '../../components/form/model-picker.tsx';
import { formatSeconds } from '../../components/format.ts';
import { Icon } from '../../components/icon.tsx';

/** Synthesizes a text with a stored voice. */
export function TryVoice({ voice, name }: { readonly voice: string; readonly name: string }) {
  const { client } = useSession();
  const [input, setInput] = useState(
    'This is how I sound when I read something that I have never seen before.',
  );
  const [model, setModel] = useState<string>();
  const { speech, track, start, stop } = useSpeech(client);
  const { phase, error, file, firstS } = speech;
  const isOver = phase === 'idle' || phase === 'finished';
  const fieldError = fieldErrorMessage(error, 'input');
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        start({ model, input, voice, speed: 1, format: 'pcm' });
      }}
    >
      <Stack gap="sm">
        <Group gap="sm" align="flex-end">
          <TextInput
            label={`Text for ${name}`}
            value={input}
            maxLength={500}
            error={fieldError}
            onChange={({ currentTarget }) => setInput(currentTarget.value)}
            flex="3 1 16rem"
          />
          <ModelPicker task="speech" value={model} onChange={setModel} error={error} />
          {isOver ? (
            <Button type="submit" disabled={model === undefined} leftSection={<Icon name="play" size={16} />}>
              Speak
            </Button>
          ) : (
            <Button variant="default" onClick={stop} leftSection={<Icon name="stop" size={16} />}>
              Stop
            </Button>
          )}
        </Group>
        {fieldError === undefined && <ErrorAlert error={error} />}
        {file !== undefined && <Waveform sound={file} label={`Speech of ${name}`} />}
        {file === undefined && phase !== 'idle' && (
          <LoudnessView track={track} label="Loudness of the received audio" />
        )}
        <Text size="xs" c="dimmed" role="status">
          {firstS !== undefined && `Time to first audio: ${formatSeconds(firstS)}`}
        </Text>
      </Stack>
    </form>
  );
}
