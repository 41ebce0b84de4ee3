import { Box, Button, Code, Group, Stack, Text } from '@mantine/core';
import { useState } from 'react';
import { useSession } from '../../client/session.tsx';
import { CopyAction } from '../../components/code-block.tsx';
import { Confirm } from '../../components/feedback/confirm.tsx';
import { formatSeconds, formatTime } from '../../components/format.ts';
import { Icon } from '../../components/icon.tsx';
import { ClipSound } from './clip-sound.tsx';
import { TryVoice } from './try-voice.tsx';
import type { Voice } from './voice-wire.ts';
import classes from './voices.module.css';

/** A stored voice: details, clip, text to speech and deletion. */
export function VoiceCard({ voice, onDeleted }: { readonly voice: Voice; readonly onDeleted: () => void }) {
  const { client } = useSession();
  const [shown, setShown] = useState<'clip' | 'say'>();
  const [isConfirming, setConfirming] = useState(false);
  const { id, name } = voice;
  const toggle = (part: 'clip' | 'say') => setShown(shown === part ? undefined : part);
  return (
    <Box component="li" className={classes.voice} aria-label={name}>
      <Stack gap="sm">
        <Group justify="space-between" gap="sm">
          <Box miw={0} flex="1 1 16rem">
            <Text fw={600} style={{ overflowWrap: 'anywhere' }}>
              {name}
            </Text>
            {voice.speaker_description !== undefined && <Text size="sm">{voice.speaker_description}</Text>}
            <Text size="xs" c="dimmed" className="figures">
              {formatSeconds(voice.duration_s)} of {voice.format.toUpperCase()} ·{' '}
              {formatTime(voice.created_at)}
            </Text>
            <Group gap={4} wrap="nowrap" mt={4}>
              <Code className={classes.id}>{id}</Code>
              <CopyAction text={id} label={`Copy ID of ${name}`} />
            </Group>
          </Box>
          <Group gap="xs">
            <Button
              size="xs"
              variant="default"
              aria-expanded={shown === 'clip'}
              leftSection={<Icon name="play" size={14} />}
              onClick={() => toggle('clip')}
            >
              Play clip
            </Button>
            <Button
              size="xs"
              variant="default"
              aria-expanded={shown === 'say'}
              leftSection={<Icon name="speak" size={14} />}
              onClick={() => toggle('say')}
            >
              Try it
            </Button>
            <Button
              size="xs"
              variant="default"
              leftSection={<Icon name="trash" size={14} />}
              onClick={() => setConfirming(true)}
            >
              Delete
            </Button>
          </Group>
        </Group>
        {shown === 'clip' && <ClipSound id={id} name={name} />}
        {shown === 'say' && <TryVoice voice={id} name={name} />}
      </Stack>
      {isConfirming && (
        <Confirm
          title={`Delete ${name}?`}
          text="This deletes the voice, its clip and all derived data. Requests with its ID will fail."
          action="Delete"
          onConfirm={async () => {
            await client.delete(`v1/audio/voices/${encodeURIComponent(id)}`);
            onDeleted();
          }}
          onClose={() => setConfirming(false)}
        />
      )}
    </Box>
  );
}
