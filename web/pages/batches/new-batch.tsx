import { Button, Group, Progress, Select, Tabs, Textarea } from '@mantine/core';
import { useEffect, useMemo, useRef, useState } from 'react';
import { isAbort, type ServiceError, toServiceError } from '../../client/service-error.ts';
import { useSession } from '../../client/session.tsx';
import { ErrorAlert } from '../../components/feedback/error-alert.tsx';
import { FileDrop } from '../../components/form/file-drop.tsx';
import { ModelPicker } from '../../components/form/model-picker.tsx';
import { Panel } from '../../components/panel.tsx';
import { type Batch, ENDPOINTS, type Endpoint, type StoredFile } from './batch-wire.ts';
import { buildInputLines } from './input-builder.ts';
import { type Preview, previewOf, readFileHead, textHead } from './input-preview.ts';
import { MetadataEditor, type Pair } from './metadata-editor.tsx';
import { PreviewLines } from './preview-lines.tsx';

const EXAMPLE_TEXTS = 'A cat sat on the mat.\nThe cat is sitting.\nShares fell on Monday.';

type Mode = 'file' | 'lines';

interface Input {
  readonly file: File;
  readonly preview: Preview;
}

/** The typed texts as an input file. */
function writtenInput(texts: string, endpoint: Endpoint, model: string | undefined): Input | undefined {
  if (model === undefined) return undefined;
  const text = buildInputLines(texts, endpoint, model);
  const file = new File([text], 'lines.jsonl', { type: 'application/jsonl' });
  return { file, preview: previewOf(textHead(text, file.size)) };
}

/** Form that creates a batch from a file or from typed texts. */
export function NewBatch({ onCreated }: { readonly onCreated: (id: string) => void }) {
  const { client } = useSession();
  const [mode, setMode] = useState<Mode>('file');
  const [chosen, setChosen] = useState<Input>();
  const [texts, setTexts] = useState(EXAMPLE_TEXTS);
  const [model, setModel] = useState<string>();
  const [endpoint, setEndpoint] = useState<Endpoint>('/v1/embeddings');
  const [metadata, setMetadata] = useState<readonly Pair[]>([]);
  const [progress, setProgress] = useState<number>();
  const [error, setError] = useState<ServiceError>();
  const running = useRef<AbortController>(undefined);
  useEffect(() => () => running.current?.abort(), []);

  // The preview of a long text is expensive, and this page renders on each progress event of the upload.
  const written = useMemo(() => writtenInput(texts, endpoint, model), [texts, endpoint, model]);
  const input = mode === 'file' ? chosen : written;
  const choose = async (file: File) => {
    const preview = previewOf(await readFileHead(file));
    setChosen({ file, preview });
    if (preview.endpoint !== undefined) setEndpoint(preview.endpoint);
  };
  const create = async (file: string, signal: AbortSignal) => {
    const pairs = Object.fromEntries(metadata.map(({ name, value }) => [name, value]));
    const body = { input_file_id: file, endpoint, ...(metadata.length === 0 ? {} : { metadata: pairs }) };
    try {
      return await client.post<Batch>('v1/batches', body, { signal });
    } catch (error) {
      // Without a batch the file would be orphaned. If the batch was created nevertheless, the service
      // rejects this.
      await client.delete(`v1/files/${encodeURIComponent(file)}`).catch(() => undefined);
      throw error;
    }
  };
  const start = async () => {
    if (input === undefined) return;
    const abort = new AbortController();
    running.current = abort;
    setError(undefined);
    setProgress(0);
    try {
      const form = new FormData();
      form.set('purpose', 'batch');
      form.set('file', input.file);
      const { signal } = abort;
      const file = await client.upload<StoredFile>('v1/files', form, { signal, onProgress: setProgress });
      onCreated((await create(file.id, signal)).id);
    } catch (error) {
      if (!isAbort(error)) setError(toServiceError(error));
    } finally {
      setProgress(undefined);
    }
  };
  const isRunning = progress !== undefined;
  return (
    <Panel title="New batch">
      <Tabs value={mode} onChange={(value) => setMode(value as Mode)} keepMounted={false}>
        <Tabs.List>
          <Tabs.Tab value="file">Upload a file</Tabs.Tab>
          <Tabs.Tab value="lines">Enter texts</Tabs.Tab>
        </Tabs.List>
        <Tabs.Panel value="file" pt="md">
          <FileDrop
            label="Input file"
            text="or drop a .jsonl file here: one request per line, at most 200 MB and 50,000 lines."
            accept=".jsonl,application/jsonl"
            file={chosen?.file}
            onFile={choose}
            disabled={isRunning}
          />
        </Tabs.Panel>
        <Tabs.Panel value="lines" pt="md">
          <Textarea
            label="Texts"
            description="Each line becomes one request."
            value={texts}
            onChange={({ currentTarget }) => setTexts(currentTarget.value)}
            autosize
            minRows={4}
            maxRows={14}
            disabled={isRunning}
          />
        </Tabs.Panel>
      </Tabs>
      <Group align="flex-start" grow preventGrowOverflow={false}>
        <Select
          label="Endpoint"
          data={[...ENDPOINTS]}
          value={endpoint}
          onChange={(value) => value !== null && setEndpoint(value as Endpoint)}
          allowDeselect={false}
          disabled={isRunning}
          miw="14rem"
        />
        {mode === 'lines' && (
          <ModelPicker
            task={endpoint === '/v1/embeddings' ? 'embeddings' : 'chat'}
            value={model}
            onChange={setModel}
            disabled={isRunning}
          />
        )}
      </Group>
      <MetadataEditor pairs={metadata} onChange={setMetadata} />
      {input !== undefined && <PreviewLines preview={input.preview} />}
      <ErrorAlert error={error} />
      <Group gap="sm">
        <Button onClick={start} loading={isRunning} disabled={input === undefined || input.file.size === 0}>
          Start batch
        </Button>
        {isRunning && (
          <Button variant="default" onClick={() => running.current?.abort()}>
            Stop
          </Button>
        )}
        {isRunning && <Progress value={100 * progress} flex={1} aria-label="Upload" />}
      </Group>
    </Panel>
  );
}
