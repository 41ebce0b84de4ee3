import {
  Alert,
  Button,
  Group,
  NumberInput,
  Progress,
  SegmentedControl,
  Select,
  Text,
  Textarea,
  TextInput,
} from '@mantine/core';
import { useEffect, useRef, useState } from 'react';
import { isAbort, type ServiceFault, toFault } from '../../client/service-fault.ts';
import { useSession } from '../../client/session.tsx';
import { useLoad } from '../../client/use-load.ts';
import { FaultNote } from '../../parts/feedback/fault-note.tsx';
import { FileDrop } from '../../parts/form/file-drop.tsx';
import { ModelPicker } from '../../parts/form/model-picker.tsx';
import { Panel } from '../../parts/panel.tsx';
import { useObjectUrl } from '../../parts/use-object-url.ts';
import { clipMemory, type Origin } from './clip-memory.ts';
import { clipHint, type LocalClip, shownRange, type VideoModel } from './clip-rules.ts';
import {
  type ExtendForm,
  type ExtensionFaults,
  extensionField,
  extensionForm,
  NEW_EXTENSION,
} from './extension-form.ts';
import classes from './video.module.css';
import type { Video } from './video-wire.ts';

/** Form that creates a video extension: source, model and prompt. */
export function NewVideo(props: {
  /** Id of the source video. */
  readonly of: string | undefined;
  readonly onMade: (id: string) => void;
}) {
  const { of, onMade } = props;
  const { client } = useSession();
  const [form, setForm] = useState<ExtendForm>(
    of === undefined ? NEW_EXTENSION : { ...NEW_EXTENSION, source: 'video', video: of },
  );
  const [faults, setFaults] = useState<ExtensionFaults>({});
  const [fault, setFault] = useState<ServiceFault>();
  const [progress, setProgress] = useState<number>();
  const running = useRef<AbortController>(undefined);
  useEffect(() => () => running.current?.abort(), []);
  const change = (changes: Partial<ExtendForm>) => {
    setForm((before) => ({ ...before, ...changes }));
    setFaults({});
  };

  const start = async () => {
    const made = extensionForm(form);
    setFault(undefined);
    setFaults('faults' in made ? made.faults : {});
    if ('faults' in made) return;
    const abort = new AbortController();
    running.current = abort;
    setProgress(0);
    try {
      const { id } = await client.upload<Video>('v1/videos/extensions', made.form, {
        signal: abort.signal,
        onProgress: setProgress,
      });
      clipMemory.keep(id, originOf(form));
      onMade(id);
    } catch (error) {
      if (isAbort(error)) return;
      const refused = toFault(error);
      const field = extensionField(refused.param);
      if (field === undefined) setFault(refused);
      else setFaults({ [field]: refused.message });
    } finally {
      setProgress(undefined);
    }
  };
  const isRunning = progress !== undefined;
  const { value: model } = useLoad(
    async (signal) => {
      if (form.model === '') return undefined;
      return client.get<VideoModel>(`v1/models/${encodeURIComponent(form.model)}`, { signal });
    },
    [client, form.model],
  );
  const { seconds, clip_seconds: clipSeconds } = model?.limits ?? {};
  return (
    <Panel title="Extend a clip">
      <Source form={form} model={model} onChange={change} fault={faults.video} isRunning={isRunning} />
      <Group align="flex-start" grow preventGrowOverflow={false}>
        <div>
          <ModelPicker
            task="video"
            value={form.model || undefined}
            onChange={(model) => change({ model })}
            disabled={isRunning}
          />
          <Text size="xs" c={faults.model === undefined ? 'dimmed' : 'error'} mt={4}>
            {faults.model ?? (clipSeconds && `Continues clips of ${shownRange(clipSeconds)} s.`)}
          </Text>
        </div>
        <NumberInput
          label="Segment duration in seconds"
          inputWrapperOrder={['label', 'input', 'description', 'error']}
          description={seconds && `Duration of the new segment: ${shownRange(seconds)} s.`}
          min={seconds?.minimum ?? 1}
          {...(seconds?.maximum !== undefined && { max: seconds.maximum })}
          allowDecimal={false}
          value={form.seconds}
          onChange={(value) => change({ seconds: typeof value === 'number' ? value : '' })}
          error={faults.seconds}
          disabled={isRunning}
        />
      </Group>
      <Textarea
        label="Prompt"
        description="What happens next. Models that only continue the motion ignore the prompt; the created video has a note about it."
        placeholder="The camera keeps panning over the harbour."
        value={form.prompt}
        onChange={({ currentTarget }) => change({ prompt: currentTarget.value })}
        error={faults.prompt}
        autosize
        minRows={2}
        maxRows={8}
        disabled={isRunning}
      />
      <FaultNote fault={fault} />
      <Group gap="sm">
        <Button onClick={start} loading={isRunning}>
          Create segment
        </Button>
        {isRunning && (
          <Button variant="default" onClick={() => running.current?.abort()}>
            Stop
          </Button>
        )}
        {isRunning && form.source === 'file' && (
          <Progress value={100 * progress} flex={1} aria-label="Upload" />
        )}
      </Group>
    </Panel>
  );
}

