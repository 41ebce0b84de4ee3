import {
  Alert,
  Button,
  Checkbox,
  Group,
  SegmentedControl,
  SimpleGrid,
  Stack,
  Text,
  Textarea,
  TextInput,
} from '@mantine/core';
import { useEffect, useRef, useState } from 'react';
import { Waveform } from '../../audio/display/waveform.tsx';
import { type ServiceError, toServiceError } from '../../client/service-error.ts';
import { useSession } from '../../client/session.tsx';
import { ErrorAlert, fieldErrorMessage } from '../../components/feedback/error-alert.tsx';
import { FileDrop } from '../../components/form/file-drop.tsx';
import { formatBytes } from '../../components/format.ts';
import { Icon } from '../../components/icon.tsx';
import { Panel } from '../../components/panel.tsx';
import { ClipRecorder } from './clip-recorder.tsx';
import { READING_TEXTS } from './reading-texts.ts';
import {
  enrollmentForm,
  MAX_CLIP_BYTES,
  MAX_NAME_CHARACTERS,
  MAX_SECONDS,
  MAX_TEXT_CHARACTERS,
  MIN_SECONDS,
  type NewVoice,
} from './voice-wire.ts';

const CONSENT = 'I have the consent of the speaker, or the rights, to make and use this synthetic voice.';
/** Fields that show their own errors. */
const FIELDS = ['audio_sample', 'name', 'speaker_description', 'consent'];

interface Clip {
  readonly file: File;
  readonly advice?: string | undefined;
}

