import { Button, Group, Select, SimpleGrid, Stack, Text } from '@mantine/core';
import { useState } from 'react';
import { useSession } from '../../client/session.tsx';
import { FaultNote, faultOfField } from '../../parts/fault-note.tsx';
import { Figure } from '../../parts/figure.tsx';
import { FileDrop } from '../../parts/file-drop.tsx';
import { Icon } from '../../parts/icon.tsx';
import { LanguageField } from '../../parts/language-field.tsx';
import { ModelPicker } from '../../parts/model-picker.tsx';
import { Panel } from '../../parts/panel.tsx';
import { saveFile } from '../../parts/save-file.ts';
import { bytesWords, countWords, secondsWords } from '../../parts/words.ts';
import { type HearingAsk, type HearingResult, MOST_FILE_BYTES, resultFile } from './hearing.ts';
import classes from './speak.module.css';
import { type Hearing, useHearing } from './use-hearing.ts';

const TASKS = [
  { value: 'transcriptions', label: 'Write down' },
  { value: 'translations', label: 'Write down in English' },
];
const RESULTS = [
  { value: 'text', label: 'Text, while it is heard' },
  { value: 'srt', label: 'Captions (SRT)' },
  { value: 'vtt', label: 'Captions (WebVTT)' },
  { value: 'verbose_json', label: 'JSON with times' },
];
/** Fields that have a place for what the service says of them. */
const FIELDS = ['file', 'model', 'language'];

/** A recording, written down by `POST /v1/audio/transcriptions` or `/translations`. */
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
    <SimpleGrid cols={{ base: 1, lg: 2 }} spacing="lg">
      <Panel title="Recording">
        <form
          onSubmit={(event) => {
            event.preventDefault();
            if (file !== undefined) void start({ file, task, model, language, result });
          }}
        >
          <Stack gap="md">
            <FileDrop
              file={file}
              onFile={setFile}
              label="Recording"
              text={`WAV, MP3, M4A, MP4, FLAC, OGG or WebM, at most ${bytesWords(MOST_FILE_BYTES)}`}
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
                label="Result"
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
            <Group gap="xs">
              <Button type="submit" loading={phase === 'running'} disabled={file === undefined}>
                Listen
              </Button>
              <Button
                variant="default"
                disabled={phase !== 'running'}
                onClick={stop}
                leftSection={<Icon name="stop" size={16} />}
              >
                Stop
              </Button>
            </Group>
          </Stack>
        </form>
      </Panel>
      <Panel title="Words" actions={<State hearing={hearing} />}>
        {(fault?.param == null || !FIELDS.includes(fault.param)) && <FaultNote fault={fault} />}
        <Heard hearing={hearing} />
        <SimpleGrid cols={3}>
          <Figure name="First words after">{seconds(hearing.firstS)}</Figure>
          <Figure name="All words after">{seconds(hearing.totalS)}</Figure>
          <Figure name="Tokens in, out">
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
      </Panel>
    </SimpleGrid>
  );
}

function Heard({ hearing: { text, phase, ask, fault } }: { readonly hearing: Hearing }) {
  const isSilent = phase === 'done' && fault === undefined;
  return (
    <section
      className={classes.heard}
      aria-label="What was heard"
      aria-live="polite"
      // Scrolls by itself, so it takes the keyboard too (WCAG 2.1.1).
      // biome-ignore lint/a11y/noNoninteractiveTabindex: as above
      tabIndex={0}
      data-is-code={ask !== undefined && ask.result !== 'text'}
    >
      {text || <Text c="dimmed">{isSilent ? 'Nothing was said.' : 'The words come here.'}</Text>}
    </section>
  );
}

function download({ ask, text }: Hearing): void {
  if (ask === undefined) return;
  const file = resultFile(ask.file.name, ask.result, text);
  saveFile(file, file.name);
}

function seconds(value: number | undefined): string {
  return value === undefined ? '–' : secondsWords(value);
}

const PHASES: Readonly<Record<Hearing['phase'], string>> = {
  idle: '',
  running: 'Listening',
  done: '',
  stopped: 'Stopped',
};

function State({ hearing: { phase } }: { readonly hearing: Hearing }) {
  return (
    <Text size="sm" c="dimmed" role="status">
      {PHASES[phase]}
    </Text>
  );
}