function originOf({ source, file, video }: ExtendForm): Origin {
  if (source === 'file' && file !== undefined) return { kind: 'file', file };
  return source === 'video' ? { kind: 'video', id: video } : { kind: 'url' };
}

function Source(props: {
  readonly form: ExtendForm;
  readonly model: VideoModel | undefined;
  readonly onChange: (changes: Partial<ExtendForm>) => void;
  readonly fault: string | undefined;
  readonly isRunning: boolean;
}) {
  const { form, model, onChange, fault, isRunning } = props;
  return (
    <>
      <SegmentedControl
        w="fit-content"
        aria-label="Source"
        value={form.source}
        onChange={(source) => onChange({ source: source as ExtendForm['source'] })}
        data={[
          { value: 'file', label: 'A file' },
          { value: 'video', label: 'Existing video' },
          { value: 'url', label: 'URL' },
        ]}
        disabled={isRunning}
      />
      {form.source === 'file' && (
        <>
          <FileDrop
            label="Clip"
            text="or drop a clip here: MP4 or QuickTime, H.264 or H.265, 24 to 60 frames per second, at most 200 MB."
            accept="video/mp4,video/quicktime,.mp4,.mov"
            file={form.file}
            onFile={(file) => onChange({ file })}
            error={fault}
            disabled={isRunning}
          />
          {form.file !== undefined && <LocalPreview file={form.file} model={model} />}
        </>
      )}
      {form.source === 'video' && (
        <VideoPicker value={form.video} onChange={(video) => onChange({ video })} error={fault} />
      )}
      {form.source === 'url' && (
        <TextInput
          label="Clip URL"
          description="An https URL on a public server."
          placeholder="https://example.com/clip.mp4"
          type="url"
          value={form.url}
          onChange={({ currentTarget }) => onChange({ url: currentTarget.value })}
          error={fault}
        />
      )}
    </>
  );
}

/** Preview of the selected clip, with a hint if the service would reject it. */
function LocalPreview({ file, model }: { readonly file: File; readonly model: VideoModel | undefined }) {
  const address = useObjectUrl(file);
  const [clip, setClip] = useState<LocalClip>({ bytes: file.size });
  const [isUnreadable, setUnreadable] = useState(false);
  useEffect(() => {
    setClip({ bytes: file.size });
    setUnreadable(false);
  }, [file]);
  const hint = model && clipHint(clip, model);
  const { picture } = clip;
  return (
    <div>
      {address !== undefined && (
        // biome-ignore lint/a11y/useMediaCaption: uploaded clips have no captions
        <video
          src={address}
          controls
          preload="metadata"
          className={classes.player}
          style={{ maxHeight: '16rem', width: 'auto', maxWidth: '100%' }}
          aria-label="Clip preview"
          onError={() => setUnreadable(true)}
          onLoadedMetadata={({
            currentTarget: { videoWidth: width, videoHeight: height, duration: seconds },
          }) => setClip({ bytes: file.size, picture: { width, height, seconds } })}
        />
      )}
      {picture !== undefined && (
        <Text size="xs" c="dimmed">
          {picture.width}x{picture.height}
          {Number.isFinite(picture.seconds) && `, ${picture.seconds.toFixed(1)} s`}
        </Text>
      )}
      {isUnreadable && (
        <Text size="sm" c="dimmed">
          Preview not supported by this browser; the upload may still work.
        </Text>
      )}
      {hint !== undefined && (
        <Alert color="orange" variant="light" p="xs" mt="xs">
          {hint}
        </Alert>
      )}
    </div>
  );
}

/** Selects a completed video. */
function VideoPicker(props: {
  readonly value: string;
  readonly onChange: (id: string) => void;
  readonly error: string | undefined;
}) {
  const { client } = useSession();
  const { value: videos, fault } = useLoad(
    async (signal) => {
      const { data } = await client.list<Video>('v1/videos', { signal, query: { limit: 100 } });
      return data.filter(({ status }) => status === 'completed');
    },
    [client],
  );
  return (
    <Select
      label="Video"
      description="Lists the 100 most recent videos."
      placeholder={videos?.length === 0 ? 'No completed videos' : 'Select a video'}
      data={(videos ?? []).map(({ id, prompt, seconds }) => ({
        value: id,
        label: `${prompt.slice(0, 60)} (${seconds} s, …${id.slice(-6)})`,
      }))}
      value={props.value === '' ? null : props.value}
      onChange={(id) => props.onChange(id ?? '')}
      error={props.error ?? fault?.message}
      searchable
    />
  );
}
