import { useComputedColorScheme } from '@mantine/core';
import { useEffect, useRef, useState } from 'react';
import WaveSurfer from 'wavesurfer.js';
import { styleNonce } from '../client/style-nonce.ts';
import classes from './waveform.module.css';

const HEIGHT_PX = 72;

/** Loaded when it is needed: see {@link Waveform}. */
export default function DrawnWaveform(props: {
  readonly sound: Blob;
  /** Names the controls. */
  readonly label: string;
}) {
  const { sound, label } = props;
  const picture = useRef<HTMLDivElement>(null);
  const controls = useRef<HTMLAudioElement>(null);
  const [isBroken, setBroken] = useState(false);
  const scheme = useComputedColorScheme();
  // biome-ignore lint/correctness/useExhaustiveDependencies: another scheme has other colours, which the picture is asked for
  useEffect(() => {
    const [container, media] = [picture.current, controls.current];
    if (container === null || media === null) return;
    const style = getComputedStyle(container);
    const drawn = WaveSurfer.create({
      container,
      media,
      height: HEIGHT_PX,
      barWidth: 2,
      barGap: 1,
      barRadius: 2,
      cursorWidth: 1,
      waveColor: style.getPropertyValue('--wave'),
      progressColor: style.getPropertyValue('--heard'),
      cursorColor: style.getPropertyValue('--heard'),
      cspNonce: styleNonce(),
    });
    setBroken(false);
    drawn.on('error', () => setBroken(true));
    // Its failure is told by the event.
    drawn.loadBlob(sound).catch(() => undefined);
    return () => drawn.destroy();
  }, [sound, scheme]);
  return (
    <div className={classes.waveform}>
      <div ref={picture} aria-hidden="true" hidden={isBroken} />
      {/* biome-ignore lint/a11y/useMediaCaption: what is said is the text that it was made of */}
      <audio ref={controls} controls aria-label={label} />
    </div>
  );
}
