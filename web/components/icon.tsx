/** Decorative 24 by 24 icons in the text colour. Each one is accompanied by a text or an accessible name. */
const PATHS = {
  start: 'M4 11l8-7 8 7v9h-5v-6H9v6H4z',
  speak: 'M4 10v4h3l5 4V6L7 10H4zM15.5 9a4 4 0 0 1 0 6M18 6.5a8 8 0 0 1 0 11',
  voices: 'M12 4a3 3 0 0 0-3 3v4a3 3 0 0 0 6 0V7a3 3 0 0 0-3-3zM6 11a6 6 0 0 0 12 0M12 17v3M9 20h6',
  pronunciation: 'M5 4h11a3 3 0 0 1 3 3v13H8a3 3 0 0 1-3-3zM5 17a3 3 0 0 1 3-3h11M9 8h6',
  talk: 'M4 5h16v11H11l-5 4v-4H4zM9 9v3M12 8v5M15 9v3',
  realtime: 'M4 12h2l2-6 4 14 3-11 2 3h3',
  batches: 'M4 6h16M4 12h16M4 18h10',
  responses: 'M4 5h16v11H10l-4 4v-4H4z',
  video: 'M4 6h11v12H4zM15 10l5-3v10l-5-3',
  usage: 'M5 20V10M12 20V4M19 20v-7',
  keys: 'M14.5 9.5a4 4 0 1 1-1.2-2.8 4 4 0 0 1 1.2 2.8zM13.3 12.3 20 19M17 16l2-2',
  models: 'M12 3l8 4.5v9L12 21l-8-4.5v-9zM4 7.5l8 4.5 8-4.5M12 12v9',
  plugins: 'M5 8h14v4a5 5 0 0 1-5 5h-4a5 5 0 0 1-5-5zM9 4v4M15 4v4M12 17v4',
  menu: 'M4 7h16M4 12h16M4 17h16',
  copy: 'M9 9h10v11H9zM5 15V4h10',
  check: 'M5 12.5 10 17 19 7',
  play: 'M8 5v14l11-7z',
  pause: 'M8 5v14M16 5v14',
  stop: 'M6 6h12v12H6z',
  microphone: 'M12 4a3 3 0 0 0-3 3v4a3 3 0 0 0 6 0V7a3 3 0 0 0-3-3zM6 11a6 6 0 0 0 12 0M12 17v3',
  download: 'M12 4v11M7 11l5 5 5-5M5 20h14',
  upload: 'M12 16V5M7 9l5-5 5 5M5 20h14',
  trash: 'M5 7h14M10 7V4h4v3M7 7l1 13h8l1-13',
  plus: 'M12 5v14M5 12h14',
  reload: 'M19 12a7 7 0 1 1-2-5l2 2M19 4v5h-5',
  close: 'M6 6l12 12M18 6 6 18',
  send: 'M4 12 20 5l-4 15-4-6zM12 14l8-9',
  settings: 'M4 7h9M17 7h3M4 17h3M11 17h9M15 5v4M9 15v4',
  tool: 'M14.5 5a4 4 0 0 0-4.2 5.3L4 16.6 7.4 20l6.3-6.3A4 4 0 0 0 19 9.5L16.5 12 14 11l-1-2.500z',
  leave: 'M10 5H5v14h5M14 8l4 4-4 4M18 12H9',
  back: 'M14 6l-6 6 6 6',
  theme: 'M12 4a8 8 0 1 0 0 16zM12 4a8 8 0 0 1 0 16',
  warning: 'M12 4 21 20H3zM12 10v5M12 17.5v.5',
} as const;

export type IconName = keyof typeof PATHS;

/** @param props.size width and height in pixels. */
export function Icon({ name, size = 18 }: { readonly name: IconName; readonly size?: number }) {
  return (
    <svg
      width={size}
      height={size}
      viewBox="0 0 24 24"
      fill="none"
      stroke="currentColor"
      strokeWidth={1.7}
      strokeLinecap="round"
      strokeLinejoin="round"
      aria-hidden="true"
    >
      <path d={PATHS[name]} />
    </svg>
  );
}