/** Form for a new voice: a recorded or uploaded clip, and its metadata. */
export function NewVoicePanel(props: {
  readonly onStored: (voice: NewVoice) => void;
  readonly onClose: () => void;
}) {
  const { client } = useSession();
  const [source, setSource] = useState<'record' | 'upload'>('record');
  const [reading, setReading] = useState(0);
  const [recorded, setRecorded] = useState<Clip>();
  const [uploaded, setUploaded] = useState<File>();
  const [uploadedText, setUploadedText] = useState('');
  const [name, setName] = useState('');
  const [description, setDescription] = useState('');
  const [hasConsent, setConsent] = useState(false);
  const [isSending, setSending] = useState(false);
  const [error, setError] = useState<ServiceError>();
  const readingText = READING_TEXTS[reading] ?? '';
  const clip: Clip | undefined = source === 'record' ? recorded : uploaded && uploadedClip(uploaded);
  const text = source === 'record' ? readingText : uploadedText;
  const clipError = fieldErrorMessage(error, 'audio_sample');
  const fields = source === 'upload' ? [...FIELDS, 'ref_text'] : FIELDS;
  const sending = useRef<AbortController>(undefined);
  useEffect(() => () => sending.current?.abort(), []);

  const send = async (file: File) => {
    const abort = new AbortController();
    const { signal } = abort;
    sending.current = abort;
    setSending(true);
    setError(undefined);
    try {
      const consent = hasConsent ? CONSENT : '';
      const form = enrollmentForm({ clip: file, name, text, description, consent });
      props.onStored(await client.post<NewVoice>('v1/audio/voices', form, { signal }));
    } catch (error) {
      if (signal.aborted) return;
      setError(toServiceError(error));
      setSending(false);
    }
  };

  return (
    <Panel
      title="New voice"
      actions={
        <Button variant="subtle" size="xs" onClick={props.onClose}>
          Close
        </Button>
      }
    >
      <form
        onSubmit={(event) => {
          event.preventDefault();
          if (clip !== undefined) void send(clip.file);
        }}
      >
        <Stack gap="md">
          <SimpleGrid cols={{ base: 1, md: 2 }} spacing="xl">
            <Stack gap="md" miw={0}>
              <SegmentedControl
                aria-label="Clip source"
                data={[
                  { value: 'record', label: 'Record' },
                  { value: 'upload', label: 'Upload' },
                ]}
                value={source}
                onChange={(value) => setSource(value as typeof source)}
              />
              {source === 'record' ? (
                <>
                  <Group justify="space-between">
                    <Text size="sm" fw={500}>
                      Read this text aloud in a natural voice
                    </Text>
                    <Button
                      size="compact-xs"
                      variant="subtle"
                      onClick={() => {
                        setReading((reading + 1) % READING_TEXTS.length);
                        setRecorded(undefined);
                      }}
                    >
                      Another text
                    </Button>
                  </Group>
                  <ClipRecorder
                    // A running recording belongs to the previous text.
                    key={reading}
                    text={readingText}
                    isAgain={recorded !== undefined}
                    onRecorded={({ file, advice, seconds }) => {
                      setError(undefined);
                      setRecorded({ file, advice: seconds < MIN_SECONDS ? TOO_SHORT : advice });
                    }}
                  />
                </>
              ) : (
                <>
                  <FileDrop
                    file={uploaded}
                    onFile={(file) => {
                      setError(undefined);
                      setUploaded(file);
                    }}
                    label="Clip"
                    text={`WAV, MP3, M4A or MP4 of ${MIN_SECONDS} to ${MAX_SECONDS} s, at most ${formatBytes(MAX_CLIP_BYTES)}`}
                    accept="audio/*,video/mp4"
                  />
                  <Textarea
                    label="Transcript of the clip"
                    value={uploadedText}
                    onChange={({ currentTarget }) => setUploadedText(currentTarget.value)}
                    required
                    withAsterisk={false}
                    maxLength={MAX_TEXT_CHARACTERS}
                    autosize
                    minRows={2}
                    error={fieldErrorMessage(error, 'ref_text')}
                  />
                </>
              )}
              {clip !== undefined && clip.file.size <= MAX_CLIP_BYTES && (
                <Waveform sound={clip.file} label="Clip preview" />
              )}
              <Note text={clip?.advice} color="orange" />
              <Note text={clipError} color="red" />
            </Stack>
            <Stack gap="md" miw={0}>
              <TextInput
                label="Name"
                value={name}
                onChange={({ currentTarget }) => setName(currentTarget.value)}
                required
                withAsterisk={false}
                maxLength={MAX_NAME_CHARACTERS}
                error={fieldErrorMessage(error, 'name')}
              />
              <TextInput
                label="Speaker description"
                placeholder="Age, accent, style"
                value={description}
                onChange={({ currentTarget }) => setDescription(currentTarget.value)}
                maxLength={MAX_TEXT_CHARACTERS}
                error={fieldErrorMessage(error, 'speaker_description')}
              />
              <Checkbox
                label={CONSENT}
                description="Stored with the voice."
                checked={hasConsent}
                onChange={({ currentTarget }) => setConsent(currentTarget.checked)}
                required
                error={fieldErrorMessage(error, 'consent')}
              />
            </Stack>
          </SimpleGrid>
          {(error?.param == null || !fields.includes(error.param)) && <ErrorAlert error={error} />}
          <Group>
            <Button type="submit" loading={isSending} disabled={clip === undefined}>
              Create voice
            </Button>
          </Group>
        </Stack>
      </form>
    </Panel>
  );
}

/** A clip above the size limit has no waveform, which would read the whole file. */
function uploadedClip(file: File): Clip {
  return { file, advice: file.size > MAX_CLIP_BYTES ? TOO_LARGE : undefined };
}

const TOO_LARGE = `The clip is larger than ${formatBytes(MAX_CLIP_BYTES)}, the default limit of the service.`;
const TOO_SHORT = `The clip is shorter than the minimum of ${MIN_SECONDS} s.`;

function Note({ text, color }: { readonly text: string | undefined; readonly color: 'orange' | 'red' }) {
  if (text === undefined) return null;
  return (
    <Alert color={color} variant="light" role="alert" p="sm" icon={<Icon name="warning" />}>
      {text}
    </Alert>
  );
}
