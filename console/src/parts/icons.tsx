/**
 * Drawn here, so that no icon library is loaded. Icons always stand beside a text, so they are hidden from screen
 * readers.
 */
const SHAPES = {
  overview: 'M4 19V11M10 19V5M16 19v-6M21 19H3',
  check: 'M5 12.5l4.5 4.5L19 7.5',
  cross: 'M6 6l12 12M18 6L6 18',
  fleet: 'M4 5h16v5H4zM4 14h16v5H4zM7.5 7.5h.01M7.5 16.5h.01',
  list: 'M9 6h11M9 12h11M9 18h11M4.5 6h.01M4.5 12h.01M4.5 18h.01',
  gauge: 'M12 14l4-4M4.5 18a9 9 0 1 1 15 0',
  repeat: 'M4 12V9a3 3 0 0 1 3-3h13M17 3l3 3-3 3M20 12v3a3 3 0 0 1-3 3H4M7 21l-3-3 3-3',
  lock: 'M6 11h12v9H6zM8.5 11V8a3.5 3.5 0 0 1 7 0v3',
  hash: 'M9 4L7 20M17 4l-2 16M4 9h16M4 15h16',
  shield: 'M12 3l7 3v5c0 4.5-3 8-7 10-4-2-7-5.5-7-10V6z',
  history: 'M12 8v4l3 2M3.5 12a8.5 8.5 0 1 0 2.6-6.1L3 9M3 4v5h5',
  settings: 'M4 7h9M19 7h1M4 17h1M11 17h9M16 4.5v5M8 14.5v5',
  copy: 'M9 9h11v11H9zM5 15H4V4h11v1',
  question: 'M12 21a9 9 0 1 0 0-18 9 9 0 0 0 0 18zM9.8 9.6a2.2 2.2 0 1 1 3.2 2c-.6.4-1 .9-1 1.7M12 16.6h.01',
  search: 'M10.5 17a6.5 6.5 0 1 0 0-13 6.5 6.5 0 0 0 0 13zM20 20l-4.8-4.8',
  sun: 'M12 16a4 4 0 1 0 0-8 4 4 0 0 0 0 8zM12 2v2M12 20v2M4 12H2M22 12h-2M5 5l1.4 1.4M17.6 17.6L19 19M5 19l1.4-1.4M17.6 6.4L19 5',
  language:
    'M12 21a9 9 0 1 0 0-18 9 9 0 0 0 0 18zM3 12h18M12 3c2.5 2.5 3.8 5.6 3.8 9s-1.3 6.5-3.8 9c-2.5-2.5-3.8-5.6-3.8-9s1.3-6.5 3.8-9z',
  exit: 'M14 4h5v16h-5M10 8l-4 4 4 4M6 12h9',
  warning: 'M12 9v4M12 17h.01M12 3.5L2.5 20h19z',
  up: 'M7 14l5-5 5 5',
  down: 'M7 10l5 5 5-5',
  sort: 'M8 10l4-4 4 4M8 14l4 4 4-4',
  plus: 'M12 5v14M5 12h14',
  left: 'M15 6l-6 6 6 6',
  right: 'M9 6l6 6-6 6',
  user: 'M12 12a4 4 0 1 0 0-8 4 4 0 0 0 0 8zM4.5 20a7.5 7.5 0 0 1 15 0',
  key: 'M8 15.5a4 4 0 1 0 0-8 4 4 0 0 0 0 8zM12 11.5h9M18 11.5v4',
  dot: 'M12 12h.01',
  layers: 'M12 3l9 5-9 5-9-5zM3 12.5l9 5 9-5M3 16.5l9 5 9-5',
  upload: 'M12 16V5M7 9.5L12 5l5 4.5M5 19h14',
  download: 'M12 5v11M7 11.5l5 4.5 5-4.5M5 20h14',
  pause: 'M9 6v12M15 6v12',
  play: 'M8 5.5l11 6.5-11 6.5z',
} as const

export type IconName = keyof typeof SHAPES

export function Icon({ name, size = 18 }: { name: IconName; size?: number }) {
  return (
    <svg
      className="icon"
      width={size}
      height={size}
      viewBox="0 0 24 24"
      fill="none"
      stroke="currentColor"
      strokeWidth="1.8"
      strokeLinecap="round"
      strokeLinejoin="round"
      aria-hidden="true"
      focusable="false"
    >
      <path d={SHAPES[name]} />
    </svg>
  )
}

export function Brand({ size = 26 }: { size?: number }) {
  return <img src={`${import.meta.env.BASE_URL}icon.svg`} alt="" width={size} height={size} />
}
