import { Button, Group, Select, SimpleGrid, Text } from '@mantine/core';
import { useState } from 'react';
import { useSession } from '../../client/session.tsx';
import { fieldErrorMessage } from '../../components/feedback/error-alert.tsx';
import { Figure } from '../../components/figure.tsx';
import { FileDrop } from '../../components/form/file-drop.tsx';
import { LanguageField } from '../../components/form/language-field.tsx';
import { ModelPicker } from '../../components/form/model-picker.tsx';
import { formatBytes, formatCount } from '../../components/format.ts';
import { Icon } from '../../components/icon.tsx';
import { saveFile } from '../../components/save-file.ts';
import { RequestPanel, SecondsFigure } from './request-panel.tsx';
import classes from './speech.module.css';
import {
  MAX_FILE_BYTES,
  resultFile,
  type TranscriptionFormat,
  type TranscriptionParams,
} from './transcription.ts';
import { type Transcription, useTranscription } from './use-transcription.ts';

const TASKS = [
  { value: 'transcriptions', label: 'Transcribe' },
  { value: 'translations', label: 'Translate to English' },
];
const RESULTS = [
  { value: 'text', label: 'Text (streamed)' },
  { value: 'json', label: 'JSON' },
  { value: 'srt', label: 'Captions (SRT)' },
  { value: 'vtt', label: 'Captions (WebVTT)' },
  { value: 'verbose_json', label: 'JSON with timestamps' },
];
/** Fields that show their own errors. */
const FIELDS = ['file', 'model', 'language'];

/** Transcribes a recording with `POST /v1/audio/transcriptions` or `/translations`. */
export function TranscriptionTab() {
  const { client } = useSession();
  const [file, setFile] = useState<File>();
  const [task, setTask] = useState<TranscriptionParams['task']>('transcriptions');
  const [model, setModel] = useState<string>();
  const [language, setLanguage] = useState('');
  const [result, setResult] = useState<TranscriptionFormat>('text');
  const { transcription, start, stop } = useTranscription(client);
  const { phase, error } = transcription;
  return (
    <RequestPanel
      title="Recording"
      action={{ name: 'Transcribe' }}
      canStart={model !== undefined && file !== undefined}
      isWaiting={phase === 'running'}
      isRunning={phase === 'running'}
      onStart={() => file !== undefined && void start({ file, task, model, language, result })}
      onStop={stop}
      resultTitle="Transcript"
      state={PHASES[phase]}
      error={error}
      fieldsWithErrors={FIELDS}
      fields={
        <>
          <FileDrop
            file={file}
            onFile={setFile}
            label="Recording"
            text={`WAV, MP3, M4A, MP4, FLAC, OGG, WebM, AMR, WMA and others, at most ${formatBytes(MAX_FILE_BYTES)}`}
            accept="audio/*,video/mp4,video/webm,video/3gpp,.amr,.awb,.caf,.wma"
            error={fieldErrorMessage(error, 'file')}
          />
          <SimpleGrid cols={{ base: 1, xs: 2 }} spacing="md">
            <Select
              label="Task"
              data={TASKS}
              value={task}
              allowDeselect={false}
              onChange={(value) => setTask(value as TranscriptionParams['task'])}
            />
            <Select
              label="Response format"
              data={RESULTS}
              value={result}
              allowDeselect={false}
              onChange={(value) => setResult(value as TranscriptionFormat)}
            />
            <ModelPicker task="transcription" value={model} onChange={setModel} error={error} />
            <LanguageField
              value={language}
              onChange={setLanguage}
              disabled={task === 'translations'}
              error={fieldErrorMessage(error, 'language')}
            />
          </SimpleGrid>
        </>
      }
      result={
        <>
          <TranscriptText transcription={transcription} />
          <SimpleGrid cols={3}>
            <SecondsFigure name="Time to first text" seconds={transcription.firstS} />
            <SecondsFigure name="Total time" seconds={transcription.totalS} />
            <Figure name="Input, output tokens">
              {transcription.tokens === undefined
                ? '–'
                : `${formatCount(transcription.tokens.input)}, ${formatCount(transcription.tokens.output)}`}
            </Figure>
          </SimpleGrid>
          <Group>
            <Button
              variant="default"
              disabled={transcription.text === '' || phase === 'running'}
              leftSection={<Icon name="download" size={16} />}
              onClick={() => download(transcription)}
            >
              Download
            </Button>
          </Group>
        </>
      }
    />
  );
}

function TranscriptText({
  transcription: { text, phase, params, error },
}: {
  readonly transcription: Transcription;
}) {
  const isSilent = phase === 'done' && error === undefined;
  return (
    <section
      className={classes.transcript}
      aria-label="Transcript text"
      aria-live="polite"
      dir="auto"
      // A scrollable region must be focusable (WCAG 2.1.1).
      // biome-ignore lint/a11y/noNoninteractiveTabindex: as above
      tabIndex={0}
      data-is-code={params !== undefined && params.result !== 'text'}
    >
      {text || <Text c="dimmed">{isSilent ? 'No speech detected.' : 'The transcript appears here.'}</Text>}
    </section>
  );
}

function download({ params, text }: Transcription): void {
  if (params === undefined) return;
  const file = resultFile(params.file.name, params.result, text);
  saveFile(file, file.name);
}

const PHASES: Readonly<Record<Transcription['phase'], string>> = {
  idle: '',
  running: 'Transcribing',
  done: '',
  stopped: 'Stopped',
};
