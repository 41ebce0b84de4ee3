import { Button, Group, Stack, Text, TextInput } from '@mantine/core';
import { useState } from 'react';
import { useSession } from '../../client/session.tsx';
import { FaultNote, faultOfField } from '../../parts/feedback/fault-note.tsx';
import { ModelPicker } from '../../parts/form/model-picker.tsx';
import { Icon } from '../../parts/icon.tsx';
import { secondsWords } from '../../parts/words.ts';
import { LoudnessView } from '../../sound/loudness-view.tsx';
import { useSpeech } from '../../sound/use-speech.ts';
import { Waveform } from '../../sound/waveform.tsx';

/** Synthesizes a text with a stored voice. */
export function SayWith({ voice, name }: { readonly voice: string; readonly name: string }) {
  const { client } = useSession();
  const [input, setInput] = useState(
    'This is how I sound when I read something that I have never seen before.',
  );
  const [model, setModel] = useState<string>();
  const { speech, track, start, stop } = useSpeech(client);
  const { phase, fault, file, firstS } = speech;
  const isOver = phase === 'idle' || phase === 'over';
  const fieldFault = faultOfField(fault, 'input');
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
            error={fieldFault}
            onChange={({ currentTarget }) => setInput(currentTarget.value)}
            flex="3 1 16rem"
          />
          <ModelPicker task="speech" value={model} onChange={setModel} fault={fault} />
          {isOver ? (
            <Button type="submit" leftSection={<Icon name="play" size={16} />}>
              Speak
            </Button>
          ) : (
            <Button variant="default" onClick={stop} leftSection={<Icon name="stop" size={16} />}>
              Stop
            </Button>
          )}
        </Group>
        {fieldFault === undefined && <FaultNote fault={fault} />}
        {file !== undefined && <Waveform sound={file} label={`Speech of ${name}`} />}
        {file === undefined && phase !== 'idle' && (
          <LoudnessView track={track} label="Loudness of the received audio" />
        )}
        <Text size="xs" c="dimmed" role="status">
          {firstS !== undefined && `Time to first audio: ${secondsWords(firstS)}`}
        </Text>
      </Stack>
    </form>
  );
}
