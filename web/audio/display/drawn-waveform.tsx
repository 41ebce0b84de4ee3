import { useEffect, useRef, useState } from 'react';
import WaveSurfer from 'wavesurfer.js';
import { styleNonce } from '../../client/style-nonce.ts';
import { useSoundColors } from './sound-colors.ts';
import classes from './waveform.module.css';

const HEIGHT_PX = 72;

/** Lazily loaded: see {@link Waveform}. */
export default function DrawnWaveform(props: {
  readonly sound: Blob;
  /** Accessible name of the controls. */
  readonly label: string;
  /** Called with the position in seconds while the sound is played, and after a seek. Must not change. */
  readonly onPosition?: ((seconds: number) => void) | undefined;
}) {
  const { sound, label, onPosition } = props;
  const place = useRef<HTMLDivElement>(null);
  const picture = useRef<HTMLDivElement>(null);
  const [isBroken, setBroken] = useState(false);
  const colors = useSoundColors();
  useEffect(() => {
    const [container, parent] = [picture.current, place.current];
    if (container === null || parent === null) return;
    // A new element per sound: wavesurfer.js would load the previous source of a reused one.
    const media = document.createElement('audio');
    media.controls = true;
    media.setAttribute('aria-label', label);
    parent.append(media);
    const drawn = WaveSurfer.create({
      container,
      media,
      height: HEIGHT_PX,
      barWidth: 2,
      barGap: 1,
      barRadius: 2,
      cursorWidth: 1,
      waveColor: colors.wave,
      progressColor: colors.marked,
      cursorColor: colors.marked,
      cspNonce: styleNonce(),
    });
    setBroken(false);
    drawn.on('error', () => setBroken(true));
    if (onPosition !== undefined) drawn.on('timeupdate', onPosition);
    // Failures are reported by the `error` event.
    drawn.loadBlob(sound).catch(() => undefined);
    return () => {
      drawn.destroy();
      media.remove();
    };
  }, [sound, label, colors, onPosition]);
  return (
    <div ref={place} className={classes.waveform}>
      <div ref={picture} aria-hidden="true" hidden={isBroken} />
    </div>
  );
}
