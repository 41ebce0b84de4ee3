import { Button, Group, Select, SimpleGrid, Text } from '@mantine/core';
import { useState } from 'react';
import { useSession } from '../../client/session.tsx';
import { faultOfField } from '../../parts/feedback/fault-note.tsx';
import { Figure } from '../../parts/figure.tsx';
import { FileDrop } from '../../parts/form/file-drop.tsx';
import { LanguageField } from '../../parts/form/language-field.tsx';
import { ModelPicker } from '../../parts/form/model-picker.tsx';
import { Icon } from '../../parts/icon.tsx';
import { saveFile } from '../../parts/save-file.ts';
import { bytesWords, countWords } from '../../parts/words.ts';
import { Exchange, SecondsFigure } from './exchange.tsx';
import { type HearingAsk, type HearingResult, MAX_FILE_BYTES, resultFile } from './hearing.ts';
import classes from './speak.module.css';
import { type Hearing, useHearing } from './use-hearing.ts';

const TASKS = [
  { value: 'transcriptions', label: 'Transcribe' },
  { value: 'translations', label: 'Translate to English' },
];
const RESULTS = [
  { value: 'text', label: 'Text (streamed)' },
  { value: 'srt', label: 'Captions (SRT)' },
  { value: 'vtt', label: 'Captions (WebVTT)' },
  { value: 'verbose_json', label: 'JSON with timestamps' },
];
/** Fields that show their own errors. */
const FIELDS = ['file', 'model', 'language'];

/** Transcribes a recording with `POST /v1/audio/transcriptions` or `/translations`. */
export function HearTab() {
  const { client } = useSession();
  const [file, setFile] = useState<File>();
  const [task, setTask] = useState<HearingAsk['task']>('transcriptions');
  const [model, setModel] = useState<string>();
  const [language, setLanguage] = useState('');
  const [result, setResult] = useState<HearingResult>('text');
  const { hearing, start, stop } = useHearing(client);
  const { phase, fault } = hearing;
  return (
    <Exchange
      title="Recording"
      action={{ name: 'Transcribe' }}
      canStart={file !== undefined}
      isWaiting={phase === 'running'}
      isRunning={phase === 'running'}
      onStart={() => file !== undefined && void start({ file, task, model, language, result })}
      onStop={stop}
      answerTitle="Transcript"
      state={PHASES[phase]}
      fault={fault}
      toldByFields={FIELDS}
      fields={
        <>
          <FileDrop
            file={file}
            onFile={setFile}
            label="Recording"
            text={`WAV, MP3, M4A, MP4, FLAC, OGG or WebM, at most ${bytesWords(MAX_FILE_BYTES)}`}
            accept="audio/*,video/mp4,video/webm"
            error={faultOfField(fault, 'file')}
          />
          <SimpleGrid cols={{ base: 1, xs: 2 }} spacing="md">
            <Select
              label="Task"
              data={TASKS}
              value={task}
              allowDeselect={false}
              onChange={(value) => setTask(value as HearingAsk['task'])}
            />
            <Select
              label="Response format"
              data={RESULTS}
              value={result}
              allowDeselect={false}
              onChange={(value) => setResult(value as HearingResult)}
            />
            <ModelPicker task="transcription" value={model} onChange={setModel} fault={fault} />
            <LanguageField
              value={language}
              onChange={setLanguage}
              disabled={task === 'translations'}
              error={faultOfField(fault, 'language')}
            />
          </SimpleGrid>
        </>
      }
      answer={
        <>
          <Heard hearing={hearing} />
          <SimpleGrid cols={3}>
            <SecondsFigure name="Time to first text" seconds={hearing.firstS} />
            <SecondsFigure name="Total time" seconds={hearing.totalS} />
            <Figure name="Input, output tokens">
              {hearing.tokens === undefined
                ? '–'
                : `${countWords(hearing.tokens.input)}, ${countWords(hearing.tokens.output)}`}
            </Figure>
          </SimpleGrid>
          <Group>
            <Button
              variant="default"
              disabled={hearing.text === '' || phase === 'running'}
              leftSection={<Icon name="download" size={16} />}
              onClick={() => download(hearing)}
            >
              Download
            </Button>
          </Group>
        </>
      }
    />
  );
}

function Heard({ hearing: { text, phase, ask, fault } }: { readonly hearing: Hearing }) {
  const isSilent = phase === 'done' && fault === undefined;
  return (
    <section
      className={classes.heard}
      aria-label="Transcript text"
      aria-live="polite"
      dir="auto"
      // A scrollable region must be focusable (WCAG 2.1.1).
      // biome-ignore lint/a11y/noNoninteractiveTabindex: as above
      tabIndex={0}
      data-is-code={ask !== undefined && ask.result !== 'text'}
    >
      {text || <Text c="dimmed">{isSilent ? 'No speech detected.' : 'The transcript appears here.'}</Text>}
    </section>
  );
}

function download({ ask, text }: Hearing): void {
  if (ask === undefined) return;
  const file = resultFile(ask.file.name, ask.result, text);
  saveFile(file, file.name);
}

const PHASES: Readonly<Record<Hearing['phase'], string>> = {
  idle: '',
  running: 'Transcribing',
  done: '',
  stopped: 'Stopped',
};
